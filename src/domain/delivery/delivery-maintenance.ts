/**
 * How maintenance ends deliveries that cannot be sent any more, and disables endpoints that have failed for too long.
 */

import { endDelivery, LOST_ATTEMPT, recordAttemptEnd } from './delivery-end.ts';
import type { DeliveryRow } from './delivery-rows.ts';
import { correctDueAt, disableFailing } from './delivery-step.ts';
import type { LoadedRows } from './loaded-rows.ts';

export type MaintenanceItem =
  /**
   * `cancel`: the endpoint is archived; this also ends deliveries whose sender is lost. `expire`: the events left
   * retention.
   */
  | { readonly kind: 'cancel' | 'expire'; readonly endpointNumber: number; readonly number: number }
  /** Corrects a due time that was set by a clock which was ahead. */
  | { readonly kind: 'correct'; readonly endpointNumber: number; readonly number: number }
  /** Disables the endpoint, if its streak of failures is still too long. */
  | { readonly kind: 'give_up'; readonly endpointNumber: number };

/** Returns how many deliveries expired. */
export function applyMaintenance(rows: LoadedRows, items: readonly MaintenanceItem[], nowMs: number): number {
  let expired = 0;
  for (const item of items) {
    if (item.kind === 'give_up') disableEndpoint(rows, item.endpointNumber, nowMs);
    else if (item.kind === 'correct') correctDelivery(rows, item.number, nowMs);
    else if (endWaiting(rows, item, nowMs) && item.kind === 'expire') expired += 1;
  }
  return expired;
}

function disableEndpoint(rows: LoadedRows, endpointNumber: number, nowMs: number): void {
  const endpoint = rows.endpoint(endpointNumber);
  if (endpoint === undefined) return;
  const state = disableFailing(endpoint, nowMs);
  if (state !== endpoint) rows.setEndpoint({ ...endpoint, ...state, version: endpoint.version + 1 });
}

function correctDelivery(rows: LoadedRows, number: number, nowMs: number): void {
  const delivery = rows.delivery(number);
  if (delivery === undefined || delivery.endedAtMs !== null) return;
  const { status, lastAttemptAtMs } = delivery;
  const dueAtMs = correctDueAt(delivery, { lastAttemptAtMs, nowMs });
  // With an attempt in the future, the next run would shorten the wait once more. Of an attempt under way, the instant is
  // the key of its row.
  const isOver = status !== 'sending' && lastAttemptAtMs !== null;
  rows.setDelivery({
    ...delivery,
    dueAtMs,
    lastAttemptAtMs: isOver ? Math.min(lastAttemptAtMs, nowMs) : lastAttemptAtMs,
  });
}

function endWaiting(
  rows: LoadedRows,
  { kind, number }: Extract<MaintenanceItem, { kind: 'cancel' | 'expire' }>,
  nowMs: number,
): boolean {
  const delivery = rows.delivery(number);
  if (kind === 'cancel' && delivery?.status === 'sending') return endLost(rows, delivery, nowMs);
  // A sender may have claimed the delivery since maintenance found it.
  if (delivery?.status !== 'queued' && delivery?.status !== 'retrying') return false;
  endDelivery(rows, delivery, { kind, nowMs });
  return true;
}

/** Dispatchers skip archived endpoints, so none of them would take over from a lost sender. */
function endLost(rows: LoadedRows, delivery: DeliveryRow, nowMs: number): boolean {
  const endpoint = rows.endpoint(delivery.endpointNumber);
  const { dueAtMs } = delivery;
  if (endpoint?.isArchived !== true || dueAtMs === null || dueAtMs > nowMs) return false;
  recordAttemptEnd(rows, { endpoint, delivery, event: { kind: 'lose' }, end: LOST_ATTEMPT, nowMs, random: 0 });
  return true;
}
