/**
 * The lifecycle of a delivery and of its endpoint: (state, event, time, chance) -> new states. The functions are pure,
 * so a test can run through 72 hours; stores call them inside the transaction that records the event.
 */

import type { DisabledReason, EndpointRecord, EndpointStreak } from '../endpoints/endpoint.ts';
import { type AttemptOutcome, type DeadReason, type DeliveryState, isOwnFault, type Verdict } from './delivery.ts';

export type EndpointLifecycle = EndpointStreak &
  Pick<EndpointRecord, 'status' | 'disabledReason' | 'disabledAtMs' | 'destinationVersion' | 'run'> & {
    readonly isArchived: boolean;
  };

export type DeliveryEvent =
  /** A sender claims the delivery; no other sender may claim it before the lease ends. */
  | { readonly kind: 'claim'; readonly leaseMs: number }
  /** The attempt ended. `destinationVersion` is the version of the destination it was sent to. */
  | { readonly kind: 'finish'; readonly verdict: Verdict; readonly destinationVersion: number }
  /** The lease ended and the sender reported no result. */
  | { readonly kind: 'lose' }
  | { readonly kind: 'redeliver' }
  /** The endpoint was archived. */
  | { readonly kind: 'cancel' }
  /** The events left retention. */
  | { readonly kind: 'expire' };

type Chance = {
  readonly nowMs: number;
  /** At least 0 and below 1. */
  readonly random: () => number;
};

export type Stepped = {
  readonly delivery: DeliveryState;
  readonly endpoint: EndpointLifecycle;
  /** The outcome of the attempt that this event ends; null when it ends none. */
  readonly outcome: Exclude<AttemptOutcome, 'pending'> | null;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** The delays after the first failure, the second and so on. After one failure more the delivery is dead. */
const BACKOFF_STEPS_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  ...Array.from({ length: 5 }, () => 12 * HOUR_MS),
];
/**
 * The longest that retries of one delivery may take, and the longest streak of failures before the endpoint is
 * disabled.
 */
export const RETRY_WINDOW_MS = 72 * HOUR_MS;
/** No retry waits longer, whatever the schedule, chance and the receiver say. */
export const DELAY_MAX_MS = 24 * HOUR_MS;
const JITTER = 0.1;
/** This many lost senders or sender faults in a row cost no backoff step; from then on each one does. */
const LOST_FREE_MAX = 3;
/** The delay of the retry after a sender fault. */
const SENDER_FAULT_DELAY_MS = 5_000;
/** The most that a receiver can ask for with Retry-After. */
const ASKED_MAX_MS = HOUR_MS;
/** No other process sends a delivery during the lease. */
export const LEASE_MS = 30_000;

/** Whether a sender may claim the delivery now. */
export function isDue(delivery: DeliveryState, endpoint: Pick<EndpointLifecycle, 'run'>, nowMs: number): boolean {
  if (!isWaiting(delivery)) return false;
  return delivery.run < endpoint.run || (delivery.dueAtMs !== null && delivery.dueAtMs <= nowMs);
}

function isWaiting({ status }: DeliveryState): boolean {
  return status === 'queued' || status === 'retrying';
}

