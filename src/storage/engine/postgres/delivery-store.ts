/** The two ports of webhooks on PostgreSQL. */

import * as questions from '../../../../gen/storage/postgres/all.ts';
import type { DeliveryStore, WebhookStore } from '../../../domain/webhook-store.ts';
import { createDeliveryWork } from '../../delivery/work.ts';
import * as deliveries from '../../endpoints/delivery-store.ts';
import * as webhooks from '../../endpoints/webhook-store.ts';
import { createLogSearch } from '../../events/log-search.ts';
import { createAsk, createTransact } from './ask.ts';
import { type Lane, readClock } from './connection.ts';
import type { WakeUps } from './delivery-wake.ts';

export type DeliveryStoreDeps = {
  /** For those who deliver; nobody else waits for it. */
  readonly delivery: Lane;
  readonly reads: Lane;
  readonly wakeUps: WakeUps;
};

export function createDeliveryStore({
  delivery,
  reads,
  wakeUps,
}: DeliveryStoreDeps): DeliveryStore & { forget(): void } {
  return deliveries.createDeliveryStore({
    questions,
    ask: createAsk(delivery),
    askAside: createAsk(reads),
    search: searchWith(reads),
    wake: wakeUps,
    work: createDeliveryWork(questions, createTransact(delivery)),
    sweptMax: Number.POSITIVE_INFINITY,
    nowMs: () => readClock(delivery),
    isAlone: false,
  });
}

export type WebhookStoreDeps = Pick<DeliveryStoreDeps, 'delivery' | 'reads'>;

export function createWebhookStore({ delivery, reads }: WebhookStoreDeps): WebhookStore {
  return webhooks.createWebhookStore({
    questions,
    ask: createAsk(reads),
    search: searchWith(reads),
    tests: createDeliveryWork(questions, createTransact(delivery)),
  });
}

/** Nobody waits for the end of a long read. */
function searchWith(reads: Lane) {
  return createLogSearch({ questions: questions.events, ask: createAsk(reads) }, null);
}
