/** Runs one plan in virtual time and compares every step of the deliveries with an own model. */

import type { DeliveryState, Verdict } from '../../src/domain/delivery/delivery.ts';
import {
  disableFailing,
  type EndpointLifecycle,
  isDue,
  RETRY_WINDOW_MS,
  type Stepped,
  stepDelivery,
} from '../../src/domain/delivery/delivery-step.ts';
import { type BackoffPlan, isWithin, judge, MINUTE_MS, type OwnerAct } from './backoff-plan.ts';
import { disabledByHand, enabledAgain, LEASE_MS, moved, newDelivery, newEndpoint } from './deliveries.ts';

const STEPS_MINUTES = [1, 5, 30, 120, 360, 720, 720, 720, 720, 720];
const ATTEMPTS_MAX = 11;
const MAINTENANCE_INTERVAL_MS = 60_000;
const LATENCY_MAX_MS = 10_000;
const LAG_MAX_MS = 1_000;
/** The longest delay after a stop. */
const CATCH_UP_MAX_MS = 3 * MINUTE_MS;
const EVENTS_MAX = 2_000;

/** Counts of the facts that the runs must cover. */
export type Facts = Map<string, number>;

/** A delivery, and the state of the model for it. */
type Track = {
  state: DeliveryState;
  /** The instant of its next event; null: never. */
  nextAtMs: number | null;
  /** Destination version of the attempt under way. */
  sentTo: number;
  run: number;
  runStartedAtMs: number | null;
  concluded: number;
  steps: number;
  ownFaults: number;
};

type Event =
  | { readonly kind: 'delivery'; readonly atMs: number; readonly track: Track }
  | { readonly kind: 'act'; readonly atMs: number; readonly act: OwnerAct }
  | { readonly kind: 'maintenance'; readonly atMs: number };

