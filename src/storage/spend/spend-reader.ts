/**
 * Sums requests from stored blocks, and from temporary blocks of the newest events. Every event has the time of its
 * request, so that a range is exact at both ends.
 */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { USAGE_NAMES } from '../../domain/events/request-content.ts';
import type { SpendValues } from '../../domain/spend/event-spending.ts';
import { AT, addMeasured, type Measured, type Sums } from '../../domain/spend/exact-sums.ts';
import {
  SPEND_DIMENSIONS,
  type SpendAnswer,
  type SpendDimension,
  type SpendQuery,
  type SpendStore,
} from '../../domain/spend/spend-store.ts';
import { createSpendTally, type SpendTally } from '../../domain/spend/tally.ts';
import { GROUP_HASH, READ_MAX_MS, readAllPages } from '../long-reads.ts';
import type { RowOf } from '../statements/statement.ts';
import type { Queries } from '../transaction.ts';
import {
  BLOCK_EVENTS,
  createNumbersReader,
  type EventBits,
  isOptional,
  isSuperseded,
  NUMBERS_PART,
  type Numbers,
  unpackValues,
  VALUE_PARTS,
  type Values,
  withBits,
} from './block-format.ts';
import { planBlock, type SpendRunner } from './block-planner.ts';

/** Null: not read yet. */
type Parts = ReadonlyMap<number, Uint8Array> | null;

type Block = { readonly firstSeq: number; readonly lastSeq: number; superseded: Uint8Array; readonly parts: Parts };

const BLOCKS_AT_ONCE = 500;
const PARTS_AT_ONCE = 16;

export function createSpendSums(runner: SpendRunner): SpendStore {
  return {
    async sum(query) {
      const endsAtMs = runner.nowMs() + READ_MAX_MS;
      const isOver = () => runner.nowMs() > endsAtMs;
      const blocks = await findBlocks(runner, query, isOver);
      return blocks === null ? { kind: 'too_long' } : await sumBlocks(runner, { query, blocks, isOver });
    },
  };
}

/**
 * Null when the time is over. An event whose correction lies beyond the end of the log that is read here still counts:
 * the `superseded` sets of stored blocks are read before that end, so they contain no such correction.
 */
async function findBlocks(
  runner: SpendRunner,
  query: SpendQuery,
  isOver: () => boolean,
): Promise<readonly Block[] | null> {
  const { queries, runQuery } = runner;
  const { organizationNumber } = query;
  const [head] = await runQuery(queries.findHead, { organizationNumber });
  const markSeq = head?.seq ?? 0;
  const blocks = await listBlocks(runner, query, markSeq);
  const [log] = await runQuery(queries.findLogHead, { organizationNumber });
  for (let afterSeq = markSeq, toSeq = log?.seq ?? 0; afterSeq < toSeq; ) {
    const planned = await planBlock(runner, organizationNumber, { afterSeq, toSeq });
    if (planned === null) break;
    const { firstSeq, lastSeq, superseded, corrected, parts } = planned;
    markSuperseded(blocks, corrected);
    blocks.push({ firstSeq, lastSeq, superseded, parts: new Map(parts.map(({ part, content }) => [part, content])) });
    afterSeq = lastSeq;
    if (isOver()) return null;
  }
  return blocks;
}

async function listBlocks(
  { queries, runQuery }: SpendRunner,
  { organizationNumber, expiredBeforeMs, fromMs, toMs }: SpendQuery,
  toSeq: number,
): Promise<Block[]> {
  const range = { organizationNumber, createdFromMs: expiredBeforeMs, fromMs, toMs, toSeq, limit: BLOCKS_AT_ONCE };
  const rows = await readAllPages<RowOf<Queries['spend']['listBlocks']>>(BLOCKS_AT_ONCE, (last) =>
    runQuery(queries.listBlocks, { ...range, afterSeq: last?.firstSeq ?? 0 }),
  );
  return rows.map((block) => ({ ...block, parts: null }));
}

