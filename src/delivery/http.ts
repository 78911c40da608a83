/** Sends webhooks over HTTP. Whatever a receiver does, an attempt ends in time and reads a limited number of bytes. */

import type { Clock } from '../domain/clock.ts';
import type { AttemptResult, OutgoingMessage } from '../domain/endpoints/destination.ts';
import type { ResolveHost, UrlPolicy, UrlTarget } from '../domain/endpoints/url-policy.ts';
import { createStop, type Stop } from './attempt-stop.ts';
import { createConnectionPool, type PoolLimits } from './connection-pool.ts';
import { createEgress, type EgressDeps } from './egress.ts';
import { DNS_FAILED, type Failure, SENDER_LOST, toFailed } from './failure.ts';
import type { Connection } from './http-connection.ts';
import { exchange, STALE } from './http-exchange.ts';
import { type Answer, toAnswered, URL_REFUSED } from './http-verdict.ts';
import type { SocketCounts } from './meter.ts';

type HttpLimits = PoolLimits & {
  /** Limit of a whole attempt: resolving, connecting, sending and reading. */
  readonly deadlineMs: number;
  readonly resolveMs: number;
  /** Limit for each address. */
  readonly connectMs: number;
};

export type HttpSenderDeps = Pick<EgressDeps, 'connect' | 'secureContext'> & {
  readonly policy: UrlPolicy;
  readonly resolve: ResolveHost;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** Compared with dates in responses. */
  readonly clock: Clock;
  readonly userAgentVersion: string;
  readonly limits?: Partial<HttpLimits>;
};

export type HttpSender = ReturnType<typeof createHttpSender>;

/** The parts that are the same for all attempts at a URL. */
type Prepared = {
  readonly target: UrlTarget;
  readonly literal: readonly string[] | null;
  /** The key of its connections in the pool. */
  readonly key: string;
  readonly headStart: string;
};

/** A request without the head that is the same for all attempts at its URL. */
type Posted = {
  readonly head: string;
  readonly body: Buffer;
  /** Whether the loss of a kept connection is not a failure. */
  readonly isFirst: boolean;
  readonly needsText: boolean;
};

const LIMITS: HttpLimits = {
  deadlineMs: 10_000,
  resolveMs: 5_000,
  connectMs: 3_000,
  idleMaxMs: 2_000,
  perTargetMax: 256,
  totalMax: 1_024,
};
const PREPARED_MAX = 4_096;

