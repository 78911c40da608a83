/** Counts what the store alone sees of deliveries; what becomes of attempts, those count who make them. */

import type { DeliveryMeter } from '../delivery/meter.ts';
import type { DeliveryStore, WebhookStore, Work, WorkOutcome } from '../domain/webhook-store.ts';

type Cut = Extract<Work, { kind: 'cut' }>;

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
    async sweep(question) {
      const swept = await deliveries.sweep(question);
      meter.dead('expired', swept.expired);
      return swept;
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

function count(meter: DeliveryMeter, work: Work, outcome: WorkOutcome): void {
  if (work.kind === 'cut' && outcome.kind === 'claimed') countCut(meter, work);
  else if (work.kind === 'take' && outcome.kind === 'refused' && outcome.reason === 'expired') meter.dead('expired');
  else if (work.kind === 'lose' && outcome.kind === 'recorded' && outcome.deadReason !== null)
    meter.dead(outcome.deadReason);
}

function countCut(meter: DeliveryMeter, { lane, batches }: Cut): void {
  for (const { fate, eventIds } of batches) {
    if (lane.kind === 'replay') meter.replayEnqueued(eventIds.length);
    if (fate === 'too_large') meter.dead('too_large');
  }
}
