/** Sends webhooks over HTTP. Whatever a receiver does, an attempt ends in time and reads a limited number of bytes. */

import type { Clock } from '../domain/clock.ts';
import type { AttemptResult, OutgoingMessage } from '../domain/endpoints/destination.ts';
import type { ResolveHost, UrlPolicy, UrlTarget } from '../domain/endpoints/url-policy.ts';
import { createStop, type Stop } from './attempt-stop.ts';
import { createEgress, type EgressDeps } from './egress.ts';
import { DNS_FAILED, type Failure, SENDER_LOST, toFailed } from './failure.ts';
import { type PoolLimits, ReceiverAgent } from './http-agent.ts';
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
  readonly origin: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
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
  const agent = new ReceiverAgent(limits);
  const egress = createEgress({ ...deps, connectMs: limits.connectMs });
  const prepare = createPreparation(policy, deps.userAgentVersion);
  const running = new Set<Stop>();
  let isClosed = false;

  /** The addresses of the receiver, or why it may not be reached. */
  async function locate({ target, literal }: Prepared, stop: Stop): Promise<readonly string[] | Failure> {
    const addresses = literal ?? (await untilStopped(resolve(target.host, limits.resolveMs), stop));
    const reason = stop.reason();
    if (reason) return reason;
    if (!addresses) return DNS_FAILED;
    return policy.mayReach(target, addresses) ? addresses : URL_REFUSED;
  }

  async function attempt(
    prepared: Prepared,
    message: OutgoingMessage,
    { stop, elapsedMs }: { stop: Stop; elapsedMs: () => number },
  ): Promise<Answer | Failure> {
    const addresses = await locate(prepared, stop);
    if ('error' in addresses) return addresses;
    const { target, origin, headers } = prepared;
    // A connection is used again only while its address is among those just checked.
    const poolKey = `${origin} ${[...addresses].sort().join(' ')}`;
    const send = () =>
      exchange({
        request: { agent, poolKey, method: 'POST', path: target.path, headers: headersOf(headers, message) },
        body: message.body,
        dial: () => egress.dial(target, addresses, stop),
        reset: egress.cut,
        stop,
        elapsedMs,
        needsText: message.test,
      });
    const outcome = await send();
    // Once for each batch: its retries come later and may fail.
    if (outcome !== STALE || message.attempt > 1) return outcome;
    agent.closeIdle(poolKey);
    return await send();
  }

  return {
    /** Makes one attempt. Never rejects, and ends within the deadline. */
    async send(url: string, message: OutgoingMessage, signal: AbortSignal): Promise<AttemptResult> {
      const startedAtMs = nowMs();
      const elapsedMs = () => Math.round(nowMs() - startedAtMs);
      if (isClosed) return toFailed(SENDER_LOST, 0);
      const prepared = prepare(url);
      if (!prepared) return toFailed(URL_REFUSED, elapsedMs());
      const stop = createStop(limits.deadlineMs, signal, (ended) => running.delete(ended));
      running.add(stop);
      const outcome = await attempt(prepared, message, { stop, elapsedMs });
      stop.end();
      if ('status' in outcome) return toAnswered(outcome, clock());
      return toFailed(outcome, elapsedMs());
    },
    openSockets(): SocketCounts {
      const idle = agent.idleCount();
      return { inUse: egress.openSockets() - idle, idle };
    },
    /** Closes all connections; attempts in progress end as `sender_lost`. */
    close(): void {
      isClosed = true;
      for (const stop of running) stop.fire(SENDER_LOST);
      agent.destroy();
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
      origin: `${target.secure ? 'https' : 'http'}://${target.host}:${target.port}`,
      headers: [
        'Host',
        target.authority,
        'User-Agent',
        `Spandrel-Webhooks/${userAgentVersion}`,
        'Accept',
        '*/*',
        'Accept-Encoding',
        'identity',
        'Content-Type',
        'application/json',
      ],
    };
    if (known.size >= PREPARED_MAX) known.clear();
    known.set(url, prepared);
    return prepared;
  };
}

/** Names and values in turn. */
function headersOf(common: readonly string[], message: OutgoingMessage): string[] {
  const { dispatchId, attempt, timestamp, signatures, body, test } = message;
  const headers = [
    ...common,
    'Content-Length',
    String(body.length),
    'webhook-id',
    dispatchId,
    'webhook-timestamp',
    String(timestamp),
    'webhook-signature',
    signatures.standard,
    'X-LangWatch-Signature',
    signatures.langwatch,
    'X-LangWatch-Delivery-Id',
    dispatchId,
    'X-LangWatch-Delivery-Attempt',
    String(attempt),
  ];
  if (test) headers.push('X-LangWatch-Test-Fire', 'true');
  return headers;
}

/** Null when the work fails or the attempt is stopped first. */
function untilStopped<T>(work: Promise<T>, stop: Stop): Promise<T | null> {
  return new Promise((resolve) => {
    stop.onStop(() => resolve(null));
    work.then(resolve, () => resolve(null));
  });
}
