/** The two ports of webhooks on SQLite. */

import * as questions from '../../../../gen/storage/sqlite/all.ts';
import type { DeliveryStore, WebhookStore } from '../../../domain/webhook-store.ts';
import * as deliveries from '../../endpoints/delivery-store.ts';
import * as webhooks from '../../endpoints/webhook-store.ts';
import { createAsk } from './ask.ts';
import type { Database, ReadLane } from './connection.ts';
import type { CallWriter } from './core.ts';
import { prepareLogSearch } from './log-search.ts';
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

export function createWebhookStore({ reader, pacedLane, call }: WebhookStoresDeps): WebhookStore {
  return webhooks.createWebhookStore({
    questions,
    ask: createAsk(reader, pacedLane),
    search: prepareLogSearch(reader, pacedLane),
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
    search: prepareLogSearch(reader, lane),
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
