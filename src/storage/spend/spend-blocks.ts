/** Puts logs into blocks, one at a time: off the way of who appends to them, and of who sums them up. */

import type { SpendBlocks } from '../../domain/spend/spend-store.ts';
import { BLOCK_EVENTS, withGone } from './block-format.ts';
import { planBlock, type SpendAsking } from './block-planner.ts';
import type { SpendWriter, WrittenBlock } from './spend-writer.ts';

export type PlannedSpend =
  | { readonly kind: 'block'; readonly block: WrittenBlock }
  /** All events up to a place are past their term. */
  | { readonly kind: 'gone'; readonly toSeq: number };

export type SpendBlockReads = {
  /**
   * The first organization behind another one whose log has enough for a block; null: there is none up to `last`, which is
   * null where there are no others.
   */
  findUnsummed(after: number): Promise<{ readonly organizationNumber: number | null; readonly last: number | null }>;
  /** Only for who has claimed the next block. Null: there is not enough for one. */
  planSpend(organizationNumber: number, afterSeq: number): Promise<PlannedSpend | null>;
};

const HEADS_AT_ONCE = 200;

export function createSpendBlockReads(asking: SpendAsking): SpendBlockReads {
  const { questions, ask } = asking;

  /** Of blocks before, those that lose something, and what of them is gone then. */
  async function findChanged(organizationNumber: number, corrected: readonly number[]) {
    const changed: WrittenBlock['changed'][number][] = [];
    for (let left = corrected; left.length > 0; ) {
      const [seq = 0] = left;
      const [block] = await ask(questions.findBlockOf, { organizationNumber, seq });
      // It is past its term, and gone as a whole.
      if (block === undefined || block.lastSeq < seq) {
        left = left.slice(1);
        continue;
      }
      const { firstSeq, lastSeq } = block;
      const end = left.findIndex((each) => each > lastSeq);
      const places = (end === -1 ? left : left.slice(0, end)).map((each) => each - firstSeq);
      changed.push({ firstSeq, gone: withGone(block.gone, places) });
      left = end === -1 ? [] : left.slice(end);
    }
    return changed;
  }

  return {
    async findUnsummed(after) {
      const heads = await ask(questions.listHeads, { after, limit: HEADS_AT_ONCE });
      const found = heads.find(({ seq, mark }) => seq - (mark ?? 0) >= BLOCK_EVENTS);
      if (found !== undefined) return { organizationNumber: found.organizationNumber, last: found.organizationNumber };
      const last = heads.length < HEADS_AT_ONCE ? null : (heads.at(-1)?.organizationNumber ?? null);
      return { organizationNumber: null, last };
    },
    async planSpend(organizationNumber, afterSeq) {
      // Up to there everything is committed, so that what is not found is gone.
      const [log] = await ask(questions.findLogHead, { organizationNumber });
      const toSeq = log?.seq ?? 0;
      const planned = await planBlock(asking, organizationNumber, { afterSeq, toSeq });
      if (planned === null) return toSeq > afterSeq ? { kind: 'gone', toSeq } : null;
      const { corrected, isFull, ...block } = planned;
      const isEnough = isFull || toSeq >= block.firstSeq + BLOCK_EVENTS - 1;
      // What is missing is past its term, and the next block begins where that ends.
      if (!isEnough && block.firstSeq === afterSeq + 1) return null;
      const changed = await findChanged(organizationNumber, corrected);
      return { kind: 'block', block: { organizationNumber, afterSeq, ...block, changed } };
    },
  };
}

export type SpendBlocksDeps = {
  readonly reads: SpendBlockReads;
  readonly writer: SpendWriter;
  /** By which leases end, on every process. */
  readonly clock: () => number;
};

// A block takes well under a second; this is for a machine that is busy with something else.
const LEASE_MS = 120_000;

export function createSpendBlocks({ reads, writer, clock }: SpendBlocksDeps): SpendBlocks {
  let lastOrganization = 0;
  /** Since it began again with the first organization. */
  let isNothingAdded = true;

  async function add(organizationNumber: number): Promise<void> {
    const nowMs = clock();
    const afterSeq = await writer.claimSpend(organizationNumber, { nowMs, untilMs: nowMs + LEASE_MS });
    if (afterSeq === null) return;
    const planned = await reads.planSpend(organizationNumber, afterSeq);
    if (planned === null) return;
    if (planned.kind === 'block') await writer.writeSpend(planned.block);
    else await writer.skipSpend(organizationNumber, { afterSeq, toSeq: planned.toSeq });
    isNothingAdded = false;
  }

  return {
    async step() {
      const { organizationNumber, last } = await reads.findUnsummed(lastOrganization);
      if (organizationNumber !== null) await add(organizationNumber);
      lastOrganization = last ?? 0;
      if (last !== null) return 'more';
      const isDone = isNothingAdded;
      isNothingAdded = true;
      return isDone ? 'done' : 'more';
    },
  };
}
