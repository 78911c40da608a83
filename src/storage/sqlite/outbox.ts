/** What an endpoint gets of the log that is in no delivery yet: what lies behind its position. */

import { setImmediate as turn } from 'node:timers/promises';
import type { Subscription } from '../../domain/endpoint.ts';
import { includesType } from '../../domain/event-type.ts';
import { dropPassed } from '../delivery/tables.ts';
import type { Database } from './connection.ts';
import { readEnvelopeHead } from './envelope-head.ts';
import type { CountEvents } from './event-count.ts';
import type { ReadLane } from './read-lane.ts';

export type OutboxReader = {
  count(endpointNumber: number): Promise<OutboxCount>;
  /** When the oldest of its events was created; null when there is none. */
  oldestAtMs(endpointNumber: number): Promise<number | null>;
};

export type OutboxCount = { readonly events: number; readonly oldestAtMs: number | null };

/** A part of the log from which the endpoint gets some types, both ends included. */
type Range = { readonly fromSeq: number; readonly toSeq: number; readonly mask: number };

type Outbox = {
  readonly organizationNumber: number;
  /** When the first event behind the position was created; none behind it was earlier. */
  readonly fromMs: number;
  /** Ascending. */
  readonly ranges: readonly Range[];
};

const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;
const EVENTS_AT_ONCE = 200;

export function prepareOutbox(db: Database, lane: ReadLane, countEvents: CountEvents): OutboxReader {
  const statements = prepareStatements(db);

  const find = db.transaction((endpointNumber: number): Outbox | null => {
    const place = statements.place.get(endpointNumber);
    if (place === undefined) return null;
    const { organizationNumber, position } = place;
    const [next] = statements.events.all(organizationNumber, position, FOR_EVER_MS, 1);
    if (next === undefined) return null;
    const headSeq = statements.head.get(organizationNumber) ?? 0;
    const ranges = rangesOf(dropPassed(JSON.parse(place.subscriptions), position), { position, headSeq });
    return { organizationNumber, fromMs: readEnvelopeHead(next.envelope).createdAtMs, ranges };
  });

  async function findFirst(organizationNumber: number, { fromSeq, toSeq, mask }: Range): Promise<number | null> {
    for (let afterSeq = fromSeq - 1; ; await turn()) {
      const rows = await lane(() => statements.events.all(organizationNumber, afterSeq, toSeq, EVENTS_AT_ONCE));
      for (const { seq, envelope } of rows) {
        const { type, createdAtMs } = readEnvelopeHead(envelope);
        if (includesType(mask, type)) return createdAtMs;
        afterSeq = seq;
      }
      if (rows.length < EVENTS_AT_ONCE) return null;
    }
  }

  return {
    async count(endpointNumber) {
      const outbox = await lane(() => find(endpointNumber));
      let count: OutboxCount = { events: 0, oldestAtMs: null };
      if (outbox === null) return count;
      const { organizationNumber, fromMs } = outbox;
      for (const { fromSeq, toSeq, mask } of outbox.ranges) {
        const part = { organizationNumber, fromMs, toMs: FOR_EVER_MS, fromSeq, toSeq };
        const { matched, firstMatchedAtMs } = await countEvents(part, mask);
        count = { events: count.events + matched, oldestAtMs: count.oldestAtMs ?? firstMatchedAtMs };
      }
      return count;
    },
    async oldestAtMs(endpointNumber) {
      const outbox = await lane(() => find(endpointNumber));
      for (const range of outbox?.ranges ?? []) {
        const oldestAtMs = await findFirst(outbox?.organizationNumber ?? 0, range);
        if (oldestAtMs !== null) return oldestAtMs;
      }
      return null;
    },
  };
}

function rangesOf(
  subscriptions: readonly Subscription[],
  { position, headSeq }: { readonly position: number; readonly headSeq: number },
): readonly Range[] {
  return subscriptions
    .map(({ fromSeq, mask }, index) => ({
      fromSeq: Math.max(fromSeq, position + 1),
      toSeq: Math.min(headSeq, (subscriptions[index + 1]?.fromSeq ?? FOR_EVER_MS) - 1),
      mask,
    }))
    .filter(({ fromSeq, toSeq, mask }) => mask !== 0 && fromSeq <= toSeq);
}

function prepareStatements(db: Database) {
  return {
    place: db.prepare<[number], { organizationNumber: number; position: number; subscriptions: string }>(
      `SELECT organization_number AS organizationNumber, position, subscriptions
       FROM webhook_states JOIN webhook_endpoints ON number = endpoint_number WHERE endpoint_number = ?`,
    ),
    head: db.prepare<[number], number>('SELECT seq FROM log_heads WHERE organization_number = ?').pluck(),
    events: db.prepare<[number, number, number, number], { seq: number; envelope: string }>(
      'SELECT seq, envelope FROM events WHERE organization_number = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?',
    ),
  };
}
