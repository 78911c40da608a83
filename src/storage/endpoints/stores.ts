/** The two ports of webhooks. */

import type { DeliveryStore, WebhookStore } from '../../domain/webhook-store.ts';
import type { DeliveryWork } from '../delivery/work.ts';
import type { Ask } from '../questions.ts';
import { createCounts } from './delivery-counts.ts';
import { createDeliveryLogReader } from './delivery-log.ts';
import { createDueLists } from './due-lists.ts';
import { createChangesReader } from './endpoint-changes.ts';
import { createHealthReader } from './endpoint-health.ts';
import { createEndpointReader } from './endpoint-reader.ts';
import { createLogReader } from './log-reader.ts';
import { createOutboxes, type LogSearch } from './outboxes.ts';

/** They are the same for every store. */
export type EndpointQuestions = Pick<
  typeof import('../../../gen/storage/sqlite/all.ts'),
  'endpoints' | 'endpointsChanges' | 'endpointsDue' | 'endpointsLog'
>;

type Deps = {
  readonly questions: EndpointQuestions;
  readonly ask: Ask;
  readonly search: LogSearch;
};

export type WebhookStoreDeps = Deps & {
  readonly tests: Pick<DeliveryWork, 'beginTest' | 'endTest'>;
};

export function createWebhookStore({ questions, ask, search, tests }: WebhookStoreDeps): WebhookStore {
  const { endpointsChanges: changes } = questions;
  return {
    countEndpoints: async (organizationId) => (await ask(changes.countEndpoints, { organizationId }))[0]?.count ?? 0,
    replay: async (endpointNumber, id) => (await ask(changes.findReplay, { endpointNumber, id }))[0] ?? null,
    countUnfinishedReplays: async (endpointNumber) =>
      (await ask(changes.countUnfinishedReplays, { endpointNumber }))[0]?.count ?? 0,
    ...createEndpointReader(questions.endpoints, ask),
    ...createDeliveryLogReader(questions.endpoints, ask),
    health: createHealthReader(questions, ask, createOutboxes(questions, ask, search)),
    matchEvents: search.matchEvents,
    beginTest: tests.beginTest,
    endTest: tests.endTest,
  };
}

export type DeliveryStoreDeps = Deps &
  Pick<DeliveryStore, 'nowMs' | 'isAlone'> & {
    /** Who listens learns of events and changes. */
    readonly wake: Pick<DeliveryStore, 'listen'> & { notify(): void };
    readonly work: Pick<DeliveryWork, 'applyWork' | 'sweepDeliveries'>;
    /** For what is only counted: nobody who delivers waits for it. */
    readonly askAside: Ask;
    /** Where others wait for a step of housekeeping, so many rows are enough for one. */
    readonly sweptMax: number;
  };

/** `forget` drops what is known of the log: a new connection may be to a database that was set back. */
export function createDeliveryStore(deps: DeliveryStoreDeps): DeliveryStore & { forget(): void } {
  const { questions, ask, askAside, search, wake, work, sweptMax, nowMs, isAlone } = deps;
  // Up to this number endpoints have been swept in this round; null: all have.
  let afterEndpoint: number | null = 0;
  return {
    nowMs,
    isAlone,
    listen: wake.listen,
    ...createLogReader(questions, ask),
    changes: createChangesReader(questions.endpoints, ask),
    due: createDueLists(questions, ask),
    counts: createCounts(questions, askAside, createOutboxes(questions, askAside, search)),
    async apply(pieces, at) {
      if (pieces.length === 0) return [];
      const outcomes = await work.applyWork(pieces, at);
      if (outcomes.some((outcome) => outcome.kind === 'recorded' && outcome.disabled !== null)) wake.notify();
      return outcomes;
    },
    async sweep(question) {
      const rowsMax = Math.min(question.rowsMax, sweptMax);
      const step = { question: { ...question, rowsMax }, afterEndpoint };
      const { next, isOver, disabled, expired } = await work.sweepDeliveries(step);
      afterEndpoint = next;
      if (disabled.length > 0) wake.notify();
      return { more: !isOver, disabled, expired };
    },
  };
}
