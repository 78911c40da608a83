/**
 * One port for everything: HTTP/1.1 and HTTP/2, told apart by the first bytes of a connection, or by ALPN where
 * there is a certificate. Every wait on a client has a deadline here, so that no client can hold the port.
 */

import { type EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { createFairQueue } from './fair-queue.ts';
import { createReadBudget } from './read-budget.ts';
import { createPenalties } from './reconnect-penalties.ts';
import { createHttp1, type Http1 } from './server-http1.ts';
import { createHttp2, type Http2 } from './server-http2.ts';
import { sniff } from './server-sniff.ts';
import type { Abuse } from './session-abuse.ts';
import { secureHandlers } from './transport-security.ts';

export type ServerLimits = {
  /** From accepting a connection to its first complete request head. */
  readonly headersTimeoutMs: number;
  /** Between two pieces of a body, and between two pieces of an answer that a client takes. */
  readonly bodyGapTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  /** How long a connection may rest between requests. */
  readonly idleTimeoutMs: number;
  readonly streamsPerConnectionMax: number;
  readonly headerBytesMax: number;
  readonly requestLineBytesMax: number;
  readonly connectionsMax: number;
  /** How long an address may not connect after a session of it was cut, the first time; 0: it may at once. */
  readonly reconnectPenaltyMs: number;
};

export type ServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly limits: ServerLimits;
  readonly meter: ConnectionMeter;
  readonly callerOf: CallerOf;
  /** Runs once the address is had. Connections that come meanwhile wait for its end. */
  readonly beforeServing?: (() => Promise<void>) | undefined;
};

/** Counts what is done about clients that misbehave. */
export type ConnectionMeter = {
  readonly sessionCut: (reason: Abuse) => void;
  readonly connectionRefused: () => void;
};

/** Whom a connection is held against; null: nobody, because it stands for many callers or is gone. */
export type CallerOf = (socket: Socket) => string | null;

export type HttpHandler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/** Why a request is refused before a handler sees it, or while its body is awaited. */
export type Problem = 'headers_too_large' | 'uri_too_long' | 'request_timeout' | 'malformed';

/** The target is that of the request line; null where nobody can tell it. */
export type RefusedEnd = { readonly problem: Problem; readonly target: string | null };

export type Handlers = {
  /**
   * Everything but the short path. `Expect: 100-continue` is left to the handler: it calls writeContinue() once it
   * wants the body.
   */
  readonly http: HttpHandler;
  readonly grpc: {
    readonly takes: (headers: IncomingHttpHeaders) => boolean;
    /** `rawHeaders` lists names and values in turn, repeated headers included. */
    readonly serve: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) => void;
    /** Answers a stream whose message did not arrive in time. */
    readonly expire: (stream: ServerHttp2Stream) => void;
  };
  /** The whole HTTP/1.1 answer, status line included. */
  readonly refuse: (end: RefusedEnd, socket: Duplex) => Buffer;
};

export type Listening = {
  /** "http://127.0.0.1:5560". */
  readonly address: string;
  readonly port: number;
  /** Takes no more connections, lets what runs finish, and cuts what is left at the deadline. */
  readonly drain: (deadlineMs: number) => Promise<void>;
};

/** Connections that have not brought a complete request head yet, with the instant they were accepted. */
export type Fresh = Map<Duplex, number>;

/** How long an HTTP/2 client can go on before it is noticed that what it sends is refused. */
const CHECK_MS = 100;
/** What is read only to be thrown away, and how often: 32 MiB in a second. */
const DISCARDED_BYTES = 128 * 1024;
const DISCARD_EVERY_MS = 4;
const SWEEP_MS_MAX = 1_000;
const SWEEP_MS_MIN = 20;
/** How long a draining server leaves resting connections open, so that a request on its way is still answered. */
const DRAIN_GRACE_MS = 1_000;