/** Returns the number of attempts. Throws at the first step that breaks a rule. */
export function liveThrough(plan: BackoffPlan, random: () => number, facts: Facts): number {
  let endpoint: EndpointLifecycle = newEndpoint();
  let streakSinceMs: number | null = null;
  let sweptAtMs = 0;
  let wasPutOff = false;
  let attempts = 0;
  const acts = [...plan.acts];
  const tracks = plan.createdAtMs.map((atMs) => newTrack(atMs, awakeAt(atMs)));
  const note = (fact: string) => facts.set(fact, (facts.get(fact) ?? 0) + 1);

  function awakeAt(atMs: number): number {
    if (!isWithin(plan.stop, atMs)) return atMs + Math.floor(random() * LAG_MAX_MS);
    return (plan.stop?.toMs ?? 0) + Math.floor(random() * CATCH_UP_MAX_MS);
  }

  function nextEvent(): Event | null {
    let next: Event | null = null;
    const offer = (event: Event) => {
      if (next === null || event.atMs < next.atMs) next = event;
    };
    for (const track of tracks) {
      const isHeld = endpoint.status !== 'active' && track.state.status !== 'sending';
      if (track.nextAtMs !== null && !isHeld) offer({ kind: 'delivery', atMs: track.nextAtMs, track });
    }
    const [act] = acts;
    if (act !== undefined) offer({ kind: 'act', atMs: act.atMs, act });
    if (endpoint.status === 'active' && streakSinceMs !== null)
      offer({ kind: 'maintenance', atMs: maintenanceAt(streakSinceMs) });
    return next;
  }

  /** Earlier maintenance finds nothing. */
  function maintenanceAt(sinceMs: number): number {
    const atMs = Math.max(
      Math.ceil((sinceMs + RETRY_WINDOW_MS) / MAINTENANCE_INTERVAL_MS) * MAINTENANCE_INTERVAL_MS,
      sweptAtMs + MAINTENANCE_INTERVAL_MS,
    );
    return isWithin(plan.stop, atMs)
      ? Math.ceil((plan.stop?.toMs ?? 0) / MAINTENANCE_INTERVAL_MS) * MAINTENANCE_INTERVAL_MS
      : atMs;
  }

  function begin(track: Track, nowMs: number): void {
    attempts += 1;
    hold(endpoint.status === 'active', 'nothing is sent to a disabled endpoint');
    hold(isDue(track.state, endpoint, nowMs), 'an attempt begins when it is due');
    if (track.run < endpoint.run) beginRun(track, endpoint.run);
    track.runStartedAtMs ??= nowMs;
    const { attempt, fence } = track.state;
    track.state = stepDelivery(track.state, endpoint, { kind: 'claim', leaseMs: LEASE_MS }, { nowMs, random }).delivery;
    hold(track.state.attempt === attempt + 1 && track.state.fence > fence, 'attempts and fences move on');
    hold(track.state.backoffStartedAtMs === track.runStartedAtMs, 'a run begins with its first attempt');
    track.sentTo = endpoint.destinationVersion;
    track.nextAtMs = nowMs + Math.floor(random() * LATENCY_MAX_MS);
  }

  function endAttempt(track: Track, nowMs: number): void {
    if (track.run < endpoint.run) {
      beginRun(track, endpoint.run);
      note('enabled again during an attempt');
    }
    // A sender that was running at the stop never reports a result.
    const isLost = isWithin(plan.stop, nowMs);
    const atMs = isLost ? Math.max(awakeAt(nowMs), track.state.dueAtMs ?? 0) : nowMs;
    if (isLost && atMs > nowMs) {
      track.nextAtMs = atMs;
      return;
    }
    const wasLost = track.state.dueAtMs !== null && nowMs >= track.state.dueAtMs;
    const result = wasLost ? null : judge(plan, track.sentTo, nowMs, random);
    const event =
      result === null
        ? ({ kind: 'lose' } as const)
        : ({ kind: 'finish', verdict: result, destinationVersion: track.sentTo } as const);
    const before = { delivery: track.state, endpoint };
    const stepped = stepDelivery(before.delivery, endpoint, event, { nowMs, random });
    if (result === null || result.kind === 'sender_fault') checkOwnFault(track, before.endpoint, stepped, nowMs);
    else checkVerdict(track, { result, before: before.endpoint, stepped }, nowMs);
    track.state = stepped.delivery;
    endpoint = stepped.endpoint;
    track.nextAtMs = track.state.dueAtMs === null ? null : awakeAt(track.state.dueAtMs);
  }

  function checkOwnFault(
    track: Track,
    before: EndpointLifecycle,
    { delivery, endpoint: after }: Stepped,
    nowMs: number,
  ) {
    hold(after === before, 'a fault of our own says nothing about the receiver');
    track.ownFaults += 1;
    if (track.ownFaults > 3) {
      note('sender faults used a step');
      checkStep(track, { delivery, floorMs: null }, nowMs);
      return;
    }
    hold(delivery.failures === track.steps, 'a sender fault uses no step');
    const endsAtMs = (track.runStartedAtMs ?? nowMs) + RETRY_WINDOW_MS;
    const dueAtMs = delivery.dueAtMs ?? Number.POSITIVE_INFINITY;
    hold(dueAtMs - nowMs <= 5_000 && (nowMs >= endsAtMs || dueAtMs <= endsAtMs), 'it is tried again soon');
  }

  type Judged = { readonly result: Verdict; readonly before: EndpointLifecycle; readonly stepped: Stepped };

  function checkVerdict(track: Track, { result, before, stepped }: Judged, nowMs: number): void {
    const isCurrent = track.sentTo === before.destinationVersion;
    track.concluded += 1;
    track.ownFaults = 0;
    hold(track.concluded <= ATTEMPTS_MAX, 'at most 11 attempts of a run have an outcome');
    if (!isCurrent) {
      note('verdict of an earlier destination');
      hold(stepped.endpoint === before, 'an earlier destination says nothing about this one');
    } else checkStreak(result, { before, after: stepped.endpoint }, nowMs);
    const { delivery } = stepped;
    if (result.kind === 'success') {
      hold(delivery.status === 'delivered' && delivery.endedAtMs === nowMs, 'a success delivers');
      if (track.runStartedAtMs !== null && nowMs > track.runStartedAtMs + RETRY_WINDOW_MS + LATENCY_MAX_MS)
        note('overdue, and delivered');
      if (track.steps > 0) note('delivered by a retry');
    } else if (result.kind === 'gone' && isCurrent) {
      note('receiver gone');
      hold(delivery.status === 'dead' && delivery.deadReason === 'receiver_gone', 'gone is not retried');
    } else checkStep(track, { delivery, floorMs: result.retryAfterMs }, nowMs);
  }

  function checkStreak(
    result: Verdict,
    { before, after }: { before: EndpointLifecycle; after: EndpointLifecycle },
    nowMs: number,
  ) {
    if (result.kind === 'success') {
      if (streakSinceMs !== null) note('a success cleared a streak');
      streakSinceMs = null;
      hold(after.consecutiveFailures === 0 && after.status === before.status, 'a success clears and enables nothing');
    } else {
      streakSinceMs ??= nowMs;
      const isOver = nowMs - streakSinceMs >= RETRY_WINDOW_MS;
      const reason = result.kind === 'gone' ? 'receiver_gone' : isOver ? 'auto_failures_72h' : null;
      if (before.status === 'active') checkDisabled(after, reason, nowMs);
      else hold(after.disabledAtMs === before.disabledAtMs, 'an endpoint is disabled once');
      if (reason === 'auto_failures_72h' && before.status === 'active') note('disabled by a verdict');
    }
    hold(after.failingSinceMs === streakSinceMs, 'a streak begins with the first failure after a success');
  }

  function checkDisabled(after: EndpointLifecycle, reason: EndpointLifecycle['disabledReason'], nowMs: number): void {
    hold(
      after.status === (reason === null ? 'active' : 'disabled'),
      'disabled with 72 h or 410, and with nothing else',
    );
    hold(
      after.disabledReason === reason && after.disabledAtMs === (reason === null ? null : nowMs),
      'the reason is set',
    );
  }

  /** The delivery uses one backoff step: it waits for the delay, or is dead. */
  function checkStep(track: Track, next: { delivery: DeliveryState; floorMs: number | null }, nowMs: number): void {
    const { delivery } = next;
    track.steps += 1;
    track.runStartedAtMs ??= nowMs;
    const leftMs = track.runStartedAtMs + RETRY_WINDOW_MS - nowMs;
    const stepMs = (STEPS_MINUTES[track.steps - 1] ?? Number.NaN) * MINUTE_MS;
    if (Number.isNaN(stepMs) || leftMs <= 0) {
      note(leftMs <= 0 ? 'dead after 72 h' : 'dead with the last step');
      hold(delivery.status === 'dead' && delivery.deadReason === 'exhausted', 'the ladder ends');
      return;
    }
    hold(delivery.status === 'retrying' && delivery.failures === track.steps, 'each failure uses one step');
    checkDelay((delivery.dueAtMs ?? Number.NaN) - nowMs, { stepMs, leftMs, floorMs: next.floorMs ?? 0 });
  }

  function checkDelay(delayMs: number, of: { stepMs: number; leftMs: number; floorMs: number }): void {
    const lowMs = of.stepMs * 0.9 - 1;
    const highMs = of.stepMs * 1.1 + 1;
    hold(delayMs <= of.leftMs, 'nothing is due after 72 h');
    if (delayMs === of.leftMs && Math.max(highMs, of.floorMs) >= of.leftMs) note('planned for the last instant');
    else if (delayMs === of.floorMs && of.floorMs > lowMs) note('waited as the receiver requested');
    else hold(delayMs >= lowMs && delayMs <= highMs && delayMs >= of.floorMs, 'a delay lies in the band of its rung');
  }

  function maintain(nowMs: number): void {
    sweptAtMs = nowMs;
    if (streakSinceMs === null) return;
    hold(disableFailing(endpoint, streakSinceMs + RETRY_WINDOW_MS - 1) === endpoint, 'nothing is given up before 72 h');
    if (tracks.some(({ state }) => isDue(state, endpoint, nowMs))) {
      note('maintenance left the decision to a due attempt');
      wasPutOff = true;
      return;
    }
    endpoint = disableFailing(endpoint, nowMs);
    checkDisabled(endpoint, 'auto_failures_72h', nowMs);
    const isPrompt = nowMs - streakSinceMs - RETRY_WINDOW_MS <= MAINTENANCE_INTERVAL_MS;
    hold(isPrompt || wasPutOff || plan.stop !== null, 'maintenance runs within a minute');
    note('disabled by maintenance');
  }

  function act({ kind }: OwnerAct, nowMs: number): void {
    acts.shift();
    if (kind === 'move') {
      endpoint = moved(endpoint);
      streakSinceMs = null;
    } else if (kind === 'disable' && endpoint.status === 'active') endpoint = disabledByHand(endpoint, nowMs);
    else if (kind === 'enable' && endpoint.status === 'disabled') enable(nowMs);
    else if (kind === 'redeliver' && endpoint.status === 'active') redeliver(nowMs);
  }

  function enable(nowMs: number): void {
    endpoint = enabledAgain(endpoint);
    streakSinceMs = null;
    for (const track of tracks) {
      if (!isDue(track.state, endpoint, nowMs)) continue;
      note('resumed');
      track.nextAtMs = awakeAt(nowMs);
    }
  }

  function redeliver(nowMs: number): void {
    const track = tracks.find(({ state }) => ['dead', 'delivered', 'retrying'].includes(state.status));
    if (track === undefined) return;
    const isNewRun = track.state.status !== 'retrying';
    note(isNewRun ? 'sent again' : 'hurried');
    if (isNewRun) beginRun(track, endpoint.run);
    track.state = stepDelivery(track.state, endpoint, { kind: 'redeliver' }, { nowMs, random }).delivery;
    hold(isDue(track.state, endpoint, nowMs), 'what is sent again is due now');
    track.nextAtMs = awakeAt(nowMs);
  }

  for (let events = 0; ; events += 1) {
    hold(events < EVENTS_MAX, 'every delivery comes to an end');
    const event = nextEvent();
    if (event === null) break;
    if (event.kind === 'act') act(event.act, event.atMs);
    else if (event.kind === 'maintenance') maintain(event.atMs);
    else if (event.track.state.status === 'sending') endAttempt(event.track, event.atMs);
    else begin(event.track, event.atMs);
  }
  hold(endpoint.status === 'disabled' || tracks.every(({ state }) => state.endedAtMs !== null), 'nothing is forgotten');
  return attempts;
}

function newTrack(createdAtMs: number, nextAtMs: number): Track {
  const account = { sentTo: 1, run: 1, runStartedAtMs: null, concluded: 0, steps: 0, ownFaults: 0 };
  return { state: newDelivery(createdAtMs), nextAtMs, ...account };
}

function beginRun(track: Track, run: number): void {
  Object.assign(track, { run, runStartedAtMs: null, concluded: 0, steps: 0, ownFaults: 0 });
}

function hold(isTrue: boolean, rule: string): void {
  if (!isTrue) throw new Error(`broken: ${rule}`);
}
