/** The two ports of webhooks on SQLite. */

import * as questions from '../../../../gen/storage/sqlite/all.ts';
import type { DeliveryStore, WebhookStore } from '../../../domain/webhook-store.ts';
import * as deliveries from '../../endpoints/delivery-store.ts';
import * as webhooks from '../../endpoints/webhook-store.ts';
import { createLogSearch } from '../../events/log-search.ts';
import { createAsk } from './ask.ts';
import type { Database, ReadLane } from './connection.ts';
import type { CallWriter } from './core.ts';
import type { Wake } from './wake.ts';

export type WebhookStoresDeps = {
  readonly reader: Database;
  /** For those who deliver. */
  readonly lane: ReadLane;
  /** For everybody else. */
  readonly pacedLane: ReadLane;
  readonly call: CallWriter;
  readonly wake: Wake;
};

/** Everybody who writes waits for a step of housekeeping to end. */
const SWEPT_MAX = 250;
/** Everybody in the process waits for a read to end. */
const SEARCHED_AT_ONCE = 5_000;

export function createWebhookStore({ reader, pacedLane, call }: WebhookStoresDeps): WebhookStore {
  const ask = createAsk(reader, pacedLane);
  return webhooks.createWebhookStore({
    questions,
    ask,
    search: createLogSearch({ questions: questions.events, ask }, SEARCHED_AT_ONCE),
    tests: {
      beginTest: (test, limit) => call('beginTest', test, limit),
      endTest: (test, verdict, nowMs) => call('endTest', test, verdict, nowMs),
    },
  });
}

export function createDeliveryStore({ reader, lane, call, wake }: WebhookStoresDeps): DeliveryStore {
  const ask = createAsk(reader, lane);
  return deliveries.createDeliveryStore({
    questions,
    ask,
    askAside: ask,
    search: createLogSearch({ questions: questions.events, ask }, SEARCHED_AT_ONCE),
    wake,
    work: {
      applyWork: (work, at) => call('applyWork', work, at),
      sweepDeliveries: (step) => call('sweepDeliveries', step),
    },
    sweptMax: SWEPT_MAX,
    nowMs: async () => null,
    // Only one process has the file open.
    isAlone: true,
  });
}
