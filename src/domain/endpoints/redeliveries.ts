/** Sends a delivery again. */

import type { Delivery } from '../delivery/delivery.ts';
import { stepDelivery } from '../delivery/delivery-step.ts';
import { type DeliveryView, isKept, viewDelivery } from '../delivery/delivery-view.ts';
import type { WebhookStore } from '../delivery/webhook-store.ts';
import { Fault } from '../fault.ts';
import { isPossibleId } from '../ids.ts';
import type { IdempotentCall, Target } from '../management/management-call.ts';
import { retentionStartMs } from '../retention-terms.ts';
import type { Endpoint } from './endpoint.ts';
import { commitIdempotentlyOnEndpoint, type EndpointDeps, endpointAction, requireActive } from './endpoint-deps.ts';

export type RedeliveryRequest = Target<IdempotentCall<DeliveryView>> & { readonly dispatchId: string };

/** Sends the same bytes under the same id. */
export function redeliver(deps: EndpointDeps, request: RedeliveryRequest): Promise<DeliveryView> {
  const { call, dispatchId } = request;
  const { nowMs } = call;
  return commitIdempotentlyOnEndpoint(deps, request, async (endpoint) => {
    const stored = await requireDelivery(deps.webhooks, endpoint, { dispatchId, nowMs });
    requireRedeliverable(stored, nowMs);
    requireActive(endpoint);
    if (stored.status === 'queued' || stored.status === 'sending') throw inProgress();
    const result = viewDelivery(redelivered(stored, endpoint, nowMs), endpoint, nowMs);
    const { number, fence } = stored;
    const redeliveries = [{ endpointNumber: endpoint.number, number, fence, atMs: nowMs }];
    return { result, change: { redeliveries }, audited: endpointAction('redeliver', endpoint) };
  });
}

type DeliveryLookup = { readonly dispatchId: string; readonly nowMs: number };

/** Throws webhook_delivery_not_found, also for a delivery past its retention. */
export async function requireDelivery(
  webhooks: WebhookStore,
  endpoint: Endpoint,
  { dispatchId, nowMs }: DeliveryLookup,
): Promise<Delivery> {
  const found = isPossibleId(dispatchId) ? await webhooks.delivery(endpoint.number, dispatchId) : null;
  if (found !== null && isKept(found.endedAtMs, nowMs)) return found;
  throw new Fault('webhook_delivery_not_found', 'Webhook delivery not found.');
}

/** The delivery as the store will record it. */
function redelivered(stored: Delivery, endpoint: Endpoint, nowMs: number): Delivery {
  const state = { ...endpoint, isArchived: false };
  const { delivery } = stepDelivery(stored, state, { kind: 'redeliver' }, { nowMs, random: () => 0 });
  return { ...stored, ...delivery };
}

/** Events past retention cannot be sent, even if they are not erased yet. */
function requireRedeliverable({ test, status, eventsFromMs }: Delivery, nowMs: number): void {
  if (!test && status !== 'cancelled' && eventsFromMs >= retentionStartMs(nowMs)) return;
  throw new Fault('webhook_delivery_not_redeliverable', 'This webhook delivery cannot be sent again.');
}

function inProgress(): Fault {
  return new Fault('webhook_delivery_in_progress', 'The webhook delivery is on its way already.');
}
