/** How the end of an attempt or of a delivery changes the loaded rows. */

import type { AttemptReport } from './delivery.ts';
import type { DeliveryRow, EndpointRow, ReplayRow } from './delivery-rows.ts';
import { type DeliveryEvent, type Stepped, stepDelivery } from './delivery-step.ts';
import type { LoadedRows } from './loaded-rows.ts';
import type { WorkOutcome } from './webhook-store.ts';

type AttemptEnding = {
  readonly endpoint: EndpointRow;
  readonly delivery: DeliveryRow;
  readonly event: Extract<DeliveryEvent, { kind: 'finish' | 'lose' }>;
  readonly end: AttemptReport;
  readonly nowMs: number;
  readonly random: number;
};

type Recorded = Omit<Extract<WorkOutcome, { kind: 'recorded' }>, 'snapshot'>;

/** An attempt that has shown nothing yet. */
export const NO_REPORT: AttemptReport = {
  responseStatus: null,
  latencyMs: null,
  error: null,
  responseBody: null,
  terminalHint: false,
};

/** The result stored for an attempt whose sender never reported one. */
export const LOST_ATTEMPT: AttemptReport = { ...NO_REPORT, error: 'sender_lost' };

/** Records the result of an attempt, frees its slot and updates the health of the endpoint. */
export function recordAttemptEnd(rows: LoadedRows, ending: AttemptEnding): Recorded {
  const { endpoint, delivery, end, nowMs } = ending;
  const stepped = stepEnding(ending);
  const { responseStatus, error, terminalHint } = end;
  rows.endAttempt(delivery, { ...end, outcome: stepped.outcome });
  storeDelivery(rows, { ...delivery, ...stepped.delivery, responseStatus, error, terminalHint }, nowMs);
  const isDisabled = stepped.endpoint.status !== endpoint.status;
  rows.setEndpoint({
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

function stepEnding({ endpoint, delivery, event, nowMs, random }: AttemptEnding) {
  const chance = { nowMs, random: () => random };
  const stepped = stepDelivery(delivery, endpoint, event, chance);
  const { outcome } = stepped;
  if (outcome === null) throw new Error('the end of an attempt has no outcome');
  if (!endpoint.isArchived || stepped.delivery.endedAtMs !== null) return { ...stepped, outcome };
  // An archived endpoint gets no retries.
  const cancelled = stepDelivery(stepped.delivery, stepped.endpoint, { kind: 'cancel' }, chance);
  return { ...cancelled, outcome: 'terminal' as const };
}

function automaticReason(reason: Stepped['endpoint']['disabledReason']): Recorded['disabled'] {
  if (reason === 'manual' || reason === null) throw new Error('an attempt disables for no reason of its own');
  return reason;
}

/** Ends a waiting delivery. */
export function endDelivery(
  rows: LoadedRows,
  delivery: DeliveryRow,
  { kind, nowMs }: { readonly kind: 'cancel' | 'expire'; readonly nowMs: number },
): void {
  const endpoint = rows.endpoint(delivery.endpointNumber);
  if (endpoint === undefined) throw new Error('a delivery has no endpoint');
  const { delivery: state } = stepDelivery(delivery, endpoint, { kind }, { nowMs, random: () => 0 });
  storeDelivery(rows, { ...delivery, ...state }, nowMs);
}

function storeDelivery(rows: LoadedRows, delivery: DeliveryRow, nowMs: number): void {
  rows.setDelivery({ ...delivery, counted: countForReplay(rows, delivery, nowMs) });
}

/**
 * Updates the counters of the delivery's replay. A delivery that counted as delivered keeps that, even when a
 * redelivery fails.
 */
export function countForReplay(
  rows: LoadedRows,
  delivery: Pick<DeliveryRow, 'replayNumber' | 'counted' | 'eventCount' | 'status'>,
  nowMs: number,
): DeliveryRow['counted'] {
  const { replayNumber, counted, eventCount } = delivery;
  const status = delivery.status === 'delivered' || delivery.status === 'dead' ? delivery.status : null;
  if (replayNumber === null || status === null || counted === status || counted === 'delivered') return counted;
  const replay = rows.replay(replayNumber);
  // Replays are removed before their deliveries, which can still be redelivered.
  if (replay === undefined) return counted;
  const dead = replay.dead - (counted === 'dead' ? eventCount : 0) + (status === 'dead' ? eventCount : 0);
  const delivered = replay.delivered + (status === 'delivered' ? eventCount : 0);
  rows.setReplay(completeReplay({ ...replay, delivered, dead }, nowMs));
  return status;
}

/** Events that retention removed before the replay reached them do not keep it running. */
export function completeReplay(replay: ReplayRow, nowMs: number): ReplayRow {
  const isComplete = replay.position >= replay.toSeq && replay.delivered + replay.dead >= replay.enqueued;
  if (replay.status !== 'running' || !isComplete) return replay;
  return { ...replay, status: 'completed', completedAtMs: nowMs };
}