/** Corrections of blocks outside the range do not matter. */
function markSuperseded(blocks: readonly Block[], corrected: readonly number[]): void {
  for (const [block, seqs] of Map.groupBy(corrected, (seq) => blockOf(blocks, seq))) {
    if (block === null) continue;
    block.superseded = withBits(
      block.superseded,
      seqs.map((seq) => seq - block.firstSeq),
    );
  }
}

/** Binary search: blocks are sorted by position. */
function blockOf(blocks: readonly Block[], seq: number): Block | null {
  let [from, to] = [0, blocks.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((blocks[middle]?.firstSeq ?? 0) <= seq) from = middle + 1;
    else to = middle;
  }
  const block = blocks[from - 1];
  return block !== undefined && seq <= block.lastSeq ? block : null;
}

type Pass = {
  readonly query: SpendQuery;
  readonly blocks: readonly Block[];
  readonly isOver: () => boolean;
};

async function sumBlocks(runner: SpendRunner, { query, blocks, isOver }: Pass): Promise<SpendAnswer> {
  const tally = createSpendTally(query, GROUP_HASH);
  while (tally.beginPass()) {
    for (let start = 0; start < blocks.length; start += PARTS_AT_ONCE) {
      await sumSome(runner, { query, blocks: blocks.slice(start, start + PARTS_AT_ONCE), tally });
      if (isOver()) return { kind: 'too_long' };
    }
    for (const _ of tally.endPass()) await yieldToEventLoop();
    if (isOver()) return { kind: 'too_long' };
  }
  return tally.answer();
}

async function sumSome(
  { queries, runQuery }: SpendRunner,
  { query, blocks, tally }: Pick<Pass, 'query' | 'blocks'> & { readonly tally: SpendTally },
): Promise<void> {
  const { organizationNumber, groupBy, filters } = query;
  const values = [...filtersOf(filters).map(([name]) => name), ...(groupBy === null ? [] : [groupBy])];
  const parts = [...new Set([NUMBERS_PART, ...values.map((name) => VALUE_PARTS[name])])];
  const stored = blocks.filter((block) => block.parts === null).map(({ firstSeq }) => firstSeq);
  const rows =
    stored.length === 0 ? [] : await runQuery(queries.listParts, { organizationNumber, blocks: stored, parts });
  const byBlock = Map.groupBy(rows, ({ firstSeq }) => firstSeq);
  for (const block of blocks) {
    const stored =
      block.parts ?? new Map((byBlock.get(block.firstSeq) ?? []).map(({ part, content }) => [part, content]));
    // The block expired meanwhile.
    if (parts.some((part) => !stored.has(part) && !isOptional(part))) continue;
    const read: ReadBlock = { superseded: block.superseded, partOf: (part) => stored.get(part) ?? new Uint8Array(0) };
    sumBlock(read, query, tally);
    await yieldToEventLoop();
  }
}

type ReadBlock = { readonly superseded: EventBits; readonly partOf: (part: number) => Uint8Array };

/** For each event, by its index in the block: an entry of `each`. */
type ByList<T> = { readonly listIndexes: Uint16Array; readonly each: readonly T[] };

const readNumbers = createNumbersReader();

