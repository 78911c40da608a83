/** What has to happen to endpoints and deliveries although nobody sends anything. */

import { giveUp } from '../../domain/delivery-step.ts';
import { endDelivery, NEVER_HEARD_OF, recordEnd } from './record-end.ts';
import type { WorkDelivery } from './tables.ts';
import type { WorkSet } from './work-set.ts';

export type Housework =
  /** Of a delivery that waits: its endpoint is archived, or its events left retention. An archived one's lost ones end too. */
  | { readonly kind: 'cancel' | 'expire'; readonly deliveryNumber: number }
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
  const state = giveUp(endpoint.state, nowMs);
  if (state !== endpoint.state) set.setEndpoint({ ...endpoint, state, version: endpoint.version + 1 });
}

function endUnended(
  set: WorkSet,
  { kind, deliveryNumber }: Extract<Housework, { deliveryNumber: number }>,
  nowMs: number,
): boolean {
  const delivery = set.delivery(deliveryNumber);
  if (kind === 'cancel' && delivery?.state.status === 'sending') return endLost(set, delivery, nowMs);
  // A sender may have taken it since it was found.
  if (delivery?.state.status !== 'queued' && delivery?.state.status !== 'retrying') return false;
  endDelivery(set, delivery, { kind, nowMs });
  return true;
}

/** Those who deliver look after archived endpoints no more, so nobody else would take over from a lost sender. */
function endLost(set: WorkSet, delivery: WorkDelivery, nowMs: number): boolean {
  const endpoint = set.endpoint(delivery.endpointNumber);
  const { dueAtMs } = delivery.state;
  if (endpoint?.state.isArchived !== true || dueAtMs === null || dueAtMs > nowMs) return false;
  recordEnd(set, { endpoint, delivery, event: { kind: 'lose' }, end: NEVER_HEARD_OF, nowMs, random: 0 });
  return true;
}
