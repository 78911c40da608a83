/** The HTTP/1.1 half of the port, which also owns the listening socket. */

import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Fresh, Handlers, Problem, ServerLimits } from './server.ts';
import { reportBugs } from './server-bugs.ts';
import { parseRefusal } from './server-refusal.ts';

export type Http1 = {
  readonly server: Server;
  /** The event that hands over a connection able to carry a request. */
  readonly readyEvent: 'connection' | 'secureConnection';
  readonly take: (socket: Socket) => void;
  /** From now on every answer says that its connection closes. */
  readonly announceClose: () => void;
  readonly closeResting: () => void;
};

export type Http1Options = {
  readonly limits: ServerLimits;
  readonly handlers: Handlers;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly fresh: Fresh;
  readonly sweepMs: number;
};

/** How long a closed connection still reads, so that the client gets to see why it was closed. */
const LINGER_MS = 1_000;

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** True when an earlier request on the same connection was still unanswered. */
  readonly behind: boolean;
};

type State = Http1Options & {
  readonly server: Server;
  /** The latest exchange of each connection. */
  readonly running: Map<Socket, Exchange>;
  closing: boolean;
};

export function createHttp1(options: Http1Options): Http1 {
  const { limits, tls } = options;
  const http = httpOptions(options);
  const server: Server = tls === null ? createServer(http) : createTlsServer({ ...http, ...tlsOptions(tls, limits) });
  const state: State = { ...options, server, running: new Map(), closing: false };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, serve.bind(null, state));
  server.on('clientError', (error, socket) => refuseBroken(state, error, socket as Socket));
  server.on('timeout', (socket) => endQuiet(state, socket));
  server.timeout = limits.bodyGapTimeoutMs + 2 * options.sweepMs;
  const readyEvent = tls === null ? 'connection' : 'secureConnection';
  const [accept] = server.rawListeners(readyEvent);
  server.removeAllListeners(readyEvent);
  return {
    server,
    readyEvent,
    take(socket) {
      lingerWhenUnread(socket, state.running);
      socket.once('close', () => state.running.delete(socket));
      accept?.call(server, socket);
    },
    announceClose() {
      state.closing = true;
      for (const { response } of state.running.values()) response.shouldKeepAlive = false;
    },
    closeResting: () => server.closeIdleConnections(),
  };
}

function serve(state: State, request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  // What follows a last answer on the same connection was never promised one.
  if (socket.writableEnded || socket.destroyed) return;
  state.fresh.delete(socket);
  const before = state.running.get(socket);
  state.running.set(socket, { request, response, behind: before !== undefined && !before.response.writableFinished });
  if (state.closing) response.shouldKeepAlive = false;
  request.on('error', () => {});
  response.on('error', () => {});
  if (request.httpVersion === '1.1' && request.headers.host === undefined) {
    const { status, headers, body } = parseRefusal(state.handlers.refuse('malformed', socket));
    response.writeHead(status, { ...headers, connection: 'close' }).end(body);
  } else {
    reportBugs(
      () => state.handlers.http(request, response),
      () => socket.destroy(),
    );
  }
}

type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** What cannot be parsed, or does not come in time, is told so unless an answer is already on its way. */
function refuseBroken(state: State, error: ParserError, socket: Socket): void {
  if (socket.writableEnded) return;
  const problem = problemOf(error, state.limits.requestLineBytesMax);
  if (problem === null || socket.bytesRead === 0 || isAnswering(state.running.get(socket))) socket.destroy();
  else refuse(state, problem, socket);
}

function refuse({ handlers }: State, problem: Problem, socket: Socket): void {
  socket.write(handlers.refuse(problem, socket));
  endLingering(socket);
}

function endQuiet(state: State, socket: Socket): void {
  const { idleTimeoutMs } = state.limits;
  const verdict = judgeQuiet(socket, state.running.get(socket));
  if (verdict === 'wait') socket.setTimeout(state.server.timeout);
  else if (verdict === 'refuse') refuse(state, 'request_timeout', socket);
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

function isAnswering(exchange: Exchange | undefined): boolean {
  if (exchange === undefined) return false;
  return exchange.behind || (exchange.response.headersSent && !exchange.response.writableFinished);
}

/** What to do about a connection on which nothing moved for a while. */
function judgeQuiet(socket: Socket, exchange: Exchange | undefined): 'wait' | 'refuse' | 'stalled' | 'cut' {
  if (socket.writableLength > 0) return 'stalled';
  // At rest between requests.
  if (exchange === undefined || exchange.response.writableFinished) return 'cut';
  const { request, response, behind } = exchange;
  // The handler is at work: the client waits for us, not we for the client.
  if (request.complete || request.readableLength >= request.readableHighWaterMark) return 'wait';
  return response.headersSent || behind ? 'cut' : 'refuse';
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
function lingerWhenUnread(socket: Socket, running: ReadonlyMap<Socket, Exchange>): void {
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (running.get(socket)?.request.complete === false) endLingering(socket);
    else destroySoon();
  };
}

function endLingering(socket: Socket): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
