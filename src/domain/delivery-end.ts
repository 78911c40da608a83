/** What the end of an attempt, or of a delivery, does to the rows of a transaction of work. */

import type { AttemptEnd, WorkDelivery, WorkEndpoint, WorkReplay } from './delivery-rows.ts';
import { type DeliveryEvent, type Stepped, stepDelivery } from './delivery-step.ts';
import type { WorkSet } from './delivery-work-set.ts';
import type { WorkOutcome } from './webhook-store.ts';

export type AttemptOver = {
  readonly endpoint: WorkEndpoint;
  readonly delivery: WorkDelivery;
  readonly event: Extract<DeliveryEvent, { kind: 'finish' | 'lose' }>;
  readonly end: Omit<AttemptEnd, 'outcome'>;
  readonly nowMs: number;
  readonly random: number;
};

type Recorded = Omit<Extract<WorkOutcome, { kind: 'recorded' }>, 'place'>;

/** How an attempt ended whose sender is lost. */
export const NEVER_HEARD_OF = {
  responseStatus: null,
  latencyMs: null,
  error: 'sender_lost',
  responseBody: null,
  terminalHint: false,
};

/** Records how an attempt ended, frees its slot, and lets the endpoint learn from it. */
export function recordEnd(set: WorkSet, over: AttemptOver): Recorded {
  const { endpoint, delivery, end, nowMs } = over;
  const stepped = stepOver(over);
  const { responseStatus, error, terminalHint } = end;
  set.endAttempt(delivery, { ...end, outcome: stepped.outcome });
  storeDelivery(set, { ...delivery, ...stepped.delivery, responseStatus, error, terminalHint }, nowMs);
  const isDisabled = stepped.endpoint.status !== endpoint.status;
  set.setEndpoint({
    ...endpoint,
    ...stepped.endpoint,
    inFlight: Math.max(0, endpoint.inFlight - 1),
    version: endpoint.version + (isDisabled ? 1 : 0),
  });
  return {
    kind: 'recorded',
    outcome: stepped.outcome,
    nextAtMs: stepped.delivery.dueAtMs,
    disabled: isDisabled ? automaticReason(stepped.endpoint.disabledReason) : null,
    deadReason: stepped.delivery.deadReason,
  };
}

function stepOver({ endpoint, delivery, event, nowMs, random }: AttemptOver) {
  const chance = { nowMs, random: () => random };
  const stepped = stepDelivery(delivery, endpoint, event, chance);
  const { outcome } = stepped;
  if (outcome === null) throw new Error('the end of an attempt has no outcome');
  if (!endpoint.isArchived || stepped.delivery.endedAtMs !== null) return { ...stepped, outcome };
  // Nobody tries again for an endpoint that is archived.
  const cancelled = stepDelivery(stepped.delivery, stepped.endpoint, { kind: 'cancel' }, chance);
  return { ...cancelled, outcome: 'terminal' as const };
}

function automaticReason(reason: Stepped['endpoint']['disabledReason']): Recorded['disabled'] {
  if (reason === 'manual' || reason === null) throw new Error('an attempt disables for no reason of its own');
  return reason;
}

/** Ends a delivery that waits. */
export function endDelivery(
  set: WorkSet,
  delivery: WorkDelivery,
  { kind, nowMs }: { readonly kind: 'cancel' | 'expire'; readonly nowMs: number },
): void {
  const endpoint = set.endpoint(delivery.endpointNumber);
  if (endpoint === undefined) throw new Error('a delivery has no endpoint');
  const { delivery: state } = stepDelivery(delivery, endpoint, { kind }, { nowMs, random: () => 0 });
  storeDelivery(set, { ...delivery, ...state }, nowMs);
}

function storeDelivery(set: WorkSet, delivery: WorkDelivery, nowMs: number): void {
  set.setDelivery({ ...delivery, counted: countForReplay(set, delivery, nowMs) });
}

/** Moves the progress of the replay on. What was delivered once stays so, whatever becomes of it when it is sent again. */
export function countForReplay(
  set: WorkSet,
  delivery: Pick<WorkDelivery, 'replayNumber' | 'counted' | 'eventCount' | 'status'>,
  nowMs: number,
): WorkDelivery['counted'] {
  const { replayNumber, counted, eventCount } = delivery;
  const status = delivery.status === 'delivered' || delivery.status === 'dead' ? delivery.status : null;
  if (replayNumber === null || status === null || counted === status || counted === 'delivered') return counted;
  const replay = set.replay(replayNumber);
  // It is removed some time after its end; its deliveries may be sent again for longer.
  if (replay === undefined) return counted;
  const dead = replay.dead - (counted === 'dead' ? eventCount : 0) + (status === 'dead' ? eventCount : 0);
  const delivered = replay.delivered + (status === 'delivered' ? eventCount : 0);
  set.setReplay(completeReplay({ ...replay, delivered, dead }, nowMs));
  return status;
}

/** What retention took before it was reached is not waited for. */
export function completeReplay(replay: WorkReplay, nowMs: number): WorkReplay {
  const isComplete = replay.position >= replay.toSeq && replay.delivered + replay.dead >= replay.enqueued;
  if (replay.status !== 'running' || !isComplete) return replay;
  return { ...replay, status: 'completed', completedAtMs: nowMs };
}