export function createHttpSender(deps: HttpSenderDeps) {
  const { policy, resolve, nowMs, clock } = deps;
  const limits = { ...LIMITS, ...deps.limits };
  const pool = createConnectionPool(limits, nowMs);
  const egress = createEgress({ ...deps, connectMs: limits.connectMs });
  const prepare = createPreparation(policy, deps.userAgentVersion);
  const running = new Set<Stop>();
  let isClosed = false;

  /** Addresses of the receiver that the policy allows, or why there is none. */
  async function locate({ target, literal }: Prepared, stop: Stop): Promise<readonly string[] | Failure> {
    const addresses = literal ?? (await untilStopped(resolve(target.host, limits.resolveMs), stop));
    const reason = stop.reason();
    if (reason) return reason;
    if (!addresses) return DNS_FAILED;
    return policy.mayReach(target, addresses) ? addresses : URL_REFUSED;
  }

  async function attempt(
    prepared: Prepared,
    message: Posted,
    { stop, elapsedMs }: { stop: Stop; elapsedMs: () => number },
  ): Promise<Answer | Failure> {
    const addresses = await locate(prepared, stop);
    if ('error' in addresses) return addresses;
    const request = { head: prepared.headStart + message.head, body: message.body };
    const send = (connection: Connection, mayBeStale: boolean) =>
      exchange(connection, {
        request,
        stop,
        elapsedMs,
        mayBeStale,
        needsText: message.needsText,
        onUsable: (keptMs) => pool.release(prepared.key, connection, keptMs),
      });
    const kept = pool.acquire(prepared.key, addresses);
    // Once for each batch: its later attempts take the loss of a connection for a failure.
    const first = kept === null ? STALE : await send(kept, message.isFirst);
    if (first !== STALE) return first;
    const dialed = await egress.dial(prepared.target, addresses, stop);
    if ('error' in dialed) return dialed;
    const outcome = await send(dialed, false);
    if (outcome === STALE) throw new Error('a new connection cannot be stale');
    return outcome;
  }

  /** Makes one attempt. Never rejects, and ends within the deadline. */
  async function post(url: string, message: Posted, signal: AbortSignal): Promise<AttemptResult> {
    const startedAtMs = nowMs();
    const elapsedMs = () => Math.round(nowMs() - startedAtMs);
    if (isClosed) return toFailed(SENDER_LOST, 0);
    const prepared = prepare(url);
    if (!prepared) return toFailed(URL_REFUSED, elapsedMs());
    const stop = createStop(limits.deadlineMs, signal, (ended) => running.delete(ended));
    running.add(stop);
    const outcome = await attempt(prepared, message, { stop, elapsedMs });
    if ('status' in outcome) return toAnswered(outcome, clock());
    stop.end();
    return toFailed(outcome, elapsedMs());
  }

  return {
    /** Sends a batch of events. */
    send: (url: string, message: OutgoingMessage, signal: AbortSignal): Promise<AttemptResult> =>
      post(url, toPosted(message), signal),
    /** Posts JSON of other kinds; the key is the same for all attempts. */
    sendJson: (url: string, { key, json }: { readonly key: string; readonly json: string }, signal: AbortSignal) => {
      const body = Buffer.from(json);
      const head = `Content-Length: ${body.length}\r\nIdempotency-Key: ${key}\r\n\r\n`;
      return post(url, { head, body, isFirst: false, needsText: false }, signal);
    },
    openSockets(): SocketCounts {
      const idle = pool.size();
      return { inUse: egress.openSockets() - idle, idle };
    },
    /** Closes all connections; attempts in progress end as `sender_lost`. */
    close(): void {
      isClosed = true;
      for (const stop of running) stop.fire(SENDER_LOST);
      pool.close();
    },
  };
}

/** Checking a URL is a pure function, so its result is cached, except for refusals, which are rare. */
function createPreparation(policy: UrlPolicy, userAgentVersion: string): (url: string) => Prepared | null {
  const known = new Map<string, Prepared>();
  return (url) => {
    const found = known.get(url);
    if (found) return found;
    const check = policy.checkUrl(url);
    if (check.kind === 'refused') return null;
    const { target } = check;
    const prepared: Prepared = {
      target,
      literal: target.isLiteral ? [target.host] : null,
      key: `${target.secure ? 'https' : 'http'}://${target.host}:${target.port}`,
      headStart:
        `POST ${target.path} HTTP/1.1\r\nHost: ${target.authority}\r\n` +
        `User-Agent: Spandrel-Webhooks/${userAgentVersion}\r\nAccept: */*\r\nAccept-Encoding: identity\r\n` +
        'Content-Type: application/json\r\n',
    };
    if (known.size >= PREPARED_MAX) known.clear();
    known.set(url, prepared);
    return prepared;
  };
}

function toPosted(message: OutgoingMessage): Posted {
  const { body, attempt, test } = message;
  return { head: writeHead(message), body, isFirst: attempt === 1, needsText: test };
}

function writeHead({ dispatchId, attempt, timestamp, signatures, body, test }: OutgoingMessage): string {
  return (
    `Content-Length: ${body.length}\r\nwebhook-id: ${dispatchId}\r\nwebhook-timestamp: ${timestamp}\r\n` +
    `webhook-signature: ${signatures.standard}\r\nX-LangWatch-Signature: ${signatures.langwatch}\r\n` +
    `X-LangWatch-Delivery-Id: ${dispatchId}\r\nX-LangWatch-Delivery-Attempt: ${attempt}\r\n` +
    `${test ? 'X-LangWatch-Test-Fire: true\r\n' : ''}\r\n`
  );
}

/** Null when the work fails or the attempt is stopped first. */
function untilStopped<T>(work: Promise<T>, stop: Stop): Promise<T | null> {
  return new Promise((resolve) => {
    stop.onStop(() => resolve(null));
    work.then(resolve, () => resolve(null));
  });
}
