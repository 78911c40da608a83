/** Deliveries that are sent once more. */

import { type EntityManager, type InferEntity, LockMode } from '@mikro-orm/core';
import type { DeliveryState } from '../../domain/delivery.ts';
import { stepDelivery } from '../../domain/delivery-step.ts';
import type { Redelivery } from '../../domain/webhook-store.ts';
import { WebhookDelivery } from '../tables/endpoints.ts';
import type { HeldEndpoint } from './webhooks.ts';

const REDELIVERABLE: ReadonlySet<DeliveryState['status']> = new Set(['retrying', 'dead', 'delivered']);

/** False, and nothing is changed, when the delivery is not as it was read. */
export async function redeliver(
  tx: EntityManager,
  { endpointNumber, number, fence, atMs }: Redelivery,
  { row, state }: HeldEndpoint,
): Promise<boolean> {
  const delivery = await tx.findOne(
    WebhookDelivery,
    { endpointNumber, number, fence, test: false },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (delivery === null) return false;
  const before = toState(delivery);
  if (!REDELIVERABLE.has(before.status)) return false;
  const endpoint = {
    status: row.status,
    disabledReason: row.disabledReason,
    disabledAtMs: row.disabledAtMs,
    destinationVersion: row.destinationVersion,
    run: row.run,
    isArchived: false,
    failingSinceMs: state.failingSinceMs,
    lastSuccessAtMs: state.lastSuccessAtMs,
    lastFailureAtMs: state.lastFailureAtMs,
    consecutiveFailures: state.consecutiveFailures,
  };
  const stepped = stepDelivery(before, endpoint, { kind: 'redeliver' }, { nowMs: atMs, random: () => 0 });
  await tx.nativeUpdate(WebhookDelivery, { number }, stepped.delivery);
  return true;
}

function toState(row: InferEntity<typeof WebhookDelivery>): DeliveryState {
  return {
    status: row.status,
    attempt: row.attempt,
    failures: row.failures,
    lost: row.lost,
    ladderStartedAtMs: row.ladderStartedAtMs,
    run: row.run,
    fence: row.fence,
    dueAtMs: row.dueAtMs,
    endedAtMs: row.endedAtMs,
    deadReason: row.deadReason,
  };
}
