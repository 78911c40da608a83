/** How many deliveries there are, and how far behind they are, for metrics. */

import type { DeliveryCounts } from '../../domain/webhook-store.ts';
import { deliveryStatuses } from '../rows/webhook-codes.ts';
import type { Database } from './connection.ts';
import { prepareEventCount } from './event-count.ts';
import { inParts } from './in-parts.ts';
import { OUTBOX_COLUMNS, OUTBOX_TABLES, type Outbox, prepareOutbox } from './outbox.ts';
import type { ReadLane } from './read-lane.ts';

type Endpoint = Outbox & { readonly number: number; readonly status: 'active' | 'disabled' };

type EndpointCounts = {
  readonly rows: readonly { readonly status: number; readonly count: number }[];
  /** In its deliveries. */
  readonly oldestAtMs: number | null;
};

export function prepareCounts(db: Database, lane: ReadLane): () => Promise<DeliveryCounts> {
  const statements = prepareStatements(db);
  const outboxes = prepareOutbox(db, lane, prepareEventCount(db, lane));

  function countOf({ number }: Endpoint): EndpointCounts {
    return { rows: statements.unended.all(number), oldestAtMs: statements.oldest.get(number) ?? null };
  }

  return async () => {
    const endpoints = await lane(() => statements.endpoints.all());
    const active = endpoints.filter(({ status }) => status === 'active');
    // First: what leaves an outbox meanwhile is in a delivery when those are looked at.
    const behind = active.filter(({ position, headSeq }) => headSeq > position);
    const oldest = [await outboxes.oldestAtMs(behind)];
    const deliveries = {
      queued: 0,
      sending: 0,
      retrying: 0,
      held: 0,
      dead: await lane(() => statements.dead.get() ?? 0),
    };
    await inParts(endpoints, async (some) => {
      const counts = await lane(() => some.map((endpoint) => ({ endpoint, ...countOf(endpoint) })));
      for (const { endpoint, rows, oldestAtMs } of counts) {
        if (endpoint.status === 'active') oldest.push(oldestAtMs);
        for (const { status, count } of rows) deliveries[toldStatus(endpoint, status)] += count;
      }
    });
    const known = oldest.filter((atMs) => atMs !== null);
    return {
      deliveries,
      endpoints: { active: active.length, disabled: endpoints.length - active.length },
      outboxEvents: behind.reduce((sum, { position, headSeq }) => sum + headSeq - position, 0),
      oldestUndeliveredAtMs: known.length === 0 ? null : known.reduce((one, other) => Math.min(one, other)),
    };
  };
}

function toldStatus({ status }: Endpoint, code: number): 'queued' | 'sending' | 'retrying' | 'held' {
  const word = deliveryStatuses.word(code);
  if (word === 'sending') return word;
  if (status !== 'active') return 'held';
  return word === 'queued' ? word : 'retrying';
}

function prepareStatements(db: Database) {
  const unended = 'FROM webhook_deliveries WHERE endpoint_number = ? AND ended_at IS NULL AND test = false';
  return {
    endpoints: db.prepare<[], Endpoint>(
      `SELECT e.number, e.status, ${OUTBOX_COLUMNS} FROM ${OUTBOX_TABLES} WHERE e.archived_at IS NULL`,
    ),
    unended: db.prepare<[number], { status: number; count: number }>(
      `SELECT status, count(*) AS count ${unended} GROUP BY status`,
    ),
    oldest: db.prepare<[number], number | null>(`SELECT min(queued_at) ${unended}`).pluck(),
    dead: db
      .prepare<[], number>(
        `SELECT count(*) FROM webhook_deliveries WHERE status = ${deliveryStatuses.code('dead')} AND test = false`,
      )
      .pluck(),
  };
}
