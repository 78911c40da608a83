/** The two ports of webhooks on SQLite. */

import * as questions from '../../../gen/storage/sqlite/endpoints.ts';
import type { DeliveryStore, WebhookStore } from '../../domain/webhook-store.ts';
import { createDeliveryLogReader } from '../endpoints/delivery-log.ts';
import { createEndpointReader } from '../endpoints/endpoint-reader.ts';
import { createManagedWebhooks } from '../management-store.ts';
import { createAsk } from './ask.ts';
import type { Database } from './connection.ts';
import { prepareDeliveryReader } from './delivery-reader.ts';
import { prepareHealthReader } from './endpoint-health.ts';
import type { ReadLane } from './read-lane.ts';
import type { Wake } from './wake.ts';
import type { CallWriter } from './writer.ts';

export type WebhookStoresDeps = {
  readonly reader: Database;
  /** For those who deliver. */
  readonly lane: ReadLane;
  /** For everybody else. */
  readonly pacedLane: ReadLane;
  readonly call: CallWriter;
  readonly wake: Wake;
};

export function createWebhookStore({ reader, pacedLane, call }: WebhookStoresDeps): WebhookStore {
  const ask = createAsk(reader, pacedLane);
  return {
    ...createManagedWebhooks(call),
    ...createEndpointReader(questions, ask),
    ...createDeliveryLogReader(questions, ask),
    ...prepareHealthReader(reader, pacedLane),
    beginTest: (test, limit) => call('beginTest', test, limit),
    endTest: (test, verdict, nowMs) => call('endTest', test, verdict, nowMs),
  };
}

/** Everybody who writes waits for a step to end. */
const SWEPT_AT_ONCE = 250;

export function createDeliveryStore({ reader, lane, call, wake }: WebhookStoresDeps): DeliveryStore {
  // Up to this number endpoints have been swept in this round; null: all have.
  let sweptEndpoint: number | null = 0;
  return {
    ...prepareDeliveryReader(reader, lane),
    nowMs: async () => null,
    listen: wake.listen,
    async apply(work, at) {
      const outcomes = await call('applyWork', work, at);
      if (outcomes.some((outcome) => outcome.kind === 'recorded' && outcome.disabled !== null)) wake.notify();
      return outcomes;
    },
    async sweep(question) {
      const rowsMax = Math.min(question.rowsMax, SWEPT_AT_ONCE);
      const step = { question: { ...question, rowsMax }, afterEndpoint: sweptEndpoint };
      const { next, isOver, disabled, expired } = await call('sweepDeliveries', step);
      sweptEndpoint = next;
      if (disabled.length > 0) wake.notify();
      return { more: !isOver, disabled, expired };
    },
    // Only one process has the file open.
    isAlone: true,
  };
}
