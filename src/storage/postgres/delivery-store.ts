/** The ports of webhooks, put together. */

import * as all from '../../../gen/storage/postgres/all.ts';
import type { DeliveryStore, WebhookStore } from '../../domain/webhook-store.ts';
import { createDeliveryWork, type DeliveryWork } from '../delivery/work.ts';
import { createDeliveryLogReader } from '../endpoints/delivery-log.ts';
import { createChangesReader } from '../endpoints/endpoint-changes.ts';
import { createHealthReader } from '../endpoints/endpoint-health.ts';
import { createEndpointReader } from '../endpoints/endpoint-reader.ts';
import type { ManagedWebhooks } from '../orm/management.ts';
import { createAsk, createAsking, createTransact } from './ask.ts';
import { readClock } from './clock.ts';
import type { Lane } from './connection.ts';
import { readCounts } from './delivery-counts.ts';
import { readDue } from './delivery-due.ts';
import { createDeliveryLog, matchEvents } from './delivery-log.ts';
import type { WakeUps } from './delivery-wake.ts';
import { countOutbox } from './outbox.ts';

const { endpoints: questions } = all;

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
  const work = createWork(delivery);
  /** Endpoints up to this number have been looked after; null: all have. */
  let afterEndpoint: number | null = 0;
  return {
    nowMs: () => readClock(delivery),
    listen: wakeUps.listen,
    changes: createChangesReader(questions, createAsk(delivery)),
    heads: log.heads,
    events: log.events,
    envelopes: log.envelopes,
    due: (endpointNumbers, question) => readDue(delivery, endpointNumbers, question),
    async apply(pieces, at) {
      const outcomes = await work.applyWork(pieces, at);
      if (outcomes.some((outcome) => outcome.kind === 'recorded' && outcome.disabled !== null)) wakeUps.notify();
      return outcomes;
    },
    async sweep(question) {
      const { next, isOver, disabled, expired } = await work.sweepDeliveries({ question, afterEndpoint });
      afterEndpoint = next;
      if (disabled.length > 0) wakeUps.notify();
      return { more: !isOver, disabled, expired };
    },
    counts: () => readCounts(reads),
    isAlone: false,
    forget: log.forget,
  };
}

export type WebhookStoreDeps = Pick<DeliveryStoreDeps, 'delivery' | 'reads'> & { readonly managed: ManagedWebhooks };

export function createWebhookStore({ delivery, reads, managed }: WebhookStoreDeps): WebhookStore {
  const ask = createAsk(reads);
  const work = createWork(delivery);
  return {
    ...managed,
    ...createEndpointReader(questions, ask),
    ...createDeliveryLogReader(questions, ask),
    health: createHealthReader({ questions, ask, countOutbox: (endpointNumber) => countOutbox(reads, endpointNumber) }),
    matchEvents: (organizationNumber, question) => matchEvents(reads, organizationNumber, question),
    beginTest: work.beginTest,
    endTest: work.endTest,
  };
}

function createWork(lane: Lane): DeliveryWork {
  return createDeliveryWork({ ...createAsking(lane, all), transact: createTransact(lane) });
}
