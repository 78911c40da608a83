/**
 * Sums requests from stored blocks, and from temporary blocks of the newest events. Every event has the time of its
 * request, so that a range is exact at both ends.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SpendAnswer, SpendQuery, SpendStore } from '../../domain/spend/spend-store.ts';
import { createSpendTally, type SpendTally } from '../../domain/spend/tally.ts';
import { ANSWER_MAX_MS, GROUP_HASH, readAllPages } from '../long-reads.ts';
import type { RowOf } from '../queries.ts';
import { DIMENSION_PARTS, NUMBERS_PART, withGone } from './block-format.ts';
import { planBlock, type SpendQueries, type SpendRunner } from './block-planner.ts';
import { filtersOf, type ReadBlock, sumBlock } from './block-sums.ts';

/** Null: not read yet. */
type Parts = ReadonlyMap<number, Uint8Array> | null;

type Block = { readonly firstSeq: number; readonly lastSeq: number; gone: Uint8Array; readonly parts: Parts };

const BLOCKS_AT_ONCE = 500;
const PARTS_AT_ONCE = 16;

export function createSpendSums(runner: SpendRunner): SpendStore {
  return {
    async sum(query) {
      const endsAtMs = runner.nowMs() + ANSWER_MAX_MS;
      const isOver = () => runner.nowMs() > endsAtMs;
      const blocks = await findBlocks(runner, query, isOver);
      return blocks === null ? { kind: 'too_long' } : await sumBlocks(runner, { query, blocks, isOver });
    },
  };
}

/**
 * Null when the time is over. An event whose correction lies beyond the end of the log that is read here still counts:
 * the `gone` sets of stored blocks are read before that end, so they contain no such correction.
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
    const { firstSeq, lastSeq, gone, corrected, parts } = planned;
    markGone(blocks, corrected);
    blocks.push({ firstSeq, lastSeq, gone, parts: new Map(parts.map(({ part, content }) => [part, content])) });
    afterSeq = lastSeq;
    if (isOver()) return null;
  }
  return blocks;
}

async function listBlocks(
  { queries, runQuery }: SpendRunner,
  { organizationNumber, goneBeforeMs, fromMs, toMs }: SpendQuery,
  toSeq: number,
): Promise<Block[]> {
  const range = { organizationNumber, createdFromMs: goneBeforeMs, fromMs, toMs, toSeq, limit: BLOCKS_AT_ONCE };
  const rows = await readAllPages<RowOf<SpendQueries['listBlocks']>>(BLOCKS_AT_ONCE, (last) =>
    runQuery(queries.listBlocks, { ...range, afterSeq: last?.firstSeq ?? 0 }),
  );
  return rows.map((block) => ({ ...block, parts: null }));
}

/** Corrections of blocks outside the range do not matter. */
function markGone(blocks: readonly Block[], corrected: readonly number[]): void {
  for (const [block, seqs] of Map.groupBy(corrected, (seq) => blockOf(blocks, seq))) {
    if (block === null) continue;
    block.gone = withGone(
      block.gone,
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
    for (const _ of tally.endPass()) await nextTurn();
    if (isOver()) return { kind: 'too_long' };
  }
  return tally.answer();
}

async function sumSome(
  { queries, runQuery }: SpendRunner,
  { query, blocks, tally }: Pick<Pass, 'query' | 'blocks'> & { readonly tally: SpendTally },
): Promise<void> {
  const { organizationNumber, groupBy, filters } = query;
  const dimensions = [...filtersOf(filters).map(([dimension]) => dimension), ...(groupBy === null ? [] : [groupBy])];
  const parts = [...new Set([NUMBERS_PART, ...dimensions.map((dimension) => DIMENSION_PARTS[dimension])])];
  const stored = blocks.filter((block) => block.parts === null).map(({ firstSeq }) => firstSeq);
  const rows =
    stored.length === 0 ? [] : await runQuery(queries.listParts, { organizationNumber, blocks: stored, parts });
  const byBlock = Map.groupBy(rows, ({ firstSeq }) => firstSeq);
  for (const block of blocks) {
    const own = block.parts ?? new Map((byBlock.get(block.firstSeq) ?? []).map(({ part, content }) => [part, content]));
    // The block expired meanwhile.
    if (own.size < parts.length) continue;
    const read: ReadBlock = { gone: block.gone, partOf: (part) => own.get(part) ?? new Uint8Array(0) };
    sumBlock(read, query, tally);
    await nextTurn();
  }
}