/** Listens, and rejects when the address cannot be had, or when what runs before serving does. */
export async function listen(options: ServerOptions, given: Handlers): Promise<Listening> {
  const { host, port, tls, limits, meter, callerOf, beforeServing } = options;
  const handlers = tls === null ? given : secureHandlers(given);
  const sweepMs = sweepInterval(limits);
  const sockets = new Set<Socket>();
  const fresh: Fresh = new Map();
  const queue = createFairQueue(() => performance.now());
  const discarding = createReadBudget({
    bytesPerTurn: DISCARDED_BYTES,
    awaitTurn: (begin) => setTimeout(begin, DISCARD_EVERY_MS).unref(),
  });
  const http1 = createHttp1({ limits, handlers, queue, callerOf, tls, fresh, sweepMs, discarding });
  const penalties = createPenalties({ firstMs: limits.reconnectPenaltyMs, monotonicMs: () => performance.now() });
  const onCut = (caller: string | null, abuse: Abuse) => {
    meter.sessionCut(abuse);
    if (caller !== null) penalties.punish(caller);
  };
  const http2 = createHttp2({ limits, handlers, queue, fresh, sweepMs, callerOf, onCut });
  const { server } = http1;
  server.maxConnections = limits.connectionsMax;
  const refusePunished = (socket: Socket): boolean => {
    const caller = callerOf(socket);
    if (caller === null || !penalties.holds(caller)) return false;
    meter.connectionRefused();
    ignoreErrors(socket).destroy();
    return true;
  };
  // What a client has sent ahead is unpacked as soon as its session begins, so sessions begin in turns; the caller may
  // have been punished by then.
  const takeHttp2 = (socket: Socket): void =>
    queue.add(callerOf(socket) ?? socket, () => {
      if (!socket.destroyed && !refusePunished(socket)) http2.take(socket);
    });
  server.on('connection', (socket: Socket) => {
    if (refusePunished(socket)) return;
    sockets.add(socket);
    ignoreErrors(socket).once('close', () => sockets.delete(socket));
  });
  const held = holdConnections((socket) => {
    if (socket.destroyed) return;
    fresh.set(socket, performance.now());
    socket.once('close', () => fresh.delete(socket));
    if (!(socket instanceof TLSSocket)) sniff(socket, { http1: http1.take, http2: takeHttp2 });
    else if (socket.alpnProtocol === 'h2') takeHttp2(socket);
    else http1.take(socket);
  });
  server.on(http1.readyEvent, (socket: Socket) => held.take(ignoreErrors(socket)));
  server.listen(port, host);
  await once(server, 'listening');
  // Later errors are failed accepts, for want of descriptors mostly: the next one may succeed.
  ignoreErrors(server);
  const sweep = setInterval(() => {
    const nowMs = performance.now();
    cutFresh(fresh, nowMs - limits.headersTimeoutMs - 2 * sweepMs);
    http2.sweep(nowMs);
  }, sweepMs).unref();
  const check = setInterval(http2.check, CHECK_MS).unref();

  let drained: Promise<void> | null = null;
  const listening: Listening = {
    ...addressOf(server, tls === null ? 'http' : 'https'),
    drain(deadlineMs) {
      drained ??= drain({ http1, http2, sockets, fresh }, deadlineMs).finally(() => {
        clearInterval(sweep);
        clearInterval(check);
      });
      return drained;
    },
  };
  try {
    await beforeServing?.();
  } catch (error) {
    await listening.drain(0);
    throw error;
  }
  held.release();
  return listening;
}

/** Keeps connections from `take` until they are released. */
function holdConnections(take: (socket: Socket) => void) {
  let waiting: Socket[] | null = [];
  return {
    take(socket: Socket): void {
      if (waiting === null) take(socket);
      else waiting.push(socket);
    },
    release(): void {
      const released = waiting ?? [];
      waiting = null;
      for (const socket of released) take(socket);
    },
  };
}

/** Short limits, as tests have them, need a faster sweep to mean anything. */
function sweepInterval({ headersTimeoutMs, bodyGapTimeoutMs, idleTimeoutMs }: ServerLimits): number {
  const shortestMs = Math.min(headersTimeoutMs, bodyGapTimeoutMs, idleTimeoutMs);
  return Math.max(SWEEP_MS_MIN, Math.min(SWEEP_MS_MAX, shortestMs / 4));
}

/** A connection may break at any time; whoever waits on it learns that from its close. */
function ignoreErrors<T extends EventEmitter>(emitter: T): T {
  return emitter.on('error', () => {});
}

/** The backstop for connections that no protocol's own timer sees: those that say nothing, or not enough to tell. */
function cutFresh(fresh: Fresh, acceptedBeforeMs: number): void {
  for (const [socket, acceptedAtMs] of fresh) {
    if (acceptedAtMs < acceptedBeforeMs) socket.destroy();
  }
}

type Parts = {
  readonly http1: Http1;
  readonly http2: Http2;
  readonly sockets: ReadonlySet<Socket>;
  readonly fresh: Fresh;
};

async function drain({ http1, http2, sockets, fresh }: Parts, deadlineMs: number): Promise<void> {
  // The close of http.Server would reset resting connections at once; this one only stops listening.
  const closed = new Promise((resolve) => NetServer.prototype.close.call(http1.server, resolve));
  http1.announceClose();
  http2.announceClose();
  const cut = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, deadlineMs);
  const closeResting = setInterval(
    () => {
      for (const socket of fresh.keys()) socket.destroy();
      http1.closeResting();
      http2.closeResting();
    },
    Math.min(DRAIN_GRACE_MS, deadlineMs / 2),
  );
  await closed;
  clearTimeout(cut);
  clearInterval(closeResting);
  // Stops the timer that http.Server keeps for its own timeouts.
  http1.server.close();
}

function addressOf(server: NetServer, scheme: string): { readonly address: string; readonly port: number } {
  const { address, family, port } = server.address() as AddressInfo;
  return { address: `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`, port };
}
