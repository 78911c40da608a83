/** Makes deliveries of a part of the log. */

import type { DeliveryState } from './delivery.ts';
import { completeReplay, countForReplay } from './delivery-end.ts';
import type { NewDelivery, WorkEndpoint } from './delivery-rows.ts';
import { stepDelivery } from './delivery-step.ts';
import type { WorkSet } from './delivery-work-set.ts';
import type { Claimed, NewBatch, Work } from './webhook-store.ts';

export type Cut = {
  readonly endpoint: WorkEndpoint;
  readonly work: Extract<Work, { kind: 'cut' }>;
  readonly nowMs: number;
};

/** Moves the lane on. Answers the batch that is sent now; null for none. Its slot is the caller's to take. */
export function cutBatches(set: WorkSet, cut: Cut): Claimed | null {
  moveLane(set, cut);
  let claimed: Claimed | null = null;
  for (const batch of cut.work.batches) {
    const row = addBatch(set, cut, batch);
    if (batch.fate === 'send') claimed = claimedOf(row, batch);
  }
  if (cut.work.lane.kind === 'replay') {
    const replay = set.replay(cut.work.lane.number);
    if (replay !== undefined) set.setReplay(completeReplay(replay, cut.nowMs));
  }
  return claimed;
}

function moveLane(set: WorkSet, { endpoint, work }: Cut): void {
  const { lane, toPosition, batches } = work;
  if (lane.kind === 'fresh') {
    set.setEndpoint({ ...endpoint, position: toPosition });
    return;
  }
  const replay = set.replay(lane.number);
  if (replay === undefined) return;
  const events = batches.reduce((sum, { eventIds }) => sum + eventIds.length, 0);
  set.setReplay({ ...replay, position: toPosition, enqueued: replay.enqueued + events });
}

function addBatch(set: WorkSet, cut: Cut, batch: NewBatch): NewDelivery {
  const { endpoint, work, nowMs } = cut;
  const replayNumber = work.lane.kind === 'replay' ? work.lane.number : null;
  const eventCount = batch.eventIds.length;
  const state = stateOf(batch, cut);
  const isTried = batch.fate !== 'wait';
  const row: NewDelivery = {
    ...state,
    number: set.nextDeliveryNumber(),
    endpointNumber: endpoint.number,
    dispatchId: batch.dispatchId,
    test: false,
    eventCount,
    replayNumber,
    counted: countForReplay(set, { replayNumber, counted: null, eventCount, status: state.status }, nowMs),
    firstAttemptAtMs: isTried ? nowMs : null,
    attemptId: isTried ? batch.attemptId : null,
    lastAttemptAtMs: isTried ? nowMs : null,
    responseStatus: null,
    error: batch.error,
    terminalHint: false,
    seqsJson: JSON.stringify(batch.seqs),
    eventIdsJson: JSON.stringify(batch.eventIds),
    eventsFromMs: batch.created.firstMs,
    eventsToMs: batch.created.lastMs,
    queuedAtMs: replayNumber === null ? batch.created.firstMs : nowMs,
    createdAtMs: nowMs,
  };
  set.addDelivery(row);
  if (isTried) addAttempt(set, row, { batch, nowMs });
  return row;
}

function stateOf({ fate }: NewBatch, { endpoint, work, nowMs }: Cut): DeliveryState {
  const waiting: DeliveryState = {
    status: 'queued',
    attempt: 0,
    failures: 0,
    lost: 0,
    ladderStartedAtMs: null,
    run: endpoint.run,
    fence: 0,
    dueAtMs: nowMs,
    endedAtMs: null,
    deadReason: null,
  };
  if (fate === 'wait') return waiting;
  if (fate === 'too_large') {
    return { ...waiting, status: 'dead', attempt: 1, dueAtMs: null, endedAtMs: nowMs, deadReason: 'too_large' };
  }
  const event = { kind: 'claim', leaseMs: work.leaseMs } as const;
  return stepDelivery(waiting, endpoint, event, { nowMs, random: () => 0 }).delivery;
}

function addAttempt(
  set: WorkSet,
  { number, endpointNumber, attempt }: NewDelivery,
  { batch, nowMs }: { readonly batch: NewBatch; readonly nowMs: number },
): void {
  const isSent = batch.fate === 'send';
  set.addAttempt({
    endpointNumber,
    firedAtMs: nowMs,
    id: batch.attemptId,
    deliveryNumber: number,
    attempt,
    outcome: isSent ? 'pending' : 'terminal',
    responseStatus: null,
    latencyMs: null,
    error: isSent ? null : batch.error,
    responseBody: null,
    terminalHint: false,
    test: false,
  });
}

function claimedOf(
  { number, dispatchId, attempt, fence, replayNumber }: NewDelivery,
  { seqs, created }: NewBatch,
): Claimed {
  return { number, dispatchId, attempt, fence, seqs, created, replay: replayNumber !== null };
}