/** Throws when the event is impossible in this state. The caller MUST have compared the fence. */
export function stepDelivery(
  delivery: DeliveryState,
  endpoint: EndpointLifecycle,
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

function claim(delivery: DeliveryState, endpoint: EndpointLifecycle, leaseMs: number, nowMs: number): DeliveryState {
  if (!isDue(delivery, endpoint, nowMs))
    throw new Error(`a delivery that is ${delivery.status} and not due is claimed`);
  const current = joinRun(delivery, endpoint);
  return {
    ...current,
    status: 'sending',
    attempt: current.attempt + 1,
    backoffStartedAtMs: current.backoffStartedAtMs ?? nowMs,
    fence: current.fence + 1,
    dueAtMs: nowMs + leaseMs,
  };
}

/** A delivery that waited while the endpoint was disabled starts its backoff again. */
function joinRun(delivery: DeliveryState, { run }: EndpointLifecycle): DeliveryState {
  return delivery.run < run ? { ...delivery, run, failures: 0, lost: 0, backoffStartedAtMs: null } : delivery;
}

function finish(
  delivery: DeliveryState,
  endpoint: EndpointLifecycle,
  { verdict, destinationVersion }: Extract<DeliveryEvent, { kind: 'finish' }>,
  chance: Chance,
): Stepped {
  if (delivery.status !== 'sending') throw new Error(`an attempt ends of a delivery that is ${delivery.status}`);
  const { nowMs } = chance;
  const isCurrentDestination = destinationVersion === endpoint.destinationVersion;
  if (verdict.kind === 'success') {
    return {
      delivery: { ...end(delivery, 'delivered', null, nowMs), lost: 0 },
      endpoint: isCurrentDestination ? noteSuccess(endpoint, nowMs) : endpoint,
      outcome: 'success',
    };
  }
  // If the endpoint was disabled and enabled during the attempt, the retry still waits for its delay.
  const current = joinRun(delivery, endpoint);
  if (verdict.kind === 'too_large' && isCurrentDestination) {
    return { delivery: { ...end(current, 'dead', 'too_large', nowMs), lost: 0 }, endpoint, outcome: 'terminal' };
  }
  if (isOwnFault(verdict)) return { ...retryWithoutStep(current, chance, SENDER_FAULT_DELAY_MS), endpoint };
  const failed = isCurrentDestination ? noteFailure(endpoint, nowMs) : endpoint;
  // The answer 410 is about one destination. If the endpoint has another one by now, the delivery is retried there.
  if (verdict.kind === 'gone' && isCurrentDestination) {
    const dead = end({ ...current, failures: current.failures + 1, lost: 0 }, 'dead', 'receiver_gone', nowMs);
    return { delivery: dead, endpoint: disable(failed, 'receiver_gone', nowMs), outcome: 'terminal' };
  }
  const next = scheduleRetry({ ...current, lost: 0 }, chance, verdict.retryAfterMs);
  return {
    delivery: next,
    endpoint: isCurrentDestination ? disableFailing(failed, nowMs) : endpoint,
    outcome: next.status === 'dead' ? 'terminal' : 'retryable',
  };
}

/** A lost sender reports no result, so the endpoint's streak stays as it is. */
function lose(delivery: DeliveryState, endpoint: EndpointLifecycle, chance: Chance): Stepped {
  if (delivery.status !== 'sending') throw new Error(`the sender of a delivery that is ${delivery.status} is lost`);
  // The new fence makes a late result of the lost sender stale.
  return { ...retryWithoutStep({ ...joinRun(delivery, endpoint), fence: delivery.fence + 1 }, chance, 0), endpoint };
}

/** A lost sender or a sender fault takes no backoff step, unless it happens many times in a row. */
function retryWithoutStep(delivery: DeliveryState, chance: Chance, delayMs: number): Omit<Stepped, 'endpoint'> {
  const lost = delivery.lost + 1;
  if (lost > LOST_FREE_MAX) {
    const next = scheduleRetry({ ...delivery, lost }, chance, null);
    return { delivery: next, outcome: next.status === 'dead' ? 'terminal' : 'retryable' };
  }
  // No receiver has seen an attempt of the delivery yet.
  const status = delivery.attempt === lost ? 'queued' : 'retrying';
  const dueAtMs = limitToWindow(delivery, chance.nowMs, delayMs);
  return { delivery: { ...delivery, status, lost, dueAtMs }, outcome: 'retryable' };
}

/** Takes the next backoff step, or ends the delivery when none is left. */
function scheduleRetry(delivery: DeliveryState, { nowMs, random }: Chance, floorMs: number | null): DeliveryState {
  const failures = delivery.failures + 1;
  // It started in the future if the clock has been set back.
  const backoffStartedAtMs = Math.min(delivery.backoffStartedAtMs ?? nowMs, nowMs);
  const stepped = { ...delivery, failures, backoffStartedAtMs };
  const stepMs = BACKOFF_STEPS_MS[failures - 1];
  if (stepMs === undefined || nowMs >= backoffStartedAtMs + RETRY_WINDOW_MS)
    return end(stepped, 'dead', 'exhausted', nowMs);
  const jittered = Math.round(stepMs * (1 - JITTER + 2 * JITTER * random()));
  const delayMs = Math.min(Math.max(jittered, floorMs ?? 0), DELAY_MAX_MS);
  return { ...stepped, status: 'retrying', dueAtMs: limitToWindow(stepped, nowMs, delayMs) };
}

/** Limits a delay to the end of the retry window, unless that has passed already. */
function limitToWindow({ backoffStartedAtMs }: DeliveryState, nowMs: number, delayMs: number): number {
  const endsAtMs = (backoffStartedAtMs ?? nowMs) + RETRY_WINDOW_MS;
  const dueAtMs = nowMs + delayMs;
  return nowMs < endsAtMs ? Math.min(dueAtMs, endsAtMs) : dueAtMs;
}

/**
 * The due time of a delivery that a clock set it by which was ahead. Waits are durations: what counts is how long the
 * delivery was to wait after its last attempt, and no longer than the schedule allows.
 */
export function correctDueAt(
  { status, failures, dueAtMs }: DeliveryState,
  { lastAttemptAtMs, nowMs }: { readonly lastAttemptAtMs: number | null; readonly nowMs: number },
): number | null {
  if (dueAtMs === null) return null;
  if (status === 'sending') return Math.min(dueAtMs, nowMs + LEASE_MS);
  const stepMs = BACKOFF_STEPS_MS[failures - 1];
  const stepMaxMs = stepMs === undefined ? SENDER_FAULT_DELAY_MS : Math.round(stepMs * (1 + JITTER));
  // Due before its last attempt: it was corrected already, by a clock that was ahead as well.
  if (lastAttemptAtMs !== null && dueAtMs < lastAttemptAtMs) return Math.min(dueAtMs, nowMs + stepMaxMs);
  const waitMs = dueAtMs - (lastAttemptAtMs ?? dueAtMs);
  const waitMaxMs = stepMs === undefined ? stepMaxMs : Math.max(stepMaxMs, ASKED_MAX_MS);
  return Math.min(dueAtMs, nowMs + Math.min(waitMs, waitMaxMs));
}

function redeliver(delivery: DeliveryState, endpoint: EndpointLifecycle, nowMs: number): DeliveryState {
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
    backoffStartedAtMs: null,
    run: endpoint.run,
    dueAtMs: nowMs,
    endedAtMs: null,
    deadReason: null,
  };
}

