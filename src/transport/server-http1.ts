/** The HTTP/1.1 half of the port, which also owns the listening socket. */

import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { FairQueue } from './fair-queue.ts';
import type { ReadBudget } from './read-budget.ts';
import { findTarget, openingOf } from './request-target.ts';
import type { CallerOf, Fresh, Handlers, Problem, RefusedEnd, ServerLimits } from './server.ts';
import { reportBugs } from './server-bugs.ts';
import { parseRefusal } from './server-refusal.ts';

export type Http1 = {
  readonly server: Server;
  /** The event that hands over a connection able to carry a request. */
  readonly readyEvent: 'connection' | 'secureConnection';
  /** `seen` is what the connection has brought so far, where that was looked at. */
  readonly take: (socket: Socket, seen?: Buffer) => void;
  /** From now on every answer says that its connection closes. */
  readonly announceClose: () => void;
  readonly closeResting: () => void;
};

export type Http1Options = {
  readonly limits: ServerLimits;
  readonly handlers: Handlers;
  readonly queue: FairQueue;
  readonly callerOf: CallerOf;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly fresh: Fresh;
  readonly sweepMs: number;
  /** Of what nobody wants any more. */
  readonly discarding: ReadBudget;
};

/** How long a closed connection still reads, so that the client gets to see why it was closed. */
const LINGER_MS = 1_000;

/** Requests sent ahead that a connection may have waiting. The answer to the last of them says that it closes. */
const PIPELINED_MAX = 128;

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** The exchanges of one connection: one is served at a time, so that requests sent ahead pile up no answers. */
type Pipeline = {
  /** Whose turn it is when its requests are served. */
  readonly caller: unknown;
  serving: Exchange;
  readonly waiting: Exchange[];
};

type State = Http1Options & {
  readonly server: Server;
  /** Of every connection that has brought a request. */
  readonly pipelines: Map<Socket, Pipeline>;
  /** How connections began that have not brought a request yet. */
  readonly openings: Map<Socket, string>;
  closing: boolean;
};

export function createHttp1(options: Http1Options): Http1 {
  const { limits, tls } = options;
  const http = httpOptions(options);
  const server: Server = tls === null ? createServer(http) : createTlsServer({ ...http, ...tlsOptions(tls, limits) });
  const state: State = { ...options, server, pipelines: new Map(), openings: new Map(), closing: false };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => receive(state, { request, response }));
  }
  server.on('clientError', (error, socket) => refuseBroken(state, error, socket as Socket));
  server.on('timeout', (socket) => endQuiet(state, socket));
  server.timeout = limits.bodyGapTimeoutMs + 2 * options.sweepMs;
  const readyEvent = tls === null ? 'connection' : 'secureConnection';
  const [accept] = server.rawListeners(readyEvent);
  server.removeAllListeners(readyEvent);
  return {
    server,
    readyEvent,
    take(socket, seen) {
      lingerWhenUnread(state, socket);
      if (seen) state.openings.set(socket, openingOf(seen));
      socket.once('close', () => {
        state.pipelines.delete(socket);
        state.openings.delete(socket);
      });
      accept?.call(server, socket);
    },
    announceClose() {
      state.closing = true;
      for (const pipeline of state.pipelines.values()) endAfterWaiting(pipeline);
    },
    closeResting: () => server.closeIdleConnections(),
  };
}

function receive(state: State, exchange: Exchange): void {
  const { request, response } = exchange;
  const { socket } = request;
  // What follows a last answer on the same connection was never promised one.
  if (socket.writableEnded || socket.destroyed) return;
  state.fresh.delete(socket);
  state.openings.delete(socket);
  request.on('error', () => {});
  response.on('error', () => {});
  const pipeline = state.pipelines.get(socket);
  if (!pipeline) {
    const first: Pipeline = { caller: state.callerOf(socket) ?? socket, serving: exchange, waiting: [] };
    state.pipelines.set(socket, first);
    serve(state, first);
  } else if (isIdle(pipeline)) {
    pipeline.serving = exchange;
    serve(state, pipeline);
  } else if (pipeline.waiting.length < PIPELINED_MAX) {
    pipeline.waiting.push(exchange);
    // Nothing more is read meanwhile; what was read already may hold further requests.
    socket.pause();
    if (pipeline.waiting.length === 1) serveNextAfter(state, pipeline);
  } else {
    endAfterWaiting(pipeline);
  }
}

/** Serves what waits behind the exchange that is being served. */
function serveNextAfter(state: State, pipeline: Pipeline): void {
  pipeline.serving.response.once('close', () => {
    const next = pipeline.waiting.shift();
    const socket = next?.request.socket;
    if (!next || !socket || socket.destroyed || socket.writableEnded) return;
    pipeline.serving = next;
    if (pipeline.waiting.length > 0) serveNextAfter(state, pipeline);
    else socket.resume();
    serve(state, pipeline);
  });
}

/** Whatever is sent behind the last request that waits stays unanswered, and its client is told so by the close. */
function endAfterWaiting({ serving, waiting }: Pipeline): void {
  (waiting.at(-1) ?? serving).response.shouldKeepAlive = false;
}

