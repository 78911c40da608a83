/** The HTTP/2 half of the port: unary gRPC takes the short path, other requests are handled like HTTP/1.1 ones. */

import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2';
import type { Socket } from 'node:net';
import { endWithHeaders } from './grpc.ts';
import { reportBugs } from './server-bugs.ts';
import type { HalfOptions, ServerLimits } from './server-options.ts';
import { createSessions } from './server-sessions.ts';
import { type Abuse, createSessionAbuse } from './session-abuse.ts';

export type Http2 = {
  readonly accept: (socket: Socket) => void;
  /** Cuts streams and sessions that have exceeded a deadline. */
  readonly checkDeadlines: (nowMs: number) => void;
  /** Cuts sessions that repeatedly send header lists that are too large; to be called often. */
  readonly checkAbuse: () => void;
  /** Tells clients, with a GOAWAY frame, to open no more streams. */
  readonly announceClose: () => void;
  /** Closes every session as soon as its streams have ended. */
  readonly closeIdle: () => void;
};

type Http2Options = HalfOptions & {
  /** Called when a session was cut for abuse. */
  readonly onCut: (caller: string | null, abuse: Abuse) => void;
};

// Responses waiting to be sent count as well; beyond it a session gets no new streams.
const SESSION_MEMORY_MAX_MIB = 32;
const INVALID_FRAMES_MAX = 100;
const REJECTED_STREAMS_MAX = 100;
// A client that opens streams only to reset them is cut; honest clients reset a few, when a call is cancelled.
const RESETS_PER_SECOND = 33;
const RESETS_AT_ONCE = 500;
// HTTP/2 counts 32 bytes for every header on top of its text; this leaves room for a hundred and more.
const HEADER_OVERHEAD_BYTES = 4_096;

export function createHttp2({
  limits,
  handlers,
  queue,
  newConnections,
  deadlineCheckMs,
  callerOf,
  onCut,
}: Http2Options): Http2 {
  const { grpc } = handlers;
  const callers = new WeakMap<object, string>();
  const abuse = createSessionAbuse(onCut);
  const sessions = createSessions({ limits, slackMs: deadlineCheckMs, queue, onClosed: abuse.closed });
  const server = createServer(http2Options(limits));
  // Accepts no connections: it only provides the request and response objects of Node's compatibility API for streams.
  const compatibilityServer = createServer();
  for (const event of ['request', 'checkContinue', 'checkExpectation']) compatibilityServer.on(event, serveRequest);

  server.on('stream', (stream, headers, flags, rawHeaders) => {
    stream.on('error', () => {});
    if (stream.destroyed || stream.closed) return;
    if (sizeOf(rawHeaders) > headerBytesMax(limits)) {
      stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      abuse.oversized(stream);
      return;
    }
    const short = grpc.accepts(headers);
    const expire = short ? grpc.expire : () => expireRequest(stream, headers);
    const socket = sessions.watch(stream, { onLate: expire, mayBeLong: !short });
    if (socket) newConnections.delete(socket);
    // Emitted at once and not queued: the end of an empty body is emitted only once, and needs a listener by then.
    if (short) begin(stream, () => grpc.serve(stream, headers, rawHeaders));
    else compatibilityServer.emit('stream', stream, headers, flags, rawHeaders);
  });

  server.on('sessionError', (error, session) => abuse.failed(session, error));

  function begin(stream: ServerHttp2Stream, serve: () => void): void {
    queue.add((stream.session && callers.get(stream.session)) ?? stream.session, () => {
      if (stream.destroyed || stream.closed) return;
      reportBugs(serve, () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    });
  }

  function serveRequest(request: Http2ServerRequest, response: Http2ServerResponse): void {
    request.on('error', () => {});
    response.on('error', () => {});
    begin(request.stream, () => handlers.http(request, response));
  }

  function expireRequest(stream: ServerHttp2Stream, sent: IncomingHttpHeaders): void {
    if (stream.headersSent || !stream.session) {
      stream.close(constants.NGHTTP2_CANCEL);
      return;
    }
    const late = { problem: 'request_timeout', target: sent[':path'] ?? null, headers: sent } as const;
    const { status, headers, body } = handlers.refuse(late, stream.session.socket);
    if (body === '') {
      endWithHeaders(stream, { ...headers, ':status': status });
      return;
    }
    stream.respond({ ...headers, ':status': status });
    // Not closed before its body is sent: a stream that is closing is destroyed without a reset, and nghttp2 then sends
    // empty frames without end, and fills the memory with them, once the client gives the stream credit.
    stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
    stream.end(body);
  }

  return {
    accept(socket) {
      // The listening HTTP/1.1 server allows half-open connections. An HTTP/2 client that ends its half can receive nothing
      // more, and must not keep its pending responses in memory.
      if ('allowHalfOpen' in socket) socket.allowHalfOpen = false;
      server.once('session', (session) => {
        const caller = callerOf(socket);
        if (caller !== null) callers.set(session, caller);
        sessions.add(session, socket);
        abuse.add(session, caller);
      });
      server.emit('connection', socket);
    },
    checkAbuse: abuse.check,
    ...sessions,
  };
}

function http2Options(limits: ServerLimits): ServerOptions {
  return {
    settings: {
      maxConcurrentStreams: limits.streamsPerConnectionMax,
      maxHeaderListSize: headerBytesMax(limits),
    },
    maxSessionMemory: SESSION_MEMORY_MAX_MIB,
    maxSessionInvalidFrames: INVALID_FRAMES_MAX,
    maxSessionRejectedStreams: REJECTED_STREAMS_MAX,
    streamResetRate: RESETS_PER_SECOND,
    streamResetBurst: RESETS_AT_ONCE,
  };
}

function headerBytesMax(limits: ServerLimits): number {
  return limits.requestLineBytesMax + limits.headerBytesMax + HEADER_OVERHEAD_BYTES;
}

/** Node enforces the announced size only once the client has acknowledged the settings, which a client may never do. */
function sizeOf(rawHeaders: readonly string[]): number {
  let bytes = 0;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}