/** A delivery that is being sent ends with the result of its attempt instead. */
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

function noteSuccess(endpoint: EndpointLifecycle, nowMs: number): EndpointLifecycle {
  return { ...endpoint, lastSuccessAtMs: nowMs, failingSinceMs: null, consecutiveFailures: 0 };
}

function noteFailure(endpoint: EndpointLifecycle, nowMs: number): EndpointLifecycle {
  return {
    ...endpoint,
    lastFailureAtMs: nowMs,
    failingSinceMs: Math.min(endpoint.failingSinceMs ?? nowMs, nowMs),
    consecutiveFailures: endpoint.consecutiveFailures + 1,
  };
}

/** Disables an endpoint whose streak of failures is too long. Results of attempts and maintenance both call it. */
export function disableFailing(endpoint: EndpointLifecycle, nowMs: number): EndpointLifecycle {
  const { failingSinceMs } = endpoint;
  const isOver = failingSinceMs !== null && nowMs - failingSinceMs >= RETRY_WINDOW_MS;
  return isOver ? disable(endpoint, 'auto_failures_72h', nowMs) : endpoint;
}

function disable(endpoint: EndpointLifecycle, reason: DisabledReason, nowMs: number): EndpointLifecycle {
  if (endpoint.status !== 'active' || endpoint.isArchived) return endpoint;
  return { ...endpoint, status: 'disabled', disabledReason: reason, disabledAtMs: nowMs };
}
