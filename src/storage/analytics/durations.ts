/**
 * Percentiles of whole traces by the blocks of the index of traces, which know of each when it began and how long it took:
 * what has changed since it was put into a block is looked at as it is stored, and so are large traces, whose durations
 * may have to be worked out.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { createDurations, type Durations } from '../../domain/analytics/durations.ts';
import { SPANS_READ_THROUGH_MAX } from '../../domain/trace-aggregates.ts';
import type { AnalyticsQuestion } from '../../domain/trace-analytics-store.ts';
import { COLUMNS, hasBit, unpackColumn } from '../search/block-format.ts';
import { type KnownBlock, listAllBlocks } from '../search/known-blocks.ts';
import { entriesOf } from './entries.ts';
import { type AnalyticsAsking, goThroughTraces } from './trace-pages.ts';

type Reading = {
  readonly asking: AnalyticsAsking;
  readonly question: AnalyticsQuestion;
  readonly isOver: () => boolean;
};

/** More that is not indexed is quicker found by going through all traces in their order. */
const PENDING_MAX = 20_000;
const PENDING_AT_ONCE = 500;
const BLOCKS_AT_ONCE = 32;
const ATTEMPTS_MAX = 3;
const PARTS = [COLUMNS.sequence, COLUMNS.startedAtMs, COLUMNS.insertedAtMs, COLUMNS.totalTimeMs, COLUMNS.firstTokenMs];
const NO_NEEDS = { metadata: false, spans: false, needles: [] };

/** Whether blocks know what is asked: they do not know of spans. */
export function areDurationsInBlocks({ interval, groupBy, conditions, hasPercentiles }: AnalyticsQuestion): boolean {
  return (
    hasPercentiles &&
    interval !== 'minute' &&
    groupBy === 'none' &&
    Object.values(conditions).every((condition) => condition === null)
  );
}

/** Null where the index is of no use, or there was no time. */
export async function readDurations(reading: Reading): Promise<Durations | null> {
  const { asking, question } = reading;
  const { projectNumber } = question;
  const generation = async () =>
    (await asking.ask(asking.questions.findHead, { projectNumber }))[0]?.generation ?? null;
  for (let attempt = 0, known = await generation(); known !== null && attempt < ATTEMPTS_MAX; attempt += 1) {
    const durations = createDurations(question);
    const isComplete = await addAll(reading, durations);
    const after = await generation();
    // What was taken out of a block while this looked at it may have been looked at nowhere.
    if (!isComplete || after === known) return isComplete ? durations : null;
    known = after;
  }
  return null;
}

async function addAll(reading: Reading, durations: Durations): Promise<boolean> {
  const { asking, question } = reading;
  const { questions, ask } = asking;
  const { projectNumber, fromMs, toMs } = question;
  // Before the blocks: what is indexed meanwhile is looked at twice rather than nowhere.
  const pending = await ask(questions.listPending, { projectNumber, limit: PENDING_MAX + 1 });
  if (pending.length > PENDING_MAX) return false;
  const blocks = await listAllBlocks(asking, projectNumber);
  if (blocks.length === 0) return false;
  const isKnown = new Set(pending.map(({ sequence }) => sequence));
  const isLarge = await addLarge(reading, durations);
  for (const sequence of isLarge) isKnown.add(sequence);
  await addPending(reading, durations, { sequences: pending.map(({ sequence }) => sequence), isLarge });
  const inRange = blocks.filter(({ startedFromMs, startedToMs }) => startedToMs >= fromMs && startedFromMs <= toMs);
  for (let start = 0; start < inRange.length; start += BLOCKS_AT_ONCE) {
    if (reading.isOver() || durations.isTooMuch()) return false;
    await addBlocks(reading, durations, { blocks: inRange.slice(start, start + BLOCKS_AT_ONCE), isKnown });
  }
  return !durations.isTooMuch();
}

/** Answers which they are. */
async function addLarge({ asking, question }: Reading, durations: Durations): Promise<ReadonlySet<number>> {
  const { projectNumber, fromMs, toMs } = question;
  const receivedFromMs = receivedFrom(question);
  const stretch = { projectNumber, fromMs, toMs, receivedFromMs, receivedToMs: Number.MAX_SAFE_INTEGER };
  const sequences = new Set<number>();
  for await (const part of goThroughTraces(asking, { ...stretch, size: 'large' }, NO_NEEDS)) {
    for (const facts of part) {
      sequences.add(facts.trace.sequence);
      for (const { firstTokensMs, totalTimesMs } of entriesOf(question, facts)) {
        durations.add(facts.trace.startMs, totalTimesMs[0] ?? null, firstTokensMs[0] ?? null);
      }
    }
  }
  return sequences;
}

type Pending = { readonly sequences: readonly number[]; readonly isLarge: ReadonlySet<number> };

async function addPending(
  { asking: { questions, ask }, question }: Reading,
  durations: Durations,
  { sequences, isLarge }: Pending,
): Promise<void> {
  const { projectNumber, fromMs, toMs } = question;
  for (let start = 0; start < sequences.length; start += PENDING_AT_ONCE) {
    const some = sequences.slice(start, start + PENDING_AT_ONCE);
    for (const trace of await ask(questions.listDurations, { projectNumber, sequences: some })) {
      const { sequence, startMs, insertedAtMs, spanCount, durationMs, firstTokenMs } = trace;
      if (isLarge.has(sequence) || spanCount > SPANS_READ_THROUGH_MAX) continue;
      if (startMs < fromMs || startMs > toMs || insertedAtMs < receivedFrom(question)) continue;
      durations.add(startMs, durationMs === null ? null : Math.max(0, durationMs), firstTokenMs);
    }
    await nextTurn();
  }
}

type Blocks = { readonly blocks: readonly KnownBlock[]; readonly isKnown: ReadonlySet<number> };

async function addBlocks(
  { asking: { questions, ask }, question }: Reading,
  durations: Durations,
  { blocks, isKnown }: Blocks,
): Promise<void> {
  const { projectNumber, fromMs, toMs } = question;
  const receivedFromMs = receivedFrom(question);
  const numbers = blocks.map(({ block }) => block);
  const rows = await ask(questions.listParts, { projectNumber, blocks: numbers, parts: PARTS });
  const contents = new Map(rows.map(({ block, part, content }) => [`${block} ${part}`, content]));
  for (const { block, traces, gone } of blocks) {
    const column = (part: number) => unpackColumn(contents.get(`${block} ${part}`) ?? new Uint8Array(0));
    // It was removed meanwhile, which the generation tells.
    if (!contents.has(`${block} ${COLUMNS.sequence}`)) continue;
    const [sequences, started] = [column(COLUMNS.sequence), column(COLUMNS.startedAtMs)];
    const [inserted, totalTimes] = [column(COLUMNS.insertedAtMs), column(COLUMNS.totalTimeMs)];
    const firstTokens = column(COLUMNS.firstTokenMs);
    for (let place = 0; place < traces; place += 1) {
      const startMs = started[place] ?? 0;
      if (startMs < fromMs || startMs > toMs || (inserted[place] ?? 0) < receivedFromMs) continue;
      if (hasBit(gone, place) || isKnown.has(sequences[place] ?? 0)) continue;
      durations.add(startMs, orNull(totalTimes[place]), orNull(firstTokens[place]));
    }
    await nextTurn();
  }
}

function receivedFrom({ goneBeforeMs }: AnalyticsQuestion): number {
  return goneBeforeMs ?? Number.MIN_SAFE_INTEGER;
}

/** NaN stands for null there. */
function orNull(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}
