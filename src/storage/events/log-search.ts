/** Searches the log of an organization for events of some types. */

import { setImmediate as turn } from 'node:timers/promises';
import type { LogSlice } from '../../domain/endpoints/subscriptions.ts';
import { EVENT_TYPES, type EventMask, includesType } from '../../domain/events/event-type.ts';
import { readEnvelopeHead } from '../../domain/events/request-event.ts';
import type { LogSearch } from '../endpoints/outboxes.ts';
import type { QueryRunner, RowOf } from '../queries.ts';
import { eventTypes } from '../rows/codes.ts';
import type { EventQueries } from './event-reader.ts';

/** Limits the part to events created between two instants, both included. */
type Range = LogSlice & { readonly fromMs: number; readonly toMs: number };
type Count = RowOf<EventQueries['countEvents']>;

const NOTHING: Count = { matched: 0, firstMatchedAtMs: null, firstMatchedSeq: null, firstSeq: null, lastSeq: null };
const FOR_EVER = Number.MAX_SAFE_INTEGER;
const BEFORE_ALL = { createdAtMs: -1, id: '' };

/** `eventsAtOnce`: the most events of one read, where a read blocks others; null: one read for all. */
export function createLogSearch(
  { queries, runQuery }: Pick<QueryRunner<EventQueries>, 'queries' | 'runQuery'>,
  eventsAtOnce: number | null,
): LogSearch {
  /** Creation instants never decrease along a log, so the events at the ends of a part bound its instants. */
  async function rangeOf(part: LogSlice): Promise<Range | null> {
    if (part.fromSeq > part.toSeq) return null;
    const [ends] = await runQuery(queries.findEnds, part);
    if (!ends?.first) return null;
    const toMs = ends.last === null ? FOR_EVER : readEnvelopeHead(ends.last).createdAtMs;
    return { ...part, fromMs: readEnvelopeHead(ends.first).createdAtMs, toMs };
  }

  /** Counts events of a range, read by read, until `isEnough` or the end. */
  async function countUntil(isEnough: (count: Count) => boolean, range: Range | null): Promise<Count> {
    if (range === null) return NOTHING;
    const codes = codesOf(range.mask);
    let total = NOTHING;
    for (let after = BEFORE_ALL; ; await turn()) {
      const { createdAtMs, id } = after;
      // The database finds events by the first instant.
      const rest = { ...range, fromMs: Math.max(range.fromMs, createdAtMs), afterMs: createdAtMs, afterId: id };
      const [next] =
        eventsAtOnce === null ? [] : await runQuery(queries.findPositionAfter, { ...rest, skipped: eventsAtOnce - 1 });
      const until = { untilMs: next?.createdAtMs ?? FOR_EVER, untilId: next?.id ?? '' };
      const [count = NOTHING] = await runQuery(queries.countEvents, { ...rest, ...until, codes });
      total = addCounts(total, count);
      if (next === undefined || isEnough(total)) return total;
      after = next;
    }
  }

  return {
    async count(part) {
      const { matched, firstMatchedAtMs } = await countUntil(() => false, await rangeOf(part));
      return { events: matched, oldestAtMs: firstMatchedAtMs };
    },
    async findFirst(part) {
      const found = await countUntil(({ matched }) => matched > 0, await rangeOf(part));
      const { firstMatchedSeq: seq, firstMatchedAtMs: createdAtMs } = found;
      return seq === null || createdAtMs === null ? null : { seq, createdAtMs };
    },
    async matchEvents(organizationNumber, { fromMs, toMs, sinceMs, mask }) {
      // Events appended during the count are left out.
      const [head] = await runQuery(queries.findHead, { organizationNumber });
      const part = { organizationNumber, fromSeq: 1, toSeq: head?.seq ?? 0, mask };
      const { matched, firstSeq, lastSeq } = await countUntil(() => false, {
        ...part,
        fromMs: Math.max(fromMs, sinceMs),
        toMs,
      });
      return { fromSeq: firstSeq ?? 1, toSeq: lastSeq ?? 0, matched };
    },
  };
}

/** A bit mask of the codes of the types. */
function codesOf(mask: EventMask): number {
  return EVENT_TYPES.filter(({ type }) => includesType(mask, type)).reduce(
    (codes, { type }) => codes | (1 << eventTypes.code(type)),
    0,
  );
}

/** `next` counts the events after those of `before`. */
function addCounts(before: Count, next: Count): Count {
  return {
    matched: before.matched + next.matched,
    firstMatchedAtMs: before.firstMatchedAtMs ?? next.firstMatchedAtMs,
    firstMatchedSeq: before.firstMatchedSeq ?? next.firstMatchedSeq,
    // Events of one instant are ordered by id, not by sequence number.
    firstSeq: before.firstSeq === null ? next.firstSeq : Math.min(before.firstSeq, next.firstSeq ?? FOR_EVER),
    lastSeq: before.lastSeq === null ? next.lastSeq : Math.max(before.lastSeq, next.lastSeq ?? 0),
  };
}
