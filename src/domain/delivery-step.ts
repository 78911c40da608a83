/**
 * The life of a delivery and of the endpoint it goes to: (state, event, now, chance) -> what becomes of both. Pure, so that
 * 72 hours can be lived through in a test; stores run it inside the transaction that records what happened.
 */

import type { DeadReason, DeliveryState, Verdict } from './delivery.ts';
import type { DisabledReason, EndpointStatus, EndpointStreak } from './endpoint.ts';

export type EndpointState = EndpointStreak & {
  readonly status: EndpointStatus;
  readonly disabledReason: DisabledReason | null;
  readonly disabledAtMs: number | null;
  readonly destinationVersion: number;
  readonly run: number;
  readonly isArchived: boolean;
};

export type DeliveryEvent =
  /** A sender takes it; until the end of the lease nobody else does. */
  | { readonly kind: 'claim'; readonly leaseMs: number }
  /** The attempt is over. The version is that of the destination it was sent to. */
  | { readonly kind: 'finish'; readonly verdict: Verdict; readonly destinationVersion: number }
  /** The lease is over and nothing was heard of the sender. */
  | { readonly kind: 'lose' }
  | { readonly kind: 'redeliver' }
  /** The endpoint is archived. */
  | { readonly kind: 'cancel' }
  /** Its events left retention. */
  | { readonly kind: 'expire' };

export type Chance = {
  readonly nowMs: number;
  /** From 0 up to, but not, 1. */
  readonly random: () => number;
};

export type Stepped = {
  readonly delivery: DeliveryState;
  readonly endpoint: EndpointState;
  /** How the attempt that ends with this event is recorded; null when none ends. */
  readonly outcome: 'success' | 'retryable' | 'terminal' | null;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** After the first failure, the second and so on; one failure more and the delivery is dead. */
const LADDER_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  ...Array.from({ length: 5 }, () => 12 * HOUR_MS),
];
/** How long one run of the ladder may take, and a streak of failures before the endpoint is disabled. */
export const PATIENCE_MS = 72 * HOUR_MS;
const DELAY_MAX_MS = 24 * HOUR_MS;
const JITTER = 0.1;
/** So many lost senders in a row, or faults of our own, are forgiven; from then on each uses a rung. */
const LOST_FORGIVEN = 3;
/** Before we try again after a fault of our own. */
const OWN_FAULT_DELAY_MS = 5_000;

/** Whether a waiting delivery may be claimed now. */
export function isDue(delivery: DeliveryState, endpoint: Pick<EndpointState, 'run'>, nowMs: number): boolean {
  if (!isWaiting(delivery)) return false;
  return delivery.run < endpoint.run || (delivery.dueAtMs !== null && delivery.dueAtMs <= nowMs);
}

function isWaiting({ status }: DeliveryState): boolean {
  return status === 'queued' || status === 'retrying';
}

/** Throws for an event that cannot happen in the state; whoever calls has compared the fence before. */
export function stepDelivery(
  delivery: DeliveryState,
  endpoint: EndpointState,
  event: DeliveryEvent,
  chance: Chance,
): Stepped {
  switch (event.kind) {
    case 'claim':
      return { delivery: claim(delivery, endpoint, event.leaseMs, chance.nowMs), endpoint, outcome: null };
    case 'finish':
      return finish(delivery, endpoint, event, chance);
    case 'lose':
      return lose(delivery, endpoint, chance);
    case 'redeliver':
      return { delivery: redeliver(delivery, endpoint, chance.nowMs), endpoint, outcome: null };
    case 'cancel':
    case 'expire':
      return { delivery: endWaiting(delivery, event.kind, chance.nowMs), endpoint, outcome: null };
  }
}

function claim(delivery: DeliveryState, endpoint: EndpointState, leaseMs: number, nowMs: number): DeliveryState {
  if (!isDue(delivery, endpoint, nowMs))
    throw new Error(`a delivery that is ${delivery.status} and not due is claimed`);
  const current = joinRun(delivery, endpoint);
  return {
    ...current,
    status: 'sending',
    attempt: current.attempt + 1,
    ladderStartedAtMs: current.ladderStartedAtMs ?? nowMs,
    fence: current.fence + 1,
    dueAtMs: nowMs + leaseMs,
  };
}

/** Whatever the endpoint was enabled again for begins its ladder afresh. */
function joinRun(delivery: DeliveryState, { run }: EndpointState): DeliveryState {
  return delivery.run < run ? { ...delivery, run, failures: 0, lost: 0, ladderStartedAtMs: null } : delivery;
}

function finish(
  delivery: DeliveryState,
  endpoint: EndpointState,
  { verdict, destinationVersion }: Extract<DeliveryEvent, { kind: 'finish' }>,
  chance: Chance,
): Stepped {
  if (delivery.status !== 'sending') throw new Error(`an attempt ends of a delivery that is ${delivery.status}`);
  const { nowMs } = chance;
  const judged = destinationVersion === endpoint.destinationVersion;
  if (verdict.kind === 'success') {
    return {
      delivery: { ...end(delivery, 'delivered', null, nowMs), lost: 0 },
      endpoint: judged ? noteSuccess(endpoint, nowMs) : endpoint,
      outcome: 'success',
    };
  }
  // The endpoint may have been disabled and enabled again during the attempt: what follows waits its time all the same.
  const current = joinRun(delivery, endpoint);
  if (verdict.kind === 'ours') return { ...forgive(current, chance, OWN_FAULT_DELAY_MS), endpoint };
  const failed = judged ? noteFailure(endpoint, nowMs) : endpoint;
  // Gone is said of one place; another one may be glad to get what the delivery holds.
  if (verdict.kind === 'gone' && judged) {
    const dead = end({ ...current, failures: current.failures + 1, lost: 0 }, 'dead', 'receiver_gone', nowMs);
    return { delivery: dead, endpoint: disable(failed, 'receiver_gone', nowMs), outcome: 'terminal' };
  }
  const next = climb({ ...current, lost: 0 }, chance, verdict.retryAfterMs);
  return {
    delivery: next,
    endpoint: judged ? giveUp(failed, nowMs) : endpoint,
    outcome: next.status === 'dead' ? 'terminal' : 'retryable',
  };
}

