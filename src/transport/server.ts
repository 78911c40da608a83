/**
 * One port for everything: HTTP/1.1 and HTTP/2, detected by the first bytes of a connection, or by ALPN with TLS. Every
 * wait for a client has a deadline here, so that slow clients cannot use up the connections of the port.
 */

import { type EventEmitter, once } from 'node:events';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { createFairQueue } from './fair-queue.ts';
import { createReadBudget } from './read-budget.ts';
import { createPenalties } from './reconnect-penalties.ts';
import { createHttp1, type Http1 } from './server-http1.ts';
import { createHttp2, type Http2 } from './server-http2.ts';
import type { Handlers, NewConnections, ServerLimits, ServerOptions } from './server-options.ts';
import type { Abuse } from './session-abuse.ts';
import { secureHandlers } from './transport-security.ts';

export type Listening = {
  /** "http://127.0.0.1:5560". */
  readonly address: string;
  readonly port: number;
  /** Accepts no more connections, lets running requests finish, and cuts the rest at the deadline. */
  readonly drain: (deadlineMs: number) => Promise<void>;
  /** Uses another certificate for connections from now on. */
  readonly renewTls: Http1['renewTls'];
};

/** How often sessions are checked for header lists that were refused. */
const ABUSE_CHECK_MS = 100;
/** Bytes discarded per interval, and the interval: 32 MiB in a second. */
const DISCARDED_BYTES = 128 * 1024;
const DISCARD_EVERY_MS = 4;
const DEADLINE_CHECK_MS_MAX = 1_000;
const DEADLINE_CHECK_MS_MIN = 20;
/** How long a draining server keeps idle connections open, so that requests already in transit are still served. */
const DRAIN_GRACE_MS = 1_000;

