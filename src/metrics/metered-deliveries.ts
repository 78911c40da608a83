/** Counts outcomes of deliveries that only the store knows; attempts are counted by their sender. */

import type { DeliveryMeter } from '../delivery/meter.ts';
import type { DeliveryStore, WebhookStore, WorkItem, WorkOutcome } from '../domain/delivery/webhook-store.ts';

type Advance = Extract<WorkItem, { kind: 'advance' }>;

export function meterDeliveries(deliveries: DeliveryStore, meter: DeliveryMeter): DeliveryStore {
  return {
    ...deliveries,
    async apply(work, at) {
      const outcomes = await deliveries.apply(work, at);
      for (const [index, outcome] of outcomes.entries()) {
        const piece = work[index];
        if (piece !== undefined) count(meter, piece, outcome);
      }
      return outcomes;
    },
    async maintain(question) {
      const maintained = await deliveries.maintain(question);
      meter.dead('expired', maintained.expired);
      return maintained;
    },
  };
}

export function meterWebhooks(webhooks: WebhookStore, meter: DeliveryMeter): WebhookStore {
  return {
    ...webhooks,
    endTest(test, verdict, nowMs) {
      meter.test(verdict.kind === 'success');
      return webhooks.endTest(test, verdict, nowMs);
    },
  };
}

function count(meter: DeliveryMeter, work: WorkItem, outcome: WorkOutcome): void {
  if (work.kind === 'advance' && outcome.kind === 'claimed') countAdvance(meter, work);
  else if (work.kind === 'claim' && outcome.kind === 'refused' && outcome.reason === 'expired') meter.dead('expired');
  else if (work.kind === 'lose' && outcome.kind === 'recorded' && outcome.deadReason !== null)
    meter.dead(outcome.deadReason);
}

function countAdvance(meter: DeliveryMeter, { source, batches }: Advance): void {
  for (const { disposition, eventIds } of batches) {
    if (source.kind === 'replay') meter.replayEnqueued(eventIds.length);
    if (disposition === 'too_large') meter.dead('too_large');
  }
}
