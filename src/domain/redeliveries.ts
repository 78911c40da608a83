/** Sending a delivery once more. */

import { auditRecord } from './audit.ts';
import type { Delivery } from './delivery.ts';
import { stepDelivery } from './delivery-step.ts';
import { type DeliveryView, isKept, viewDelivery } from './delivery-view.ts';
import type { Endpoint } from './endpoint.ts';
import {
  decideOnceOnEndpoint,
  type EndpointDeps,
  type EndpointTarget,
  requireActive,
  TARGET_TYPE,
} from './endpoint-deps.ts';
import { Fault } from './fault.ts';
import { isNameable, type ReceiptOf } from './management-call.ts';
import { retentionStartMs } from './page.ts';
import type { WebhookStore } from './webhook-store.ts';

export type RedeliveryWish = EndpointTarget & {
  readonly dispatchId: string;
  readonly receipt: ReceiptOf<DeliveryView>;
};

/** The same batch, byte for byte, under the same id. */
export function redeliver(deps: EndpointDeps, wish: RedeliveryWish): Promise<DeliveryView> {
  const { webhooks, random } = deps;
  const { call, id, dispatchId, receipt } = wish;
  const { actor, nowMs } = call;
  return decideOnceOnEndpoint(
    deps,
    { call, id },
    {
      receipt,
      async take(endpoint) {
        const stored = await requireDelivery(webhooks, endpoint, { dispatchId, nowMs });
        requireRedeliverable(stored, nowMs);
        requireActive(endpoint);
        if (stored.status === 'queued' || stored.status === 'sending') throw inProgress();
        const result = viewDelivery(sentAgain(stored, endpoint, nowMs), endpoint, nowMs);
        const { number, fence } = stored;
        const redeliveries = [{ endpointNumber: endpoint.number, number, fence, atMs: nowMs }];
        const deed = { action: `${TARGET_TYPE}.redeliver`, targetType: TARGET_TYPE, targetId: id };
        const audit = [auditRecord(actor, deed, { nowMs, random })];
        return { result, change: { redeliveries, audit } };
      },
    },
  );
}

export type DeliveryQuestion = { readonly dispatchId: string; readonly nowMs: number };

/** Throws webhook_delivery_not_found, also for one that ended too long ago. */
export async function requireDelivery(
  webhooks: WebhookStore,
  endpoint: Endpoint,
  { dispatchId, nowMs }: DeliveryQuestion,
): Promise<Delivery> {
  const found = isNameable(dispatchId) ? await webhooks.delivery(endpoint.number, dispatchId) : null;
  if (found !== null && isKept(found.endedAtMs, nowMs)) return found;
  throw new Fault('webhook_delivery_not_found', 'Webhook delivery not found.');
}

/** As the store records it. */
function sentAgain(stored: Delivery, endpoint: Endpoint, nowMs: number): Delivery {
  const state = { ...endpoint, isArchived: false };
  const { delivery } = stepDelivery(stored, state, { kind: 'redeliver' }, { nowMs, random: () => 0 });
  return { ...stored, ...delivery };
}

/** Events that left the log are out of reach at once, erased or not. */
function requireRedeliverable({ test, status, eventsFromMs }: Delivery, nowMs: number): void {
  if (!test && status !== 'cancelled' && eventsFromMs >= retentionStartMs(nowMs)) return;
  throw new Fault('webhook_delivery_not_redeliverable', 'This webhook delivery cannot be sent again.');
}

function inProgress(): Fault {
  return new Fault('webhook_delivery_in_progress', 'The webhook delivery is on its way already.');
}
