/** The HTTP/1.1 half of the port, which also owns the listening socket. */

import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { ReadBudget } from './read-budget.ts';
import { findHead, readFirstText } from './request-head.ts';
import { reportBugs } from './server-bugs.ts';
import type {
  HalfOptions,
  Problem,
  Refusal,
  RefusedRequest,
  RequestHead,
  ServerLimits,
  TlsTexts,
} from './server-options.ts';

export type Http1 = {
  readonly server: Server;
  /** The event of a connection that is ready for requests: after the TLS handshake, if there is one. */
  readonly readyEvent: 'connection' | 'secureConnection';
  /** `seen` are the bytes of the connection that were read to detect its protocol. */
  readonly accept: (socket: Socket, seen?: Buffer) => void;
  /** From now on every response has `connection: close`. */
  readonly announceClose: () => void;
  readonly closeIdle: () => void;
  /** Uses another certificate for connections from now on; open ones keep theirs. */
  readonly renewTls: (tls: TlsTexts) => void;
};

type Http1Options = HalfOptions & {
  readonly tls: TlsTexts | null;
  /** The budget for bytes that are read only to be discarded. */
  readonly discarding: ReadBudget;
};

/** How long a closed connection still reads, so that the client receives the response that says why. */
const LINGER_MS = 1_000;

/** Pipelined requests that may wait on a connection. With more, the response to the last one closes the connection. */
const PIPELINED_MAX = 128;

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** The exchanges of one connection: one is served at a time, so that pipelined requests accumulate no responses. */
type Pipeline = {
  /** The caller in the fair queue. */
  readonly caller: unknown;
  serving: Exchange;
  readonly waiting: Exchange[];
};

type State = Http1Options & {
  readonly server: Server;
  /** By connection, once it has sent a request. */
  readonly pipelines: Map<Socket, Pipeline>;
  /** The first bytes of connections that have not sent a complete request head yet. */
  readonly firstTexts: Map<Socket, string>;
  closing: boolean;
};

export function createHttp1(options: Http1Options): Http1 {
  const { limits, tls } = options;
  const http = httpOptions(options);
  const server: Server = tls === null ? createServer(http) : createTlsServer({ ...http, ...tlsOptions(tls, limits) });
  const state: State = { ...options, server, pipelines: new Map(), firstTexts: new Map(), closing: false };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => receive(state, { request, response }));
  }
  server.on('clientError', (error, socket) => refuseBroken(state, error, socket as Socket));
  server.on('timeout', (socket) => endIdle(state, socket));
  server.timeout = limits.bodyGapTimeoutMs + 2 * options.deadlineCheckMs;
  const readyEvent = tls === null ? 'connection' : 'secureConnection';
  const [accept] = server.rawListeners(readyEvent);
  server.removeAllListeners(readyEvent);
  return {
    server,
    readyEvent,
    accept(socket, seen) {
      lingerWhenUnread(state, socket);
      if (seen) state.firstTexts.set(socket, readFirstText(seen));
      socket.once('close', () => {
        state.pipelines.delete(socket);
        state.firstTexts.delete(socket);
      });
      accept?.call(server, socket);
    },
    announceClose() {
      state.closing = true;
      for (const pipeline of state.pipelines.values()) endAfterWaiting(pipeline);
    },
    closeIdle: () => server.closeIdleConnections(),
    renewTls(renewed) {
      if (server instanceof TlsServer) server.setSecureContext(renewed);
    },
  };
}

function receive(state: State, exchange: Exchange): void {
  const { request, response } = exchange;
  const { socket } = request;
  // Requests behind a response with `connection: close` get no response.
  if (socket.writableEnded || socket.destroyed) return;
  state.newConnections.delete(socket);
  state.firstTexts.delete(socket);
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
    // Stops reading; bytes that were read already may hold further requests.
    socket.pause();
    if (pipeline.waiting.length === 1) serveNextAfter(state, pipeline);
  } else {
    endAfterWaiting(pipeline);
  }
}

/** Serves the next waiting exchange when the current one has ended. */
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

/** Closes the connection after the last waiting request; the client sees by the close that later ones were not served. */
function endAfterWaiting({ serving, waiting }: Pipeline): void {
  (waiting.at(-1) ?? serving).response.shouldKeepAlive = false;
}

