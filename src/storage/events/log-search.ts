/** Looks through the log of an organization for events of some types. */

import { setImmediate as turn } from 'node:timers/promises';
import { EVENT_TYPES, type EventMask, includesType } from '../../domain/event-type.ts';
import type { LogPart } from '../../domain/subscriptions.ts';
import type { LogSearch } from '../endpoints/outboxes.ts';
import type { Asking, RowOf } from '../questions.ts';
import { eventTypes } from '../rows/codes.ts';
import { readEnvelopeHead } from './envelope-head.ts';
import type { EventQuestions } from './event-reader.ts';

/** Created from one instant to another, both included. */
type Range = LogPart & { readonly fromMs: number; readonly toMs: number };
type Count = RowOf<EventQuestions['countEvents']>;

const NOTHING: Count = { matched: 0, firstMatchedAtMs: null, firstMatchedSeq: null, firstSeq: null, lastSeq: null };
const FOR_EVER = Number.MAX_SAFE_INTEGER;
const BEFORE_ALL = { createdAtMs: -1, id: '' };

/** `eventsAtOnce`: where a read holds up everybody else, the log is read a little at a time; null: at once. */
export function createLogSearch(
  { questions, ask }: Pick<Asking<EventQuestions>, 'questions' | 'ask'>,
  eventsAtOnce: number | null,
): LogSearch {
  /** Time never runs backwards in a log, so events at places are created between those at their ends. */
  async function rangeOf(part: LogPart): Promise<Range | null> {
    if (part.fromSeq > part.toSeq) return null;
    const [ends] = await ask(questions.findEnds, part);
    if (!ends?.first) return null;
    const toMs = ends.last === null ? FOR_EVER : readEnvelopeHead(ends.last).createdAtMs;
    return { ...part, fromMs: readEnvelopeHead(ends.first).createdAtMs, toMs };
  }

  /** Goes through a range until it is known well enough. */
  async function countUntil(isEnough: (count: Count) => boolean, range: Range | null): Promise<Count> {
    if (range === null) return NOTHING;
    const codes = codesOf(range.mask);
    let total = NOTHING;
    for (let after = BEFORE_ALL; ; await turn()) {
      const { createdAtMs, id } = after;
      // The first instant is what the database looks events up by.
      const rest = { ...range, fromMs: Math.max(range.fromMs, createdAtMs), afterMs: createdAtMs, afterId: id };
      const [next] =
        eventsAtOnce === null ? [] : await ask(questions.findPlaceAfter, { ...rest, skipped: eventsAtOnce - 1 });
      const until = { untilMs: next?.createdAtMs ?? FOR_EVER, untilId: next?.id ?? '' };
      const [count = NOTHING] = await ask(questions.countEvents, { ...rest, ...until, codes });
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
      // What is appended while it is counted is not meant.
      const [head] = await ask(questions.findHead, { organizationNumber });
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

/** A number with the bit of each type's code. */
function codesOf(mask: EventMask): number {
  return EVENT_TYPES.filter(({ type }) => includesType(mask, type)).reduce(
    (codes, { type }) => codes | (1 << eventTypes.code(type)),
    0,
  );
}

/** `next` comes after `before`. */
function addCounts(before: Count, next: Count): Count {
  return {
    matched: before.matched + next.matched,
    firstMatchedAtMs: before.firstMatchedAtMs ?? next.firstMatchedAtMs,
    firstMatchedSeq: before.firstMatchedSeq ?? next.firstMatchedSeq,
    // Events of one instant are in the order of their ids, not of their places.
    firstSeq: before.firstSeq === null ? next.firstSeq : Math.min(before.firstSeq, next.firstSeq ?? FOR_EVER),
    lastSeq: before.lastSeq === null ? next.lastSeq : Math.max(before.lastSeq, next.lastSeq ?? 0),
  };
}
