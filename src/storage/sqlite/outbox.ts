/** What endpoints get of the log that is in no delivery yet: what lies behind their positions. */

import { setImmediate as turn } from 'node:timers/promises';
import type { Subscription } from '../../domain/endpoint.ts';
import { type EventMask, includesType } from '../../domain/event-type.ts';
import { dropPassed } from '../delivery/tables.ts';
import type { OutboxCount } from '../endpoints/endpoint-health.ts';
import type { Database } from './connection.ts';
import { readEnvelopeHead } from './envelope-head.ts';
import type { CountEvents } from './event-count.ts';
import type { ReadLane } from './read-lane.ts';

export type OutboxReader = {
  count(endpointNumber: number): Promise<OutboxCount>;
  /** When the oldest event of any of them was created; null when there is none. */
  oldestAtMs(outboxes: readonly Outbox[]): Promise<number | null>;
};

/** What says where the outbox of an endpoint is. */
export type Outbox = {
  readonly organizationNumber: number;
  readonly position: number;
  readonly headSeq: number;
  /** JSON. */
  readonly subscriptions: string;
};

/** A part of the log from which the endpoint gets some types, both ends included. */
type Range = {
  readonly organizationNumber: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly mask: EventMask;
};

type EventRow = { readonly seq: number; readonly envelope: string };

const FOR_EVER = Number.MAX_SAFE_INTEGER;
const EVENTS_AT_ONCE = 200;

export function prepareOutbox(db: Database, lane: ReadLane, countEvents: CountEvents): OutboxReader {
  const statements = prepareStatements(db);

  /** Time never runs backwards in a log, so the first and the last event say between which instants a range lies. */
  const timesOf = db.transaction(({ organizationNumber, fromSeq, toSeq }: Range) => {
    const first = statements.events.get(organizationNumber, fromSeq - 1, toSeq, 1);
    const last = statements.last.get(organizationNumber, fromSeq, toSeq);
    if (first === undefined || last === undefined) return null;
    return { fromMs: createdAtMs(first), toMs: createdAtMs(last) };
  });

  async function countRange(range: Range): Promise<OutboxCount> {
    const times = await lane(() => timesOf(range));
    if (times === null) return { events: 0, oldestAtMs: null };
    const { matched, firstMatchedAtMs } = await countEvents({ ...range, ...times }, range.mask);
    return { events: matched, oldestAtMs: firstMatchedAtMs };
  }

  async function findFirst({ organizationNumber, fromSeq, toSeq, mask }: Range): Promise<EventRow | null> {
    for (let afterSeq = fromSeq - 1; ; await turn()) {
      const rows = await lane(() => statements.events.all(organizationNumber, afterSeq, toSeq, EVENTS_AT_ONCE));
      for (const row of rows) {
        if (includesType(mask, readEnvelopeHead(row.envelope).type)) return row;
        afterSeq = row.seq;
      }
      if (rows.length < EVENTS_AT_ONCE) return null;
    }
  }

  return {
    async count(endpointNumber) {
      const outbox = await lane(() => statements.outbox.get(endpointNumber));
      let count: OutboxCount = { events: 0, oldestAtMs: null };
      for (const range of outbox === undefined ? [] : rangesOf(outbox)) {
        const { events, oldestAtMs } = await countRange(range);
        count = { events: count.events + events, oldestAtMs: count.oldestAtMs ?? oldestAtMs };
      }
      return count;
    },
    async oldestAtMs(outboxes) {
      const oldest = new Map<number, EventRow>();
      for (const range of joinRanges(outboxes.flatMap(rangesOf))) {
        const before = oldest.get(range.organizationNumber)?.seq ?? FOR_EVER;
        const found = await findFirst({ ...range, toSeq: Math.min(range.toSeq, before - 1) });
        if (found !== null) oldest.set(range.organizationNumber, found);
      }
      const instants = [...oldest.values()].map(createdAtMs);
      return instants.length === 0 ? null : instants.reduce((one, other) => Math.min(one, other));
    },
  };
}

function createdAtMs({ envelope }: EventRow): number {
  return readEnvelopeHead(envelope).createdAtMs;
}

function rangesOf({ organizationNumber, position, headSeq, subscriptions }: Outbox): readonly Range[] {
  const known: readonly Subscription[] = dropPassed(JSON.parse(subscriptions), position);
  return known
    .map(({ fromSeq, mask }, index) => ({
      organizationNumber,
      fromSeq: Math.max(fromSeq, position + 1),
      toSeq: Math.min(headSeq, (known[index + 1]?.fromSeq ?? FOR_EVER) - 1),
      mask,
    }))
    .filter(({ fromSeq, toSeq, mask }) => mask !== 0 && fromSeq <= toSeq);
}

/** Many endpoints wait for the same types up to the same place: the longest of such ranges holds the others. */
function joinRanges(ranges: readonly Range[]): readonly Range[] {
  const joined = new Map<string, Range>();
  for (const range of ranges) {
    const key = `${range.organizationNumber}/${range.toSeq}/${range.mask}`;
    const known = joined.get(key);
    if (known === undefined || range.fromSeq < known.fromSeq) joined.set(key, range);
  }
  return [...joined.values()];
}

/** Columns of an Outbox. */
export const OUTBOX_COLUMNS = `e.organization_number AS organizationNumber, s.position, s.subscriptions,
  ifnull(h.seq, 0) AS headSeq`;
export const OUTBOX_TABLES = `webhook_endpoints AS e JOIN webhook_states AS s ON s.endpoint_number = e.number
  LEFT JOIN log_heads AS h ON h.organization_number = e.organization_number`;

function prepareStatements(db: Database) {
  const events = 'SELECT seq, envelope FROM events WHERE organization_number = ?';
  return {
    outbox: db.prepare<[number], Outbox>(`SELECT ${OUTBOX_COLUMNS} FROM ${OUTBOX_TABLES} WHERE e.number = ?`),
    events: db.prepare<[number, number, number, number], EventRow>(
      `${events} AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
    ),
    last: db.prepare<[number, number, number], EventRow>(`${events} AND seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT 1`),
  };
}
