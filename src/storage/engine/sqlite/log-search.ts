/**
 * Looks through the log of an organization for events of some types. The log is long and whoever reads it holds up
 * everybody else in the process, so it is read a little at a time.
 */

import { setImmediate as turn } from 'node:timers/promises';
import { includesType } from '../../../domain/event-type.ts';
import type { LogPart, LogSearch } from '../../endpoints/outboxes.ts';
import { readEnvelopeHead } from '../../events/envelope-head.ts';
import type { Database, ReadLane } from './connection.ts';
import { prepareEventCount } from './event-count.ts';

type EventRow = { readonly seq: number; readonly envelope: string };

const EVENTS_AT_ONCE = 200;

export function prepareLogSearch(db: Database, lane: ReadLane): LogSearch {
  const countEvents = prepareEventCount(db, lane);
  const statements = prepareStatements(db);

  /** Time never runs backwards in a log, so the first and the last event say between which instants a part lies. */
  const timesOf = db.transaction(({ organizationNumber, fromSeq, toSeq }: LogPart) => {
    const first = statements.events.get(organizationNumber, fromSeq - 1, toSeq, 1);
    const last = statements.last.get(organizationNumber, fromSeq, toSeq);
    if (first === undefined || last === undefined) return null;
    return { fromMs: createdAtMs(first), toMs: createdAtMs(last) };
  });

  return {
    async count(part) {
      const times = await lane(() => timesOf(part));
      if (times === null) return { events: 0, oldestAtMs: null };
      const { matched, firstMatchedAtMs } = await countEvents({ ...part, ...times }, part.mask);
      return { events: matched, oldestAtMs: firstMatchedAtMs };
    },
    async findFirst({ organizationNumber, fromSeq, toSeq, mask }) {
      for (let afterSeq = fromSeq - 1; ; await turn()) {
        const rows = await lane(() => statements.events.all(organizationNumber, afterSeq, toSeq, EVENTS_AT_ONCE));
        for (const row of rows) {
          if (includesType(mask, readEnvelopeHead(row.envelope).type)) return { ...row, createdAtMs: createdAtMs(row) };
          afterSeq = row.seq;
        }
        if (rows.length < EVENTS_AT_ONCE) return null;
      }
    },
    async matchEvents(organizationNumber, { fromMs, toMs, sinceMs, mask }) {
      // What is appended while it is counted is not meant.
      const toSeq = await lane(() => statements.head.get(organizationNumber) ?? 0);
      const part = { organizationNumber, fromMs: Math.max(fromMs, sinceMs), toMs, fromSeq: 1, toSeq };
      const { matched, firstSeq, lastSeq } = await countEvents(part, mask);
      return { fromSeq: firstSeq ?? 1, toSeq: lastSeq ?? 0, matched };
    },
  };
}

function createdAtMs({ envelope }: EventRow): number {
  return readEnvelopeHead(envelope).createdAtMs;
}

function prepareStatements(db: Database) {
  const events = 'SELECT seq, envelope FROM events WHERE organization_number = ?';
  return {
    events: db.prepare<[number, number, number, number], EventRow>(
      `${events} AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
    ),
    last: db.prepare<[number, number, number], EventRow>(`${events} AND seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT 1`),
    head: db.prepare<[number], number>('SELECT seq FROM log_heads WHERE organization_number = ?').pluck(),
  };
}
