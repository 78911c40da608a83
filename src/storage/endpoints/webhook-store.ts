/** Implements WebhookStore over the room of management, and WebhookLog over the log. */

import { setImmediate as turn } from 'node:timers/promises';
import { BUCKET_MS, HOUR_MS } from '../../domain/delivery/delivery-rows.ts';
import type { EndpointFigures, WebhookLog, WebhookStore } from '../../domain/delivery/webhook-store.ts';
import type { Endpoint } from '../../domain/endpoints/endpoint.ts';
import type { DeliveryWork } from '../delivery/work.ts';
import type { WebhookRoom } from '../management/endpoints.ts';
import type { Queries, QueryRunner, RunQuery } from '../transaction.ts';
import { createOutboxes, findLeast, type LogSearch, type Outboxes } from './outboxes.ts';

export type WebhookLogDeps = {
  readonly room: Pick<WebhookRoom, 'figures'>;
  readonly queries: Queries;
  readonly runQuery: RunQuery;
  readonly search: LogSearch;
  readonly tests: Pick<DeliveryWork, 'beginTest' | 'endTest'>;
};

/** Other work gets a turn after this many rows of a long list. */
const ROWS_AT_ONCE = 250;
const FIRST = { createdAtMs: -1, id: '' };

const LATENCIES_MAX = 500;

/** Reads endpoints not through the writer thread, because senders wait for it. */
export function createWebhookStore(
  room: WebhookRoom,
  { queries, runQuery }: Pick<QueryRunner, 'queries' | 'runQuery'>,
): WebhookStore {
  const { listEndpoints, findEndpoint } = queries.endpoints;
  const { figures: _, ...served } = room;
  return {
    ...served,
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

export function createWebhookLog({ room, queries, runQuery, search, tests }: WebhookLogDeps): WebhookLog {
  return {
    health: createHealth(room, createOutboxes(queries, runQuery, search)),
    matchEvents: search.matchEvents,
    beginTest: tests.beginTest,
    endTest: tests.endTest,
  };
}

function createHealth({ figures }: WebhookLogDeps['room'], outboxes: Outboxes): WebhookLog['health'] {
  return async (endpointNumber, nowMs): Promise<EndpointFigures> => {
    const sinceMs = nowMs - HOUR_MS;
    const hour = { sinceMs, untilMs: nowMs, bucket: Math.floor(sinceMs / BUCKET_MS), limit: LATENCIES_MAX };
    // Read first: events that leave the outbox meanwhile are in a delivery when deliveries are read.
    const outbox = await outboxes.count(endpointNumber);
    const { isActive, oldestAtMs, unfinished, ...found } = await figures(endpointNumber, hour);
    const counts = new Map(unfinished.map(({ status, count }) => [status, count]));
    const retrying = counts.get('retrying') ?? 0;
    const waiting = (counts.get('queued') ?? 0) + retrying;
    return {
      ...found,
      oldestUndeliveredAtMs: findLeast([outbox.oldestAtMs, oldestAtMs].filter((atMs) => atMs !== null)),
      queuedEvents: outbox.events,
      retrying: isActive ? retrying : 0,
      held: isActive ? 0 : waiting,
      inFlight: counts.get('sending') ?? 0,
    };
  };
}
