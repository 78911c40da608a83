/** Creates deliveries from a range of the log. */

import type { DeliveryState } from './delivery.ts';
import { completeReplay, countForReplay } from './delivery-end.ts';
import type { EndpointRow, NewDeliveryRow } from './delivery-rows.ts';
import { stepDelivery } from './delivery-step.ts';
import type { LoadedRows } from './loaded-rows.ts';
import type { ClaimedDelivery, NewBatch, WorkItem } from './webhook-store.ts';

type Advance = {
  readonly endpoint: EndpointRow;
  readonly item: Extract<WorkItem, { kind: 'advance' }>;
  readonly nowMs: number;
};

/**
 * Advances the source and returns the batch whose first attempt starts now, or null. The caller counts that attempt as
 * in flight.
 */
export function advanceSource(rows: LoadedRows, advance: Advance): ClaimedDelivery | null {
  moveSource(rows, advance);
  let claimed: ClaimedDelivery | null = null;
  for (const batch of advance.item.batches) {
    const row = addBatch(rows, advance, batch);
    if (batch.disposition === 'send') claimed = claimedOf(row, batch);
  }
  if (advance.item.source.kind === 'replay') {
    const replay = rows.replay(advance.item.source.number);
    if (replay !== undefined) rows.setReplay(completeReplay(replay, advance.nowMs));
  }
  return claimed;
}

function moveSource(rows: LoadedRows, { endpoint, item }: Advance): void {
  const { source, toPosition, batches } = item;
  if (source.kind === 'live') {
    rows.setEndpoint({ ...endpoint, position: toPosition });
    return;
  }
  const replay = rows.replay(source.number);
  if (replay === undefined) return;
  const events = batches.reduce((sum, { eventIds }) => sum + eventIds.length, 0);
  rows.setReplay({ ...replay, position: toPosition, enqueued: replay.enqueued + events });
}

function addBatch(rows: LoadedRows, advance: Advance, batch: NewBatch): NewDeliveryRow {
  const { endpoint, item, nowMs } = advance;
  const replayNumber = item.source.kind === 'replay' ? item.source.number : null;
  const eventCount = batch.eventIds.length;
  const state = stateOf(batch, advance);
  const isTried = batch.disposition !== 'wait';
  const number = rows.nextDeliveryNumber();
  const row: NewDeliveryRow = {
    ...state,
    number,
    endpointNumber: endpoint.number,
    dispatchId: rows.takeDispatchId(batch.dispatchId, number),
    test: false,
    eventCount,
    replayNumber,
    counted: countForReplay(rows, { replayNumber, counted: null, eventCount, status: state.status }, nowMs),
    firstAttemptAtMs: isTried ? nowMs : null,
    attemptId: isTried ? batch.attemptId : null,
    lastAttemptAtMs: isTried ? nowMs : null,
    responseStatus: null,
    error: batch.error,
    terminalHint: false,
    seqs: batch.seqs,
    eventIds: batch.eventIds,
    eventsFromMs: batch.created.firstMs,
    eventsToMs: batch.created.lastMs,
    queuedAtMs: replayNumber === null ? batch.created.firstMs : nowMs,
    createdAtMs: nowMs,
  };
  rows.addDelivery(row);
  if (isTried) addAttempt(rows, row, { batch, nowMs });
  return row;
}

function stateOf({ disposition }: NewBatch, { endpoint, item, nowMs }: Advance): DeliveryState {
  const waiting: DeliveryState = {
    status: 'queued',
    attempt: 0,
    failures: 0,
    lost: 0,
    backoffStartedAtMs: null,
    run: endpoint.run,
    fence: 0,
    dueAtMs: nowMs,
    endedAtMs: null,
    deadReason: null,
  };
  if (disposition === 'wait') return waiting;
  if (disposition === 'too_large') {
    return { ...waiting, status: 'dead', attempt: 1, dueAtMs: null, endedAtMs: nowMs, deadReason: 'too_large' };
  }
  const event = { kind: 'claim', leaseMs: item.leaseMs } as const;
  return stepDelivery(waiting, endpoint, event, { nowMs, random: () => 0 }).delivery;
}

function addAttempt(
  rows: LoadedRows,
  { number, endpointNumber, attempt }: NewDeliveryRow,
  { batch, nowMs }: { readonly batch: NewBatch; readonly nowMs: number },
): void {
  const isSent = batch.disposition === 'send';
  rows.addAttempt({
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
  { number, dispatchId, attempt, fence, replayNumber }: NewDeliveryRow,
  { seqs, created }: NewBatch,
): ClaimedDelivery {
  return { number, dispatchId, attempt, fence, seqs, created, replay: replayNumber !== null };
}
