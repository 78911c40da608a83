/** The log as those read it who deliver: in its own order, all families. */

import { EVENT_TYPES, type EventMask, includesType } from '../../domain/event-type.ts';
import type { CreatedSpan, DeliveryStore, LogEntry, MatchedEvents, MatchQuestion } from '../../domain/webhook-store.ts';
import { eventTypes } from '../rows/codes.ts';
import type { Lane, Statement } from './connection.ts';

export type DeliveryLog = Pick<DeliveryStore, 'heads' | 'events' | 'envelopes'> & {
  /** Forgets what is known of the log: the database may be another one. */
  forget(): void;
};

type EntryRow = Omit<LogEntry, 'type'> & { readonly type: number };

/** Some entry of a log, and when it was created. */
type Mark = { readonly seq: number; readonly createdAtMs: number };

// An organization that is forgotten only costs a look at every month.
const MARKS_MAX = 10_000;

export function createDeliveryLog(lane: Lane): DeliveryLog {
  /** Time never runs backwards in a log, so what comes behind an entry was created no earlier than it. */
  const marks = new Map<number, Mark>();

  function remember(organizationNumber: number, { seq, createdAtMs }: Mark): void {
    // Most who read are near the end, and those behind have more to read than months to look at.
    if (seq <= (marks.get(organizationNumber)?.seq ?? 0)) return;
    marks.delete(organizationNumber);
    marks.set(organizationNumber, { seq, createdAtMs });
    const [oldest] = marks.keys();
    if (marks.size > MARKS_MAX && oldest !== undefined) marks.delete(oldest);
  }

  return {
    heads: () => lane.ask(HEADS, []),
    async events(organizationNumber, { afterSeq, limit }) {
      const mark = marks.get(organizationNumber);
      const createdFromMs = mark !== undefined && mark.seq <= afterSeq ? mark.createdAtMs : 0;
      const rows = await lane.ask<EntryRow>(EVENTS, [organizationNumber, afterSeq, createdFromMs, limit]);
      // The first, not the last: what was read may have to be read again.
      const [first] = rows;
      if (first !== undefined) remember(organizationNumber, first);
      return rows.map(toEntry);
    },
    async envelopes(organizationNumber, seqs, { firstMs, lastMs }: CreatedSpan) {
      const rows = await lane.ask<EntryRow>(ENVELOPES, [organizationNumber, seqs, firstMs, lastMs]);
      return rows.map(toEntry);
    },
    forget: () => marks.clear(),
  };
}

/** See WebhookStore.matchEvents. */
export async function matchEvents(
  lane: Lane,
  organizationNumber: number,
  { fromMs, toMs, sinceMs, mask }: MatchQuestion,
): Promise<MatchedEvents> {
  const values = [organizationNumber, Math.max(fromMs, sinceMs), toMs, typeCodes(mask)];
  const [row] = await lane.ask<MatchedEvents>(MATCH, values);
  return row ?? { fromSeq: 1, toSeq: 0, matched: 0 };
}

/** The types of a mask as rows of events have them. */
export function typeCodes(mask: EventMask): readonly number[] {
  return EVENT_TYPES.filter(({ type }) => includesType(mask, type)).map(({ type }) => eventTypes.code(type));
}

function toEntry({ type, ...entry }: EntryRow): LogEntry {
  return { ...entry, type: eventTypes.word(type) };
}

const HEADS: Statement = {
  name: 'delivery-heads',
  text: 'SELECT organization_number AS "organizationNumber", seq FROM log_heads',
};

const ENTRY_SELECT = 'SELECT seq, id, type, created_at AS "createdAtMs", envelope FROM events';

// The bounds by time say nothing new, but they are what months are left out by.
const EVENTS: Statement = {
  name: 'delivery-events',
  text: `${ENTRY_SELECT} WHERE organization_number = $1 AND seq > $2 AND created_at >= $3 ORDER BY seq LIMIT $4`,
};

const ENVELOPES: Statement = {
  name: 'delivery-envelopes',
  text: `${ENTRY_SELECT}
    WHERE organization_number = $1 AND seq = ANY ($2::bigint[]) AND created_at >= $3 AND created_at <= $4 ORDER BY seq`,
};

const MATCH: Statement = {
  name: 'match-events',
  text: `SELECT coalesce(min(seq), 1) AS "fromSeq", coalesce(max(seq), 0) AS "toSeq",
      count(*) FILTER (WHERE type = ANY ($4::integer[])) AS matched
    FROM events WHERE organization_number = $1 AND created_at >= $2 AND created_at <= $3`,
};
