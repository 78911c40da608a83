/** What has to happen to endpoints and deliveries although nobody sends anything. */

import { giveUp } from '../../domain/delivery-step.ts';
import { endDelivery } from './record-end.ts';
import type { WorkSet } from './work-set.ts';

export type Housework =
  /** Of a waiting delivery: its endpoint is archived, or its events left retention. */
  | { readonly kind: 'cancel' | 'expire'; readonly deliveryNumber: number }
  /** Ends a streak of failures that has lasted for too long, if it still has. */
  | { readonly kind: 'give_up'; readonly endpointNumber: number };

/** Answers how many deliveries expired. */
export function applyHousework(set: WorkSet, work: readonly Housework[], nowMs: number): number {
  let expired = 0;
  for (const piece of work) {
    if (piece.kind === 'give_up') giveUpEndpoint(set, piece.endpointNumber, nowMs);
    else if (endWaiting(set, piece, nowMs) && piece.kind === 'expire') expired += 1;
  }
  return expired;
}

function giveUpEndpoint(set: WorkSet, endpointNumber: number, nowMs: number): void {
  const endpoint = set.endpoint(endpointNumber);
  if (endpoint === undefined) return;
  const state = giveUp(endpoint.state, nowMs);
  if (state !== endpoint.state) set.setEndpoint({ ...endpoint, state, version: endpoint.version + 1 });
}

function endWaiting(
  set: WorkSet,
  { kind, deliveryNumber }: Extract<Housework, { deliveryNumber: number }>,
  nowMs: number,
): boolean {
  const delivery = set.delivery(deliveryNumber);
  // A sender may have taken it since it was found.
  if (delivery?.state.status !== 'queued' && delivery?.state.status !== 'retrying') return false;
  endDelivery(set, delivery, { kind, nowMs });
  return true;
}
