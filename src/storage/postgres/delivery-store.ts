/** The ports of webhooks, put together. */

import * as questions from '../../../gen/storage/postgres/endpoints.ts';
import type { DeliveryStore, WebhookStore } from '../../domain/webhook-store.ts';
import { createDeliveryLogReader } from '../endpoints/delivery-log.ts';
import { createChangesReader } from '../endpoints/endpoint-changes.ts';
import { createHealthReader } from '../endpoints/endpoint-health.ts';
import { createEndpointReader } from '../endpoints/endpoint-reader.ts';
import type { ManagedWebhooks } from '../orm/management.ts';
import { createAsk } from './ask.ts';
import { readClock } from './clock.ts';
import type { Lane } from './connection.ts';
import { createApply } from './delivery-apply.ts';
import { readCounts } from './delivery-counts.ts';
import { readDue } from './delivery-due.ts';
import { createDeliveryLog, matchEvents } from './delivery-log.ts';
import { createSweep } from './delivery-sweep.ts';
import type { WakeUps } from './delivery-wake.ts';
import { countOutbox } from './outbox.ts';
import { beginTest, endTest } from './webhook-tests.ts';

export type DeliveryStoreDeps = {
  /** For those who deliver; nobody else waits for it. */
  readonly delivery: Lane;
  readonly reads: Lane;
  readonly wakeUps: WakeUps;
};

/** `forget` drops what is known of the log: a new connection may be to a database that was set back. */
export function createDeliveryStore({
  delivery,
  reads,
  wakeUps,
}: DeliveryStoreDeps): DeliveryStore & { forget(): void } {
  const log = createDeliveryLog(delivery);
  return {
    nowMs: () => readClock(delivery),
    listen: wakeUps.listen,
    changes: createChangesReader(questions, createAsk(delivery)),
    heads: log.heads,
    events: log.events,
    envelopes: log.envelopes,
    due: (endpointNumbers, question) => readDue(delivery, endpointNumbers, question),
    apply: createApply({ lane: delivery, notify: wakeUps.notify }),
    sweep: createSweep({ lane: delivery, notify: wakeUps.notify }),
    counts: () => readCounts(reads),
    isAlone: false,
    forget: log.forget,
  };
}

export type WebhookStoreDeps = Pick<DeliveryStoreDeps, 'delivery' | 'reads'> & { readonly managed: ManagedWebhooks };

export function createWebhookStore({ delivery, reads, managed }: WebhookStoreDeps): WebhookStore {
  const ask = createAsk(reads);
  return {
    ...managed,
    ...createEndpointReader(questions, ask),
    ...createDeliveryLogReader(questions, ask),
    health: createHealthReader({ questions, ask, countOutbox: (endpointNumber) => countOutbox(reads, endpointNumber) }),
    matchEvents: (organizationNumber, question) => matchEvents(reads, organizationNumber, question),
    beginTest: (test, limit) => beginTest(delivery, test, limit),
    endTest: (test, verdict, nowMs) => endTest(delivery, test, { verdict, nowMs }),
  };
}
