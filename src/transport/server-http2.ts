/** The HTTP/2 half of the port: unary gRPC takes the short path, everything else the way of HTTP/1 requests. */

import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { FairQueue } from './fair-queue.ts';
import type { CallerOf, Fresh, Handlers, ServerLimits } from './server.ts';
import { reportBugs } from './server-bugs.ts';
import { parseRefusal } from './server-refusal.ts';
import { createSessions } from './server-sessions.ts';
import { type Abuse, createSessionAbuse } from './session-abuse.ts';

export type Http2 = {
  readonly take: (socket: Socket) => void;
  /** Cuts what has overstepped a deadline. */
  readonly sweep: (nowMs: number) => void;
  /** Cuts sessions that send what is too large again and again; to be called often. */
  readonly check: () => void;
  /** Asks clients to open no more streams. */
  readonly announceClose: () => void;
  /** Closes every session as soon as its streams are done. */
  readonly closeResting: () => void;
};

export type Http2Options = {
  readonly limits: ServerLimits;
  readonly handlers: Handlers;
  readonly queue: FairQueue;
  readonly fresh: Fresh;
  readonly sweepMs: number;
  readonly callerOf: CallerOf;
  /** A session of the caller was cut for what its client did. */
  readonly onCut: (caller: string | null, abuse: Abuse) => void;
};

// Answers waiting to be sent count as well; beyond it a session gets no new streams.
const SESSION_MEMORY_MAX_MIB = 32;
const INVALID_FRAMES_MAX = 100;
const REJECTED_STREAMS_MAX = 100;
// A client that opens streams only to reset them is cut; honest ones reset a few when their caller gives up.
const RESETS_PER_SECOND = 33;
const RESETS_AT_ONCE = 500;
// HTTP/2 counts 32 bytes for every header on top of its text; this leaves room for a hundred and more.
const HEADER_OVERHEAD_BYTES = 4_096;

export function createHttp2({ limits, handlers, queue, fresh, sweepMs, callerOf, onCut }: Http2Options): Http2 {
  const { grpc } = handlers;
  const callers = new WeakMap<object, string>();
  const abuse = createSessionAbuse(onCut);
  const sessions = createSessions({ limits, slackMs: sweepMs, queue, onClosed: abuse.closed });
  const fast = createServer(http2Options(limits));
  // Never sees a connection of its own: it only turns streams into request and response objects.
  const slow = createServer();
  for (const event of ['request', 'checkContinue', 'checkExpectation']) slow.on(event, serveSlowly);

  fast.on('stream', (stream, headers, flags, rawHeaders) => {
    stream.on('error', () => {});
    if (stream.destroyed || stream.closed) return;
    if (sizeOf(rawHeaders) > headerBytesMax(limits)) {
      stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      abuse.oversized(stream);
      return;
    }
    const short = grpc.takes(headers);
    const expire = short ? grpc.expire : () => expireSlowly(stream, headers[':path'] ?? null);
    const socket = sessions.watch(stream, expire);
    if (socket) fresh.delete(socket);
    // Turned into a request at once: the end of an empty body is told only once, and must find somebody who listens.
    if (short) begin(stream, () => grpc.serve(stream, headers, rawHeaders));
    else slow.emit('stream', stream, headers, flags, rawHeaders);
  });

  fast.on('sessionError', (error, session) => abuse.failed(session, error));

  function begin(stream: ServerHttp2Stream, serve: () => void): void {
    queue.add((stream.session && callers.get(stream.session)) ?? stream.session, () => {
      if (stream.destroyed || stream.closed) return;
      reportBugs(serve, () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    });
  }

  function serveSlowly(request: Http2ServerRequest, response: Http2ServerResponse): void {
    request.on('error', () => {});
    response.on('error', () => {});
    begin(request.stream, () => handlers.http(request, response));
  }

  function expireSlowly(stream: ServerHttp2Stream, target: string | null): void {
    if (!stream.headersSent && stream.session) {
      const { status, headers, body } = parseRefusal(
        handlers.refuse({ problem: 'request_timeout', target }, stream.session.socket),
      );
      stream.respond({ ...headers, ':status': status });
      stream.end(body);
    }
    stream.close(constants.NGHTTP2_NO_ERROR);
  }

  return {
    take(socket) {
      // The listener is one of HTTP/1, which leaves its half of a connection open. Here a client that ends its half can
      // take nothing more, and must not keep what waits for it.
      if ('allowHalfOpen' in socket) socket.allowHalfOpen = false;
      fast.once('session', (session) => {
        const caller = callerOf(socket);
        if (caller !== null) callers.set(session, caller);
        sessions.add(session, socket);
        abuse.add(session, caller);
      });
      fast.emit('connection', socket);
    },
    check: abuse.check,
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

/** Node holds a client to the announced size only once the client has confirmed it, which is up to the client. */
function sizeOf(rawHeaders: readonly string[]): number {
  let bytes = 0;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}