function serve(state: State, pipeline: Pipeline): void {
  const { request, response } = pipeline.serving;
  const { socket } = request;
  if (state.closing) endAfterWaiting(pipeline);
  if (request.httpVersion === '1.1' && request.headers.host === undefined) {
    const { status, headers, body } = parseRefusal(
      state.handlers.refuse({ problem: 'malformed', target: request.url ?? null }, socket),
    );
    response.writeHead(status, { ...headers, connection: 'close' }).end(body);
  } else {
    state.queue.add(pipeline.caller, () => {
      if (response.destroyed) return;
      reportBugs(
        () => state.handlers.http(request, response),
        () => socket.destroy(),
      );
    });
  }
}

type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer; readonly bytesParsed?: number };

/** What cannot be parsed, or does not come in time, is told so unless an answer is already on its way. */
function refuseBroken(state: State, error: ParserError, socket: Socket): void {
  if (socket.writableEnded) return;
  const problem = problemOf(error, state.limits.requestLineBytesMax);
  if (problem === null || socket.bytesRead === 0 || isAnswering(state.pipelines.get(socket))) socket.destroy();
  else refuse(state, { problem, target: targetOf(state, error, socket) }, socket);
}

/**
 * The target of the request that cannot be parsed. A part of a head that follows on others, on a connection that has
 * served requests before, does not tell.
 */
function targetOf({ pipelines, openings }: State, { rawPacket, bytesParsed }: ParserError, socket: Socket) {
  const request = pipelines.get(socket)?.serving.request;
  if (request?.complete === false) return request.url ?? null;
  return findTarget(rawPacket?.toString('latin1', 0, bytesParsed) ?? '') ?? findTarget(openings.get(socket) ?? '');
}

function refuse({ handlers, discarding }: State, end: RefusedEnd, socket: Socket): void {
  socket.write(handlers.refuse(end, socket));
  endLingering(socket, discarding);
}

function endQuiet(state: State, socket: Socket): void {
  const { idleTimeoutMs } = state.limits;
  const verdict = judgeQuiet(socket, state.pipelines.get(socket));
  if (verdict === 'wait') socket.setTimeout(state.server.timeout);
  else if (verdict === 'refuse') {
    const target = state.pipelines.get(socket)?.serving.request.url ?? null;
    refuse(state, { problem: 'request_timeout', target }, socket);
  }
  // Kernels pass on a slow client's progress in large steps, so an answer is given more time than a request.
  else if (verdict === 'stalled' && (socket.timeout ?? 0) < idleTimeoutMs) socket.setTimeout(idleTimeoutMs);
  else socket.destroy();
}

/** Node's own timers cut slow heads and slow bodies; the slack leaves the first word to the handlers' own. */
function httpOptions({ limits, sweepMs }: Http1Options): ServerOptions {
  return {
    maxHeaderSize: limits.requestLineBytesMax + limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.bodyTimeoutMs + 2 * sweepMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: sweepMs,
    // Answered here instead, with a body that says what is wrong.
    requireHostHeader: false,
  };
}

function tlsOptions(tls: { readonly cert: string; readonly key: string }, { headersTimeoutMs }: ServerLimits) {
  return { ...tls, ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: headersTimeoutMs / 2 };
}

function isIdle({ serving: { response }, waiting }: Pipeline): boolean {
  // Not at its finish: what follows a last answer must find the connection ended.
  return waiting.length === 0 && response.destroyed;
}

function isAnswering(pipeline: Pipeline | undefined): boolean {
  if (pipeline === undefined) return false;
  const { serving, waiting } = pipeline;
  return waiting.length > 0 || (serving.response.headersSent && !serving.response.writableFinished);
}

/** What to do about a connection on which nothing moved for a while. */
function judgeQuiet(socket: Socket, pipeline: Pipeline | undefined): 'wait' | 'refuse' | 'stalled' | 'cut' {
  if (socket.writableLength > 0) return 'stalled';
  // At rest between requests.
  if (pipeline === undefined || isIdle(pipeline)) return 'cut';
  const { request, response } = pipeline.serving;
  // The handler is at work: the client waits for us, not we for the client.
  if (request.complete || request.readableLength >= request.readableHighWaterMark) return 'wait';
  return response.headersSent ? 'cut' : 'refuse';
}

function problemOf(error: ParserError, requestLineBytesMax: number): Problem | null {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const start = error.rawPacket?.toString('latin1', 0, requestLineBytesMax) ?? '';
    return start.length === requestLineBytesMax && /^[A-Z]+ [^\r\n]+$/.test(start)
      ? 'uri_too_long'
      : 'headers_too_large';
  }
  return error.code?.startsWith('HPE_') ? 'malformed' : null;
}

/**
 * Closing a connection with unread bytes makes the kernel reset it, and the reset may overtake the answer. So a
 * connection whose request was refused half read goes on reading for a moment after its end was sent.
 */
function lingerWhenUnread({ pipelines, discarding }: State, socket: Socket): void {
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (pipelines.get(socket)?.serving.request.complete === false) endLingering(socket, discarding);
    else destroySoon();
  };
}

/** What still comes belongs to no request: it is taken from the parser, and thrown away. */
function endLingering(socket: Socket, discarding: ReadBudget): void {
  socket.end();
  const goOn = () => socket.resume();
  socket.removeAllListeners('data').on('data', (chunk: Buffer) => {
    if (!discarding.spend(chunk.length, socket.bytesRead, goOn)) socket.pause();
  });
  goOn();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
