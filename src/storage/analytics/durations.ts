/**
 * Percentiles of whole traces from the columns of the search index. Traces that changed since they were indexed are read
 * from their table, and so are large traces, whose durations may need their spans.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { createDurations, type Durations } from '../../domain/analytics/durations.ts';
import { entriesOf } from '../../domain/analytics/entries.ts';
import type { AnalyticsQuery } from '../../domain/analytics/trace-analytics-store.ts';
import { SPANS_READ_THROUGH_MAX } from '../../domain/traces/trace-aggregates.ts';
import { COLUMNS, hasBit, unpackColumn } from '../search/block-format.ts';
import { type IndexBlock, listAllBlocks, readUnchanged } from '../search/index-reader.ts';
import { type AnalyticsRunner, scanTraces, wholeRange } from './trace-scan.ts';

type Reading = {
  readonly runner: AnalyticsRunner;
  readonly query: AnalyticsQuery;
  readonly isOver: () => boolean;
};

/** With more traces that are not indexed, scanning all traces is faster. */
const PENDING_MAX = 20_000;
const PENDING_AT_ONCE = 500;
const BLOCKS_AT_ONCE = 32;
const PARTS = [COLUMNS.sequence, COLUMNS.startedAtMs, COLUMNS.insertedAtMs, COLUMNS.totalTimeMs, COLUMNS.firstTokenMs];
const NO_NEEDS = { metadata: false, spans: false, needles: [] };

/** Whether blocks can answer: they have no columns of spans. */
export function areDurationsInBlocks({ interval, groupBy, conditions, hasPercentiles }: AnalyticsQuery): boolean {
  return (
    hasPercentiles &&
    interval !== 'minute' &&
    groupBy === 'none' &&
    Object.values(conditions).every((condition) => condition === null)
  );
}

/** Null when the index does not help, or the time is over. */
export function readDurations(reading: Reading): Promise<Durations | null> {
  return readUnchanged(reading.runner, reading.query.projectNumber, async () => {
    const durations = createDurations(reading.query);
    return (await addAll(reading, durations)) ? durations : null;
  });
}

async function addAll(reading: Reading, durations: Durations): Promise<boolean> {
  const { runner, query } = reading;
  const { queries, runQuery } = runner;
  const { projectNumber, fromMs, toMs } = query;
  // Pending traces are read before the blocks, so that a trace that is indexed meanwhile is known and not missed.
  const pending = await runQuery(queries.listPending, { projectNumber, limit: PENDING_MAX + 1 });
  if (pending.length > PENDING_MAX) return false;
  const blocks = await listAllBlocks(runner, projectNumber);
  if (blocks.length === 0) return false;
  const isKnown = new Set(pending.map(({ sequence }) => sequence));
  const isLarge = await addLarge(reading, durations);
  for (const sequence of isLarge) isKnown.add(sequence);
  await addPending(reading, durations, { sequences: pending.map(({ sequence }) => sequence), isLarge });
  const inRange = blocks.filter(({ startedFromMs, startedToMs }) => startedToMs >= fromMs && startedFromMs <= toMs);
  for (let start = 0; start < inRange.length; start += BLOCKS_AT_ONCE) {
    if (reading.isOver() || durations.isOverLimit()) return false;
    await addBlocks(reading, durations, { blocks: inRange.slice(start, start + BLOCKS_AT_ONCE), isKnown });
  }
  return !durations.isOverLimit();
}

/** Answers their sequences. */
async function addLarge({ runner, query }: Reading, durations: Durations): Promise<ReadonlySet<number>> {
  const sequences = new Set<number>();
  for await (const part of scanTraces(runner, { ...wholeRange(query), size: 'large' }, NO_NEEDS)) {
    for (const facts of part) {
      sequences.add(facts.trace.sequence);
      for (const { firstTokensMs, totalTimesMs } of entriesOf(query, facts)) {
        durations.add(facts.trace.startMs, totalTimesMs[0] ?? null, firstTokensMs[0] ?? null);
      }
    }
  }
  return sequences;
}

type Pending = { readonly sequences: readonly number[]; readonly isLarge: ReadonlySet<number> };

async function addPending(
  { runner: { queries, runQuery }, query }: Reading,
  durations: Durations,
  { sequences, isLarge }: Pending,
): Promise<void> {
  const { projectNumber, fromMs, toMs } = query;
  for (let start = 0; start < sequences.length; start += PENDING_AT_ONCE) {
    const some = sequences.slice(start, start + PENDING_AT_ONCE);
    for (const trace of await runQuery(queries.listDurations, { projectNumber, sequences: some })) {
      const { sequence, startMs, insertedAtMs, spanCount, durationMs, firstTokenMs } = trace;
      if (isLarge.has(sequence) || spanCount > SPANS_READ_THROUGH_MAX) continue;
      if (startMs < fromMs || startMs > toMs || insertedAtMs < receivedFrom(query)) continue;
      durations.add(startMs, durationMs === null ? null : Math.max(0, durationMs), firstTokenMs);
    }
    await nextTurn();
  }
}

type Blocks = { readonly blocks: readonly IndexBlock[]; readonly isKnown: ReadonlySet<number> };

async function addBlocks(
  { runner: { queries, runQuery }, query }: Reading,
  durations: Durations,
  { blocks, isKnown }: Blocks,
): Promise<void> {
  const { projectNumber, fromMs, toMs } = query;
  const receivedFromMs = receivedFrom(query);
  const numbers = blocks.map(({ block }) => block);
  const rows = await runQuery(queries.listParts, { projectNumber, blocks: numbers, parts: PARTS });
  const contents = new Map(rows.map(({ block, part, content }) => [`${block} ${part}`, content]));
  for (const { block, traces, deleted } of blocks) {
    const column = (part: number) => unpackColumn(contents.get(`${block} ${part}`) ?? new Uint8Array(0));
    // The block was removed meanwhile: the generation has changed, and the attempt is repeated.
    if (!contents.has(`${block} ${COLUMNS.sequence}`)) continue;
    const [sequences, started] = [column(COLUMNS.sequence), column(COLUMNS.startedAtMs)];
    const [inserted, totalTimes] = [column(COLUMNS.insertedAtMs), column(COLUMNS.totalTimeMs)];
    const firstTokens = column(COLUMNS.firstTokenMs);
    for (let index = 0; index < traces; index += 1) {
      const startMs = started[index] ?? 0;
      if (startMs < fromMs || startMs > toMs || (inserted[index] ?? 0) < receivedFromMs) continue;
      if (hasBit(deleted, index) || isKnown.has(sequences[index] ?? 0)) continue;
      durations.add(startMs, orNull(totalTimes[index]), orNull(firstTokens[index]));
    }
    await nextTurn();
  }
}

function receivedFrom({ expiredBeforeMs }: AnalyticsQuery): number {
  return expiredBeforeMs ?? Number.MIN_SAFE_INTEGER;
}

/** Columns have NaN for null. */
function orNull(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}
