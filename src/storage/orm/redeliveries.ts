/** Deliveries that are sent once more. */

import { type EntityManager, type InferEntity, LockMode } from '@mikro-orm/core';
import type { DeliveryState } from '../../domain/delivery.ts';
import { stepDelivery } from '../../domain/delivery-step.ts';
import type { Redelivery } from '../../domain/webhook-store.ts';
import { deadReasons, deliveryStatuses } from '../rows/webhook-codes.ts';
import { type HeldEndpoint, WebhookDelivery } from './webhooks.ts';

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
    disabledReason: row.disabledReason ?? null,
    disabledAtMs: row.disabledAt ?? null,
    destinationVersion: row.destinationVersion,
    run: row.run,
    isArchived: false,
    failingSinceMs: state.failingSince ?? null,
    lastSuccessAtMs: state.lastSuccessAt ?? null,
    lastFailureAtMs: state.lastFailureAt ?? null,
    consecutiveFailures: state.consecutiveFailures,
  };
  const stepped = stepDelivery(before, endpoint, { kind: 'redeliver' }, { nowMs: atMs, random: () => 0 });
  await tx.nativeUpdate(WebhookDelivery, { number }, toRow(stepped.delivery));
  return true;
}

function toState(row: InferEntity<typeof WebhookDelivery>): DeliveryState {
  return {
    status: deliveryStatuses.word(row.status),
    attempt: row.attempt,
    failures: row.failures,
    lost: row.lost,
    ladderStartedAtMs: row.ladderStartedAt ?? null,
    run: row.run,
    fence: row.fence,
    dueAtMs: row.dueAt ?? null,
    endedAtMs: row.endedAt ?? null,
    deadReason: typeof row.deadReason === 'number' ? deadReasons.word(row.deadReason) : null,
  };
}

function toRow(state: DeliveryState) {
  const { status, ladderStartedAtMs, dueAtMs, endedAtMs, deadReason, ...rest } = state;
  return {
    ...rest,
    status: deliveryStatuses.code(status),
    ladderStartedAt: ladderStartedAtMs,
    dueAt: dueAtMs,
    endedAt: endedAtMs,
    deadReason: deadReason === null ? null : deadReasons.code(deadReason),
  };
}