/** Sums up the requests of one block. */
function sumBlock({ superseded, partOf }: ReadBlock, query: SpendQuery, tally: SpendTally): void {
  const { fromMs, toMs, expiredBeforeMs, groupBy, filters } = query;
  const numbers = readNumbers(partOf(NUMBERS_PART));
  const read = (name: SpendValues) => unpackValues(partOf(VALUE_PARTS[name]));
  const wanted = filtersOf(filters).map(([name, value]) => matchValue(read(name), value));
  const groups = groupBy === null ? null : groupsOf(read(groupBy), tally);
  const all = groupBy === null ? tally.sumsOf(null) : null;
  const total = tally.total();
  const { occurredAtMs, createdAtMs } = numbers;
  const measured = measuredOf(numbers);
  // Runs for every request of a range: what the query does not ask for costs nothing.
  for (let index = 0; index < occurredAtMs.length; index += 1) {
    const atMs = occurredAtMs[index] ?? Number.NaN;
    // Both comparisons fail for events without a request, whose numbers are NaN.
    if (!(atMs >= fromMs && atMs <= toMs) || (createdAtMs[index] ?? 0) < expiredBeforeMs) continue;
    if (superseded.length > 0 && isSuperseded(superseded, index)) continue;
    if (wanted.length > 0 && !wanted.every(({ listIndexes, each }) => each[listIndexes[index] ?? 0])) continue;
    if (total !== null) addMeasured(total, measured, index);
    const into = groups === null ? all : (groups.each[groups.listIndexes[index] ?? 0] ?? null);
    if (into === null) continue;
    if (!isSeveral(into)) addMeasured(into, measured, index);
    else for (const sums of into) addMeasured(sums, measured, index);
  }
}

/** A column of ones. */
const ONES = new Float64Array(BLOCK_EVENTS).fill(1);

/** Without the measures that are zero throughout the block, as most are. */
function measuredOf({ costNanoUsd, error, ...usage }: Numbers): readonly Measured[] {
  const unpriced = new Float64Array(costNanoUsd.length);
  for (let index = 0; index < costNanoUsd.length; index += 1) {
    if (!Number.isNaN(costNanoUsd[index])) continue;
    costNanoUsd[index] = 0;
    unpriced[index] = 1;
  }
  const all = { ...usage, errors: error, unpriced, costNanoUsd };
  const names = ['errors', 'unpriced', 'costNanoUsd', ...USAGE_NAMES] as const;
  const some = names.filter((name) => hasAmount(all[name]));
  return [{ at: AT.requests, numbers: ONES }, ...some.map((name) => ({ at: AT[name], numbers: all[name] }))];
}

function hasAmount(numbers: Float64Array): boolean {
  // A callback per number would take as long as the sums.
  for (let index = 0; index < numbers.length; index += 1) if ((numbers[index] ?? 0) > 0) return true;
  return false;
}

function isSeveral(sums: Sums | readonly Sums[]): sums is readonly Sums[] {
  return Array.isArray(sums);
}

/** A prompt and its version are found by any of their names. */
const FILTERED: { readonly [D in SpendDimension]?: SpendValues } = {
  ...{ prompt_id: 'prompt_name', prompt_version: 'prompt_name' },
};

function filtersOf(filters: SpendQuery['filters']): readonly (readonly [SpendValues, string])[] {
  return SPEND_DIMENSIONS.flatMap((dimension) => {
    const value = filters[dimension];
    return value === undefined ? [] : [[FILTERED[dimension] ?? dimension, value] as const];
  });
}

/** An empty value selects events without one. */
function matchValue({ distinct, lists, listIndexes }: Values, value: string): ByList<boolean> {
  if (value === '') return { listIndexes, each: lists.map((list) => list.length === 0) };
  const wanted = distinct.indexOf(value);
  return { listIndexes, each: lists.map((list) => list.includes(wanted)) };
}

/** A request with several values counts in each group. */
function groupsOf({ distinct, lists, listIndexes }: Values, tally: SpendTally): ByList<Sums | readonly Sums[] | null> {
  const sums = distinct.map((value) => tally.sumsOf(value));
  const none = lists.some((list) => list.length === 0) ? tally.sumsOf(null) : null;
  // Nearly every list holds one value.
  const each = lists.map((list) => {
    if (list.length === 0) return none;
    if (list.length === 1) return sums[list[0] ?? 0] ?? null;
    return list.map((at) => sums[at] ?? null).filter((some) => some !== null);
  });
  return { listIndexes, each };
}
