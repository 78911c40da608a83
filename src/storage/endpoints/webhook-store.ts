/** Implements WebhookStore on the queries of a store. */

import { setImmediate as turn } from 'node:timers/promises';
import { BUCKET_MS, HOUR_MS } from '../../domain/delivery/delivery-rows.ts';
import type { DescendingPage, EndpointFigures, WebhookStore } from '../../domain/delivery/webhook-store.ts';
import type { Endpoint } from '../../domain/endpoints/endpoint.ts';
import type { DeliveryWork } from '../delivery/work.ts';
import type { Queries, RunQuery } from '../queries.ts';
import { deliveryStatuses } from '../rows/codes.ts';
import { createOutboxes, findLeast, type LogSearch, type Outboxes } from './outboxes.ts';

export type WebhookStoreDeps = {
  readonly queries: Queries;
  readonly runQuery: RunQuery;
  readonly search: LogSearch;
  readonly tests: Pick<DeliveryWork, 'beginTest' | 'endTest'>;
};

/** Other work gets a turn after this many rows of a long list. */
const ROWS_AT_ONCE = 250;
const FIRST = { createdAtMs: -1, id: '' };

const AFTER_ALL = { atMs: Number.MAX_SAFE_INTEGER, id: '' };

const LATENCIES_MAX = 500;

export function createWebhookStore({ queries, runQuery, search, tests }: WebhookStoreDeps): WebhookStore {
  const { endpoints, endpointsChanges: changes } = queries;
  return {
    countEndpoints: async (organizationId) =>
      (await runQuery(changes.countEndpoints, { organizationId }))[0]?.count ?? 0,
    replay: async (endpointNumber, id) => (await runQuery(changes.findReplay, { endpointNumber, id }))[0] ?? null,
    countUnfinishedReplays: async (endpointNumber) =>
      (await runQuery(changes.countUnfinishedReplays, { endpointNumber }))[0]?.count ?? 0,
    ...createEndpointReader(queries, runQuery),
    attempts: (endpointNumber, page) => runQuery(endpoints.listAttempts, { endpointNumber, ...pageOf(page) }),
    delivery: async (endpointNumber, dispatchId) =>
      (await runQuery(endpoints.findDelivery, { endpointNumber, dispatchId }))[0] ?? null,
    attemptsOf: (endpointNumber, dispatchId, limit) =>
      runQuery(endpoints.listAttemptsOf, { endpointNumber, dispatchId, limit }),
    deadLetters: (endpointNumber, page) => runQuery(endpoints.listDead, { endpointNumber, ...pageOf(page) }),
    health: createHealth(queries, runQuery, createOutboxes(queries, runQuery, search)),
    matchEvents: search.matchEvents,
    beginTest: tests.beginTest,
    endTest: tests.endTest,
  };
}

/** Not through the writer thread, because senders wait for it. */
function createEndpointReader(
  { endpoints: { listEndpoints, findEndpoint } }: Queries,
  runQuery: RunQuery,
): Pick<WebhookStore, 'endpoints' | 'endpoint'> {
  return {
    async endpoints(organizationId, { after, limit }) {
      const max = limit ?? Number.POSITIVE_INFINITY;
      const found: Endpoint[] = [];
      for (let position = after ?? FIRST; ; await turn()) {
        const { createdAtMs, id } = position;
        const count = Math.min(max - found.length, ROWS_AT_ONCE);
        const rows = await runQuery(listEndpoints, { organizationId, createdAtMs, id, limit: count });
        found.push(...rows.map((row) => unpackEndpoint(row)));
        const last = rows.at(-1);
        if (last === undefined || rows.length < ROWS_AT_ONCE || found.length >= max) return found;
        position = last;
      }
    },
    async endpoint(organizationId, id) {
      const [row] = await runQuery(findEndpoint, { organizationId, id });
      return row === undefined ? null : unpackEndpoint(row);
    },
  };
}

/** Other members of the row are kept. */
export function unpackEndpoint<Row extends Pick<Endpoint, 'sqs'> & { readonly sqsSecret: Buffer | null }>(row: Row) {
  const { sqs, sqsSecret, ...rest } = row;
  return { ...rest, sqs: sqs && { ...sqs, secretAccessKey: sqsSecret } };
}

function pageOf({ after, limit }: DescendingPage) {
  return { ...(after ?? AFTER_ALL), limit };
}

function createHealth({ endpoints }: Queries, runQuery: RunQuery, outboxes: Outboxes): WebhookStore['health'] {
  return async (endpointNumber, nowMs): Promise<EndpointFigures> => {
    const sinceMs = nowMs - HOUR_MS;
    const hour = { sinceMs, untilMs: nowMs, bucket: Math.floor(sinceMs / BUCKET_MS) };
    // Read first: events that leave the outbox meanwhile are in a delivery when deliveries are read.
    const outbox = await outboxes.count(endpointNumber);
    const [figures] = await runQuery(endpoints.findFigures, { endpointNumber, ...hour, limit: LATENCIES_MAX });
    const unfinished = figures?.unfinished ?? [];
    const counts = new Map(unfinished.map(({ status, count }) => [deliveryStatuses.value(status), count]));
    const retrying = counts.get('retrying') ?? 0;
    const waiting = (counts.get('queued') ?? 0) + retrying;
    const isActive = figures?.status === 'active';
    const oldest = [outbox.oldestAtMs, figures?.oldestAtMs ?? null].filter((atMs) => atMs !== null);
    return {
      oldestUndeliveredAtMs: findLeast(oldest),
      dead: figures?.dead ?? 0,
      finished: figures?.finished ?? 0,
      succeeded: figures?.succeeded ?? 0,
      latenciesMs: (figures?.latencies ?? []).map(({ latencyMs }) => latencyMs),
      queuedEvents: outbox.events,
      retrying: isActive ? retrying : 0,
      held: isActive ? 0 : waiting,
      inFlight: counts.get('sending') ?? 0,
    };
  };
}