/** Listens. Rejects when the address cannot be bound, or when `beforeServing` rejects. */
export async function listen(options: ServerOptions, given: Handlers): Promise<Listening> {
  const { host, port, tls, limits, meter, callerOf, beforeServing } = options;
  const handlers = tls === null ? given : secureHandlers(given);
  const deadlineCheckMs = chooseDeadlineCheckMs(limits);
  const sockets = new Set<Socket>();
  const newConnections: NewConnections = new Map();
  const queue = createFairQueue(() => performance.now());
  const discarding = createReadBudget({
    bytesPerTurn: DISCARDED_BYTES,
    awaitTurn: (begin) => setTimeout(begin, DISCARD_EVERY_MS).unref(),
  });
  const http1 = createHttp1({ limits, handlers, queue, callerOf, tls, newConnections, deadlineCheckMs, discarding });
  const penalties = createPenalties({ firstMs: limits.reconnectPenaltyMs, monotonicMs: () => performance.now() });
  const onCut = (caller: string | null, abuse: Abuse) => {
    meter.sessionCut(abuse);
    if (caller !== null) penalties.penalize(caller);
  };
  const http2 = createHttp2({ limits, handlers, queue, newConnections, deadlineCheckMs, callerOf, onCut });
  const { server } = http1;
  server.maxConnections = limits.connectionsMax;
  const refusePenalized = (socket: Socket): boolean => {
    const caller = callerOf(socket);
    if (caller === null || !penalties.isBlocked(caller)) return false;
    meter.connectionRefused();
    ignoreErrors(socket).destroy();
    return true;
  };
  // A session parses all received bytes as soon as it starts, so sessions start through the queue. Their caller may have
  // been penalized by then.
  const acceptHttp2 = (socket: Socket): void =>
    queue.add(callerOf(socket) ?? socket, () => {
      if (!socket.destroyed && !refusePenalized(socket)) http2.accept(socket);
    });
  server.on('connection', (socket: Socket) => {
    if (refusePenalized(socket)) return;
    sockets.add(socket);
    ignoreErrors(socket).once('close', () => sockets.delete(socket));
  });
  const held = holdConnections((socket) => {
    if (socket.destroyed) return;
    newConnections.set(socket, performance.now());
    socket.once('close', () => newConnections.delete(socket));
    if (!(socket instanceof TLSSocket)) sniff(socket, { http1: http1.accept, http2: acceptHttp2 });
    else if (socket.alpnProtocol === 'h2') acceptHttp2(socket);
    else http1.accept(socket);
  });
  server.on(http1.readyEvent, (socket: Socket) => held.take(ignoreErrors(socket)));
  server.listen(port, host);
  await once(server, 'listening');
  // Later errors are failed accepts, mostly for lack of file descriptors: the next accept may succeed.
  ignoreErrors(server);
  const deadlineCheck = setInterval(() => {
    const nowMs = performance.now();
    cutSilentConnections(newConnections, nowMs - limits.headersTimeoutMs - 2 * deadlineCheckMs);
    http2.checkDeadlines(nowMs);
  }, deadlineCheckMs).unref();
  const abuseCheck = setInterval(http2.checkAbuse, ABUSE_CHECK_MS).unref();

  let drained: Promise<void> | null = null;
  const listening: Listening = {
    ...addressOf(server, tls === null ? 'http' : 'https'),
    renewTls: http1.renewTls,
    drain(deadlineMs) {
      drained ??= drain({ http1, http2, sockets, newConnections }, deadlineMs).finally(() => {
        clearInterval(deadlineCheck);
        clearInterval(abuseCheck);
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

/** Queues connections until `release`, then passes each to `take`. */
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

// How every HTTP/2 connection begins; no HTTP/1 method starts with these letters.
const PREFACE = Buffer.from('PRI * HTTP/2.0');
const ENOUGH_BYTES = 4;
const EMPTY = Buffer.alloc(0);

type ProtocolHandlers = {
  readonly http1: (socket: Socket, seen: Buffer) => void;
  readonly http2: (socket: Socket) => void;
};

/** Calls the handler of the protocol once the first bytes have arrived, and puts those bytes back. */
function sniff(socket: Socket, { http1, http2 }: ProtocolHandlers): void {
  let seen: Buffer = EMPTY;
  const onEnd = () => socket.destroy();
  const onData = (chunk: Buffer) => {
    seen = seen === EMPTY ? chunk : Buffer.concat([seen, chunk]);
    const verdict = protocolOf(seen);
    if (verdict === 'unclear') return;
    socket.off('data', onData).off('end', onEnd);
    socket.pause();
    socket.unshift(seen);
    if (verdict === 'http2') {
      http2(socket);
    } else {
      http1(socket, seen);
      socket.resume();
    }
  };
  socket.on('data', onData).on('end', onEnd);
}

function protocolOf(seen: Buffer): 'http1' | 'http2' | 'unclear' {
  const length = Math.min(seen.length, ENOUGH_BYTES);
  if (PREFACE.compare(seen, 0, length, 0, length) !== 0) return 'http1';
  return length === ENOUGH_BYTES ? 'http2' : 'unclear';
}

/** Short limits, as in tests, need a shorter interval to be enforced. */
function chooseDeadlineCheckMs({ headersTimeoutMs, bodyGapTimeoutMs, idleTimeoutMs }: ServerLimits): number {
  const shortestMs = Math.min(headersTimeoutMs, bodyGapTimeoutMs, idleTimeoutMs);
  return Math.max(DEADLINE_CHECK_MS_MIN, Math.min(DEADLINE_CHECK_MS_MAX, shortestMs / 4));
}

/** A connection may break at any time; its users listen to `close`. */
function ignoreErrors<T extends EventEmitter>(emitter: T): T {
  return emitter.on('error', () => {});
}

/** Cuts connections that no timer of a protocol covers: those whose first bytes do not show the protocol yet. */
function cutSilentConnections(newConnections: NewConnections, acceptedBeforeMs: number): void {
  for (const [socket, acceptedAtMs] of newConnections) {
    if (acceptedAtMs < acceptedBeforeMs) socket.destroy();
  }
}

type Parts = {
  readonly http1: Http1;
  readonly http2: Http2;
  readonly sockets: ReadonlySet<Socket>;
  readonly newConnections: NewConnections;
};

async function drain({ http1, http2, sockets, newConnections }: Parts, deadlineMs: number): Promise<void> {
  // http.Server.close would reset idle connections at once; net.Server.close only stops listening.
  const closed = new Promise((resolve) => NetServer.prototype.close.call(http1.server, resolve));
  http1.announceClose();
  http2.announceClose();
  const cut = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, deadlineMs);
  const closeIdle = setInterval(
    () => {
      for (const socket of newConnections.keys()) socket.destroy();
      http1.closeIdle();
      http2.closeIdle();
    },
    Math.min(DRAIN_GRACE_MS, deadlineMs / 2),
  );
  await closed;
  clearTimeout(cut);
  clearInterval(closeIdle);
  // Stops the timer that http.Server uses for its own timeouts.
  http1.server.close();
}

function addressOf(server: NetServer, scheme: string): { readonly address: string; readonly port: number } {
  const { address, family, port } = server.address() as AddressInfo;
  return { address: `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`, port };
}