/** What a lost sender did is unknown, so it says nothing about the receiver. */
function lose(delivery: DeliveryState, endpoint: EndpointState, chance: Chance): Stepped {
  if (delivery.status !== 'sending') throw new Error(`the sender of a delivery that is ${delivery.status} is lost`);
  // A late result of the lost sender must find another fence.
  return { ...forgive({ ...joinRun(delivery, endpoint), fence: delivery.fence + 1 }, chance, 0), endpoint };
}

/** An attempt that ended through no fault of the receiver uses no rung, unless that happens again and again. */
function forgive(delivery: DeliveryState, chance: Chance, delayMs: number): Omit<Stepped, 'endpoint'> {
  const lost = delivery.lost + 1;
  if (lost > LOST_FORGIVEN) {
    const next = climb({ ...delivery, lost }, chance, null);
    return { delivery: next, outcome: next.status === 'dead' ? 'terminal' : 'retryable' };
  }
  // Nobody has judged any attempt of it so far.
  const status = delivery.attempt === lost ? 'queued' : 'retrying';
  const dueAtMs = withinRun(delivery, chance.nowMs, delayMs);
  return { delivery: { ...delivery, status, lost, dueAtMs }, outcome: 'retryable' };
}

/** One rung up, or off the ladder. */
function climb(delivery: DeliveryState, { nowMs, random }: Chance, floorMs: number | null): DeliveryState {
  const failures = delivery.failures + 1;
  const ladderStartedAtMs = delivery.ladderStartedAtMs ?? nowMs;
  const climbed = { ...delivery, failures, ladderStartedAtMs };
  const rungMs = LADDER_MS[failures - 1];
  if (rungMs === undefined || nowMs >= ladderStartedAtMs + PATIENCE_MS) return end(climbed, 'dead', 'exhausted', nowMs);
  const jittered = Math.round(rungMs * (1 - JITTER + 2 * JITTER * random()));
  const delayMs = Math.min(Math.max(jittered, floorMs ?? 0), DELAY_MAX_MS);
  return { ...climbed, status: 'retrying', dueAtMs: withinRun(climbed, nowMs, delayMs) };
}

/** After the delay, but not after the end of the run of the ladder, unless that is over already. */
function withinRun({ ladderStartedAtMs }: DeliveryState, nowMs: number, delayMs: number): number {
  const endsAtMs = (ladderStartedAtMs ?? nowMs) + PATIENCE_MS;
  const dueAtMs = nowMs + delayMs;
  return nowMs < endsAtMs ? Math.min(dueAtMs, endsAtMs) : dueAtMs;
}

function redeliver(delivery: DeliveryState, endpoint: EndpointState, nowMs: number): DeliveryState {
  const { status } = delivery;
  const fence = delivery.fence + 1;
  if (status === 'retrying') return { ...delivery, fence, dueAtMs: nowMs };
  if (status !== 'dead' && status !== 'delivered') throw new Error(`a delivery that is ${status} is delivered again`);
  return {
    ...delivery,
    fence,
    status: 'retrying',
    failures: 0,
    lost: 0,
    ladderStartedAtMs: null,
    run: endpoint.run,
    dueAtMs: nowMs,
    endedAtMs: null,
    deadReason: null,
  };
}

/** What is being sent ends by what comes of it. */
function endWaiting(delivery: DeliveryState, kind: 'cancel' | 'expire', nowMs: number): DeliveryState {
  if (!isWaiting(delivery)) throw new Error(`${kind} of a delivery that is ${delivery.status}`);
  return kind === 'cancel' ? end(delivery, 'cancelled', null, nowMs) : end(delivery, 'dead', 'expired', nowMs);
}

function end(
  delivery: DeliveryState,
  status: 'delivered' | 'dead' | 'cancelled',
  deadReason: DeadReason | null,
  nowMs: number,
): DeliveryState {
  return { ...delivery, status, deadReason, dueAtMs: null, endedAtMs: nowMs };
}

function noteSuccess(endpoint: EndpointState, nowMs: number): EndpointState {
  return { ...endpoint, lastSuccessAtMs: nowMs, failingSinceMs: null, consecutiveFailures: 0 };
}

function noteFailure(endpoint: EndpointState, nowMs: number): EndpointState {
  return {
    ...endpoint,
    lastFailureAtMs: nowMs,
    failingSinceMs: endpoint.failingSinceMs ?? nowMs,
    consecutiveFailures: endpoint.consecutiveFailures + 1,
  };
}

/** Disables an endpoint that has failed for too long without a success in between; also asked by the sweep. */
export function giveUp(endpoint: EndpointState, nowMs: number): EndpointState {
  const { failingSinceMs } = endpoint;
  const isOver = failingSinceMs !== null && nowMs - failingSinceMs >= PATIENCE_MS;
  return isOver ? disable(endpoint, 'auto_failures_72h', nowMs) : endpoint;
}

function disable(endpoint: EndpointState, reason: DisabledReason, nowMs: number): EndpointState {
  if (endpoint.status !== 'active' || endpoint.isArchived) return endpoint;
  return { ...endpoint, status: 'disabled', disabledReason: reason, disabledAtMs: nowMs };
}
