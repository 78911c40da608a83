/** Reads of the log of emitted events, and searches of the log of an organization for events of some types. */

import { setImmediate as turn } from 'node:timers/promises';
import type { LogSlice } from '../../domain/endpoints/subscriptions.ts';
import type { EventRange } from '../../domain/events/event.ts';
import { ALL_TYPES, type EventMask, includesType, type RequestEventType } from '../../domain/events/event-type.ts';
import type { EventStore } from '../../domain/events/log-port.ts';
import { type EventName, parseEventId, readEnvelopeHead } from '../../domain/events/request-event.ts';
import type { Found, LookUps } from '../append/reader.ts';
import type { LogSearch } from '../endpoints/outboxes.ts';
import { eventTypes } from '../rows/codes.ts';
import type { RowOf } from '../statements/statement.ts';
import type { Queries, QueryRunner } from '../transaction.ts';

type EventQueries = Queries['events'];

const LISTS = {
  'gateway.request.completed': 'listCompletedEvents',
  'gateway.request.settled': 'listSettledEvents',
} as const satisfies Record<RequestEventType, keyof EventQueries>;

export function createEventList({ queries, runQuery }: QueryRunner<EventQueries>): EventStore['list'] {
  return ({ organization, fromMs, toMs, type, after, limit }: EventRange) =>
    runQuery(queries[type === null ? 'listEvents' : LISTS[type]], {
      organizationNumber: organization.number,
      fromMs,
      limit,
      ...(after === null
        ? { toMs, atMs: toMs + 1, id: '' }
        : { toMs: after.createdAtMs, atMs: after.createdAtMs, id: after.id }),
    });
}

/** Finds an event by its id. Its request row holds when the event was created, which is part of its key in the log. */
export function createEventFinder({ findRequest, findEvent }: LookUps): EventStore['find'] {
  return async (organization, eventId, sinceMs) => {
    const parsed = parseEventId(eventId);
    if (parsed === null) return null;
    const organizationNumber = organization.number;
    const [request] = await findRequest({ organizationNumber, key: parsed.base });
    const createdAtMs = request === undefined ? null : createdAtOf(parsed.name, request);
    if (createdAtMs === null || createdAtMs < sinceMs) return null;
    const [event] = await findEvent({ organizationNumber, createdAtMs, id: eventId });
    return event === undefined ? null : { id: eventId, createdAtMs, envelope: event.envelope };
  };
}

/** When an event of a request was created; null for a correction that the row does not have. */
export function createdAtOf(name: EventName, request: Found<'findRequest'>): number | null {
  if (name.kind !== 'correction') return name.kind === 'completed' ? request.completedEvent : request.settledEvent;
  const earlier: readonly number[] = JSON.parse(request.earlierCorrections ?? '[]');
  return [...earlier, request.correctionEvent][name.number - 1] ?? null;
}

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
  /** The events at the ends of a part bound its instants, unless the clock was set back in it. */
  async function rangeOf(part: LogSlice): Promise<Range | null> {
    if (part.fromSeq > part.toSeq) return null;
    const [ends] = await runQuery(queries.findEnds, part);
    if (!ends?.first) return null;
    const fromMs = readEnvelopeHead(ends.first).createdAtMs;
    const toMs = ends.last === null ? FOR_EVER : readEnvelopeHead(ends.last).createdAtMs;
    return fromMs <= toMs ? { ...part, fromMs, toMs } : { ...part, fromMs: 0, toMs: FOR_EVER };
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
  return ALL_TYPES.filter((type) => includesType(mask, type)).reduce(
    (codes, type) => codes | (1 << eventTypes.code(type)),
    0,
  );
}

/** `next` counts the events after those of `before`. */
function addCounts(before: Count, next: Count): Count {
  return {
    matched: before.matched + next.matched,
    firstMatchedAtMs: before.firstMatchedAtMs ?? next.firstMatchedAtMs,
    // Events of one instant are ordered by id, not by sequence number; and the clock may have been set back.
    firstMatchedSeq: leastOf(before.firstMatchedSeq, next.firstMatchedSeq),
    firstSeq: leastOf(before.firstSeq, next.firstSeq),
    lastSeq: before.lastSeq === null ? next.lastSeq : Math.max(before.lastSeq, next.lastSeq ?? 0),
  };
}

function leastOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
