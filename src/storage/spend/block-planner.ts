/** Builds a block of the next events of a log, and finds the earlier events that they correct. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type EventName, eventIdOf, parseEventId, readEnvelopeHead } from '../../domain/events/request-event.ts';
import { readSpending } from '../../domain/spend/event-spending.ts';
import type { Found, KeyOf } from '../append/reader.ts';
import { createdAtOf } from '../events/events.ts';
import type { Queries, QueryRunner } from '../transaction.ts';
import {
  BLOCK_EVENTS,
  type BuiltBlock,
  createBlockBuilder,
  type EventBits,
  NO_BITS,
  withBits,
} from './block-format.ts';

export type SpendRunner = QueryRunner<Queries['spend']> & {
  /** Requests by key; any number of keys. */
  readonly findRequests: (keys: readonly KeyOf<'findRequest'>[]) => Promise<readonly Found<'findRequest'>[]>;
  /** Positions of events; any number of events. */
  readonly findPositions: (keys: readonly KeyOf<'findEvent'>[]) => Promise<readonly { readonly seq: number }[]>;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

type PlannedBlock = BuiltBlock & {
  /** Whether no further event fits. */
  readonly isFull: boolean;
  readonly superseded: EventBits;
  /** Positions of earlier events that the block corrects. */
  readonly corrected: readonly number[];
};

/** Positions after `afterSeq` up to `toSeq`. */
export type SeqRange = { readonly afterSeq: number; readonly toSeq: number };

type Correction = { readonly base: string; readonly before: EventName; readonly eventId: string };

const ENVELOPES_AT_ONCE = 256;
const LOOKED_UP_AT_ONCE = 200;

/** Null when the log has no events there. */
export async function planBlock(
  runner: SpendRunner,
  organizationNumber: number,
  { afterSeq, toSeq }: SeqRange,
): Promise<PlannedBlock | null> {
  const { queries, runQuery } = runner;
  const seqOf = new Map<string, number>();
  const corrections: Correction[] = [];
  const own: number[] = [];
  let builder: ReturnType<typeof createBlockBuilder> | null = null;
  let [firstSeq, lastSeq, lastEnvelope] = [0, afterSeq, ''];
  for (let isMore = true; isMore; await yieldToEventLoop()) {
    // Only the oldest events expire, so that missing positions come first, except within one commit.
    const end = firstSeq === 0 ? toSeq : Math.min(toSeq, firstSeq + BLOCK_EVENTS - 1);
    const limit = Math.min(ENVELOPES_AT_ONCE, firstSeq === 0 ? BLOCK_EVENTS : firstSeq + BLOCK_EVENTS - 1 - lastSeq);
    const rows = await runQuery(queries.listEnvelopes, { organizationNumber, afterSeq: lastSeq, toSeq: end, limit });
    for (const { seq, envelope } of rows) {
      if (builder === null) {
        builder = createBlockBuilder(seq);
        firstSeq = seq;
      }
      const spending = readSpending(envelope);
      builder.add(seq, spending);
      [lastSeq, lastEnvelope] = [seq, envelope];
      if (spending === null) continue;
      seqOf.set(spending.id, seq);
      const correction = correctionOf(spending.id);
      const before = correction === null ? undefined : seqOf.get(correction.eventId);
      if (before !== undefined) own.push(before - firstSeq);
      else if (correction !== null) corrections.push(correction);
      if (builder.isFull()) break;
    }
    isMore = rows.length === limit && lastSeq < toSeq && builder?.isFull() === false;
  }
  if (builder === null) return null;
  return {
    isFull: builder.isFull(),
    ...builder.end(readEnvelopeHead(lastEnvelope).createdAtMs),
    superseded: withBits(NO_BITS, own),
    corrected: await findCorrected(runner, organizationNumber, corrections),
  };
}

/** The event that this event corrects; null for the first outcome of a request. */
function correctionOf(eventId: string): Correction | null {
  const { base, name } = parseEventId(eventId) ?? {};
  if (base === undefined || name?.kind !== 'correction') return null;
  const before: EventName = name.number === 1 ? { kind: 'completed' } : { kind: 'correction', number: name.number - 1 };
  return { base, before, eventId: eventIdOf(base, before) };
}

/** The positions of corrected events: their requests have the creation times by which the log finds them. */
async function findCorrected(
  { findRequests, findPositions }: SpendRunner,
  organizationNumber: number,
  corrections: readonly Correction[],
): Promise<readonly number[]> {
  const found: number[] = [];
  for (let start = 0; start < corrections.length; start += LOOKED_UP_AT_ONCE) {
    const some = corrections.slice(start, start + LOOKED_UP_AT_ONCE);
    const keys = [...new Set(some.map(({ base }) => base))].map((key) => ({ organizationNumber, key }));
    const requests = new Map((await findRequests(keys)).map((request) => [request.key, request]));
    const events = some.flatMap(({ base, before, eventId }) => {
      const request = requests.get(base);
      const createdAtMs = request === undefined ? null : createdAtOf(before, request);
      return createdAtMs === null ? [] : [{ organizationNumber, createdAtMs, id: eventId }];
    });
    for (const { seq } of await findPositions(events)) found.push(seq);
    await yieldToEventLoop();
  }
  return found.sort((one, other) => one - other);
}
