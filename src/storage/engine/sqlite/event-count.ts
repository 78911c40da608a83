/** Counts events of some types in a part of the log, however long it is, a little at a time. */

import { setImmediate as turn } from 'node:timers/promises';
import { EVENT_TYPES, type EventMask, includesType } from '../../../domain/event-type.ts';
import { readEnvelopeHead } from '../../events/envelope-head.ts';
import { eventTypes } from '../../rows/codes.ts';
import type { Database, ReadLane } from './connection.ts';

/** Created from one instant to another and at positions from one to another, all included. */
export type LogPart = {
  readonly organizationNumber: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly fromSeq: number;
  readonly toSeq: number;
};

export type EventCount = {
  readonly matched: number;
  readonly firstMatchedAtMs: number | null;
  /** Of all events of the part, whatever their types; null when there are none. */
  readonly firstSeq: number | null;
  readonly lastSeq: number | null;
};

export type CountEvents = (part: LogPart, mask: EventMask) => Promise<EventCount>;

const NOTHING: EventCount = { matched: 0, firstMatchedAtMs: null, firstSeq: null, lastSeq: null };
const ROWS_AT_ONCE = 5_000;
/** Envelopes have to be read for the types of these. */
const GOVERNANCE_AT_ONCE = 200;
const FIRST: Place = { createdAtMs: -1, id: '' };

type Place = { readonly createdAtMs: number; readonly id: string };

export function prepareEventCount(db: Database, lane: ReadLane): CountEvents {
  const statements = prepareStatements(db);

  /** Request events are counted by their index alone. */
  function countLogged(part: LogPart, codes: number, after: Place): { count: EventCount; next: Place | null } {
    const range = { ...behind(part, after), codes };
    const next = statements.place.get({ ...range, skip: ROWS_AT_ONCE - 1 }) ?? null;
    const until = next === null ? { untilId: null } : { toMs: next.createdAtMs, untilId: next.id };
    return { count: statements.count.get({ ...range, ...until }) ?? NOTHING, next };
  }

  function countGovernance(part: LogPart, mask: EventMask, after: Place): { count: EventCount; next: Place | null } {
    const rows = statements.governance.all({ ...behind(part, after), limit: GOVERNANCE_AT_ONCE });
    let count = NOTHING;
    for (const { seq, envelope } of rows) {
      const { type, createdAtMs } = readEnvelopeHead(envelope);
      const matched = includesType(mask, type);
      const firstMatchedAtMs = matched ? createdAtMs : null;
      count = addCounts(count, { matched: matched ? 1 : 0, firstMatchedAtMs, firstSeq: seq, lastSeq: seq });
    }
    const last = rows.at(-1);
    return { count, next: rows.length < GOVERNANCE_AT_ONCE || last === undefined ? null : last };
  }

  async function countAll(step: (after: Place) => { count: EventCount; next: Place | null }): Promise<EventCount> {
    let total = NOTHING;
    for (let after: Place | null = FIRST; after !== null; ) {
      const from: Place = after;
      const { count, next } = await lane(() => step(from));
      total = addCounts(total, count);
      after = next;
      // Others have their turn, even where nothing in between ever waits.
      if (next !== null) await turn();
    }
    return total;
  }

  return async (part, mask) => {
    if (part.fromMs > part.toMs || part.fromSeq > part.toSeq) return NOTHING;
    const codes = codesOf(mask);
    const logged = await countAll((after) => countLogged(part, codes, after));
    return addCounts(logged, await countAll((after) => countGovernance(part, mask, after)));
  };
}

/** A number with the bit of each type's code. */
function codesOf(mask: EventMask): number {
  return EVENT_TYPES.filter(({ type }) => includesType(mask, type)).reduce(
    (codes, { type }) => codes | (1 << eventTypes.code(type)),
    0,
  );
}

function addCounts(one: EventCount, other: EventCount): EventCount {
  return {
    matched: one.matched + other.matched,
    firstMatchedAtMs: smaller(one.firstMatchedAtMs, other.firstMatchedAtMs),
    firstSeq: smaller(one.firstSeq, other.firstSeq),
    lastSeq: one.lastSeq === null ? other.lastSeq : Math.max(one.lastSeq, other.lastSeq ?? 0),
  };
}

function smaller(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

type Range = LogPart & Place;

/** The bounds by time are what SQLite looks rows up by. */
function behind(part: LogPart, after: Place): Range {
  return { ...part, ...after, fromMs: Math.max(part.fromMs, after.createdAtMs) };
}

const IN_PART = `organization_number = :organizationNumber AND created_at >= :fromMs AND created_at <= :toMs
  AND (created_at, id) > (:createdAtMs, :id)`;
const IN_SEQS = 'seq BETWEEN :fromSeq AND :toSeq';
const MATCHES = `${IN_SEQS} AND (:codes >> type) & 1`;

function prepareStatements(db: Database) {
  return {
    place: db.prepare<Range & { skip: number }, Place>(
      `SELECT created_at AS createdAtMs, id FROM events_by_time WHERE ${IN_PART}
       ORDER BY created_at, id LIMIT 1 OFFSET :skip`,
    ),
    count: db.prepare<Range & { untilId: string | null; codes: number }, EventCount>(
      `SELECT count(*) FILTER (WHERE ${MATCHES}) AS matched,
         min(created_at) FILTER (WHERE ${MATCHES}) AS firstMatchedAtMs,
         min(seq) FILTER (WHERE ${IN_SEQS}) AS firstSeq, max(seq) FILTER (WHERE ${IN_SEQS}) AS lastSeq
       FROM events_by_time WHERE ${IN_PART}
         AND (created_at < :toMs OR :untilId IS NULL OR id <= :untilId)`,
    ),
    governance: db.prepare<Range & { limit: number }, Place & { seq: number; envelope: string }>(
      `SELECT governance_events.created_at AS createdAtMs, id, seq, envelope
       FROM governance_events JOIN events USING (organization_number, seq)
       WHERE ${IN_PART} AND ${IN_SEQS}
       ORDER BY governance_events.created_at, id LIMIT :limit`,
    ),
  };
}
