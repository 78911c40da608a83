/** What housekeeping does to the rows of deliveries that nobody looks after any more, and of endpoints that fail for too long. */

import { endDelivery, NEVER_HEARD_OF, recordEnd } from './delivery-end.ts';
import type { WorkDelivery } from './delivery-rows.ts';
import { giveUp } from './delivery-step.ts';
import type { WorkSet } from './delivery-work-set.ts';

export type Housework =
  /** Of a delivery that waits: its endpoint is archived, or its events left retention. An archived one's lost ones end too. */
  | { readonly kind: 'cancel' | 'expire'; readonly endpointNumber: number; readonly number: number }
  /** Ends a streak of failures that has lasted for too long, if it still has. */
  | { readonly kind: 'give_up'; readonly endpointNumber: number };

/** Answers how many deliveries expired. */
export function applyHousework(set: WorkSet, work: readonly Housework[], nowMs: number): number {
  let expired = 0;
  for (const piece of work) {
    if (piece.kind === 'give_up') giveUpEndpoint(set, piece.endpointNumber, nowMs);
    else if (endUnended(set, piece, nowMs) && piece.kind === 'expire') expired += 1;
  }
  return expired;
}

function giveUpEndpoint(set: WorkSet, endpointNumber: number, nowMs: number): void {
  const endpoint = set.endpoint(endpointNumber);
  if (endpoint === undefined) return;
  const state = giveUp(endpoint, nowMs);
  if (state !== endpoint) set.setEndpoint({ ...endpoint, ...state, version: endpoint.version + 1 });
}

function endUnended(
  set: WorkSet,
  { kind, number }: Extract<Housework, { kind: 'cancel' | 'expire' }>,
  nowMs: number,
): boolean {
  const delivery = set.delivery(number);
  if (kind === 'cancel' && delivery?.status === 'sending') return endLost(set, delivery, nowMs);
  // A sender may have taken it since it was found.
  if (delivery?.status !== 'queued' && delivery?.status !== 'retrying') return false;
  endDelivery(set, delivery, { kind, nowMs });
  return true;
}

/** Those who deliver look after archived endpoints no more, so nobody else would take over from a lost sender. */
function endLost(set: WorkSet, delivery: WorkDelivery, nowMs: number): boolean {
  const endpoint = set.endpoint(delivery.endpointNumber);
  const { dueAtMs } = delivery;
  if (endpoint?.isArchived !== true || dueAtMs === null || dueAtMs > nowMs) return false;
  recordEnd(set, { endpoint, delivery, event: { kind: 'lose' }, end: NEVER_HEARD_OF, nowMs, random: 0 });
  return true;
}