function serve(state: State, pipeline: Pipeline): void {
  const { request, response } = pipeline.serving;
  const { socket } = request;
  if (state.closing) endAfterWaiting(pipeline);
  if (request.httpVersion === '1.1' && request.headers.host === undefined) {
    const { status, headers, body } = state.handlers.refuse({ problem: 'malformed', ...headOf(request) }, socket);
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

/** Refuses a request that cannot be parsed, or is late, unless a response is already being sent. */
function refuseBroken(state: State, error: ParserError, socket: Socket): void {
  if (socket.writableEnded) return;
  const problem = problemOf(error, state.limits.requestLineBytesMax);
  if (problem === null || socket.bytesRead === 0 || isAnswering(state.pipelines.get(socket))) socket.destroy();
  else refuse(state, { problem, ...findHeadOf(state, error, socket) }, socket);
}

const UNKNOWN_HEAD: RequestHead = { target: null, headers: {} };

/** Of the request that cannot be parsed; unknown as when a later request head of a connection arrives in several packets. */
function findHeadOf({ pipelines, firstTexts }: State, { rawPacket, bytesParsed }: ParserError, socket: Socket) {
  const request = pipelines.get(socket)?.serving.request;
  if (request?.complete === false) return headOf(request);
  const inPacket = findHead(rawPacket?.toString('latin1') ?? '', bytesParsed);
  return inPacket ?? findHead(firstTexts.get(socket) ?? '') ?? UNKNOWN_HEAD;
}

function headOf({ url, headers }: IncomingMessage): RequestHead {
  return { target: url ?? null, headers };
}

function refuse({ handlers, discarding }: State, end: RefusedRequest, socket: Socket): void {
  socket.write(textOf(handlers.refuse(end, socket)));
  endLingering(socket, discarding);
}

/** The whole response, where there is no response object to write it. */
function textOf({ status, headers, body }: Refusal): string {
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}

function endIdle(state: State, socket: Socket): void {
  const { idleTimeoutMs } = state.limits;
  const verdict = judgeIdle(socket, state.pipelines.get(socket));
  if (verdict === 'wait') socket.setTimeout(state.server.timeout);
  else if (verdict === 'refuse') {
    const request = state.pipelines.get(socket)?.serving.request;
    refuse(state, { problem: 'request_timeout', ...(request ? headOf(request) : UNKNOWN_HEAD) }, socket);
  }
  // Kernels report a slow client's progress in large steps, so a response gets more time than a request.
  else if (verdict === 'stalled' && (socket.timeout ?? 0) < idleTimeoutMs) socket.setTimeout(idleTimeoutMs);
  else socket.destroy();
}

/** Node's timers cut slow heads and slow bodies; the slack lets the deadlines of the handlers end first. */
function httpOptions({ limits, deadlineCheckMs }: Http1Options): ServerOptions {
  return {
    maxHeaderSize: limits.requestLineBytesMax + limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: (limits.longBodyTimeoutMs ?? limits.bodyTimeoutMs) + 2 * deadlineCheckMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: deadlineCheckMs,
    // Checked in `serve` instead, whose refusal has an error body.
    requireHostHeader: false,
  };
}

function tlsOptions(tls: TlsTexts, { headersTimeoutMs }: ServerLimits) {
  return { ...tls, ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: headersTimeoutMs / 2 };
}

function isIdle({ serving: { response }, waiting }: Pipeline): boolean {
  // Not `writableFinished`: requests behind a last response must find the connection ended.
  return waiting.length === 0 && response.destroyed;
}

function isAnswering(pipeline: Pipeline | undefined): boolean {
  if (pipeline === undefined) return false;
  const { serving, waiting } = pipeline;
  return waiting.length > 0 || (serving.response.headersSent && !serving.response.writableFinished);
}

/** What to do about a connection without traffic for a while. */
function judgeIdle(socket: Socket, pipeline: Pipeline | undefined): 'wait' | 'refuse' | 'stalled' | 'cut' {
  if (socket.writableLength > 0) return 'stalled';
  // Idle between requests.
  if (pipeline === undefined || isIdle(pipeline)) return 'cut';
  const { request, response } = pipeline.serving;
  // The handler is still working, so the client is not late.
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
 * Closing a connection with unread bytes makes the kernel reset it, and the reset may overtake the response. So a
 * connection whose request was refused before it was read whole keeps reading for a moment after its end was sent.
 */
function lingerWhenUnread({ pipelines, discarding }: State, socket: Socket): void {
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (pipelines.get(socket)?.serving.request.complete === false) endLingering(socket, discarding);
    else destroySoon();
  };
}

/** Ends the connection, and discards what still arrives without parsing it. */
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
