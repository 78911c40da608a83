/**
 * Sums up requests: from the blocks of the log, and from blocks made on the spot of what is in none yet. Each event says when
 * its request happened, so a range may begin and end anywhere.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SpendAnswer, SpendQuestion, SpendStore } from '../../domain/spend/spend-store.ts';
import { createSpendTally, type SpendTally } from '../../domain/spend/tally.ts';
import { GROUP_HASH } from '../group-hash.ts';
import { DIMENSION_PARTS, NUMBERS_PART, withGone } from './block-format.ts';
import { planBlock, type SpendAsking } from './block-planner.ts';
import { filtersOf, type ReadBlock, sumBlock } from './block-sums.ts';

/** Null where it is not at hand and has to be read. */
type Parts = ReadonlyMap<number, Uint8Array> | null;

type Block = { readonly firstSeq: number; readonly lastSeq: number; gone: Uint8Array; readonly parts: Parts };

// Before whoever asks is told that nothing came of it.
const ANSWER_MAX_MS = 25_000;
const BLOCKS_AT_ONCE = 500;
const PARTS_AT_ONCE = 16;

export function createSpendSums(asking: SpendAsking): SpendStore {
  return {
    async sum(question) {
      const endsAtMs = asking.nowMs() + ANSWER_MAX_MS;
      const isOver = () => asking.nowMs() > endsAtMs;
      const blocks = await findBlocks(asking, question, isOver);
      return blocks === null ? { kind: 'too_long' } : await sumBlocks(asking, { question, blocks, isOver });
    },
  };
}

/**
 * Null where there was no time for all of them. What is corrected later than the last event that is looked at here still
 * counts: up to there the log was read after everything that is gone from blocks was known.
 */
async function findBlocks(
  asking: SpendAsking,
  question: SpendQuestion,
  isOver: () => boolean,
): Promise<readonly Block[] | null> {
  const { questions, ask } = asking;
  const { organizationNumber } = question;
  const [head] = await ask(questions.findHead, { organizationNumber });
  const markSeq = head?.seq ?? 0;
  const blocks = await listBlocks(asking, question, markSeq);
  const [log] = await ask(questions.findLogHead, { organizationNumber });
  for (let afterSeq = markSeq, toSeq = log?.seq ?? 0; afterSeq < toSeq; ) {
    const planned = await planBlock(asking, organizationNumber, { afterSeq, toSeq });
    if (planned === null) break;
    const { firstSeq, lastSeq, gone, corrected, parts } = planned;
    takeOff(blocks, corrected);
    blocks.push({ firstSeq, lastSeq, gone, parts: new Map(parts.map(({ part, content }) => [part, content])) });
    afterSeq = lastSeq;
    if (isOver()) return null;
  }
  return blocks;
}

async function listBlocks(
  { questions, ask }: SpendAsking,
  { organizationNumber, goneBeforeMs, fromMs, toMs }: SpendQuestion,
  toSeq: number,
): Promise<Block[]> {
  const blocks: Block[] = [];
  for (let afterSeq = 0; ; ) {
    const range = { organizationNumber, createdFromMs: goneBeforeMs, fromMs, toMs };
    const some = await ask(questions.listBlocks, { ...range, afterSeq, toSeq, limit: BLOCKS_AT_ONCE });
    for (const block of some) blocks.push({ ...block, parts: null });
    const last = some.at(-1);
    if (last === undefined || some.length < BLOCKS_AT_ONCE) return blocks;
    afterSeq = last.firstSeq;
  }
}

/** Of blocks that are not among these nothing counts anyway. */
function takeOff(blocks: readonly Block[], corrected: readonly number[]): void {
  for (const [block, seqs] of Map.groupBy(corrected, (seq) => blockOf(blocks, seq))) {
    if (block === null) continue;
    block.gone = withGone(
      block.gone,
      seqs.map((seq) => seq - block.firstSeq),
    );
  }
}

/** They are in the order of the log. */
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
  readonly question: SpendQuestion;
  readonly blocks: readonly Block[];
  readonly isOver: () => boolean;
};

async function sumBlocks(asking: SpendAsking, { question, blocks, isOver }: Pass): Promise<SpendAnswer> {
  const tally = createSpendTally(question, GROUP_HASH);
  while (tally.beginPass()) {
    for (let start = 0; start < blocks.length; start += PARTS_AT_ONCE) {
      await sumSome(asking, { question, blocks: blocks.slice(start, start + PARTS_AT_ONCE), tally });
      if (isOver()) return { kind: 'too_long' };
    }
    for (const _ of tally.endPass()) await nextTurn();
    if (isOver()) return { kind: 'too_long' };
  }
  return tally.answer();
}

async function sumSome(
  { questions, ask }: SpendAsking,
  { question, blocks, tally }: Pick<Pass, 'question' | 'blocks'> & { readonly tally: SpendTally },
): Promise<void> {
  const { organizationNumber, groupBy, filters } = question;
  const dimensions = [...filtersOf(filters).map(([dimension]) => dimension), ...(groupBy === null ? [] : [groupBy])];
  const parts = [...new Set([NUMBERS_PART, ...dimensions.map((dimension) => DIMENSION_PARTS[dimension])])];
  const stored = blocks.filter((block) => block.parts === null).map(({ firstSeq }) => firstSeq);
  const rows = stored.length === 0 ? [] : await ask(questions.listParts, { organizationNumber, blocks: stored, parts });
  const byBlock = Map.groupBy(rows, ({ firstSeq }) => firstSeq);
  for (const block of blocks) {
    const own = block.parts ?? new Map((byBlock.get(block.firstSeq) ?? []).map(({ part, content }) => [part, content]));
    // It went past its term meanwhile.
    if (own.size < parts.length) continue;
    const read: ReadBlock = { gone: block.gone, partOf: (part) => own.get(part) ?? new Uint8Array(0) };
    sumBlock(read, question, tally);
    await nextTurn();
  }
}
