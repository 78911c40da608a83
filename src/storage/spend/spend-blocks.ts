/**
 * Builds spend blocks behind the logs, one by one, in the background of appends and sums. One process at a time builds the
 * next block of an organization, under a lease.
 */

import type { Clock, Lease } from '../../domain/clock.ts';
import type { Upkeep } from '../../domain/store.ts';
import { createBlockSteps, isLeased, type NextTenant } from '../block-steps.ts';
import type { Transact, Transaction } from '../transaction.ts';
import { BLOCK_EVENTS, type BuiltBlock, type EventBits, withBits } from './block-format.ts';
import { planBlock, type SeqRange, type SpendRunner } from './block-planner.ts';

type PlannedSpend = SeqRange & {
  readonly organizationNumber: number;
  /** Null: every event of the range has expired. */
  readonly block: WrittenBlock | null;
};

export type SpendBlockReads = ReturnType<typeof createSpendBlockReads>;

const HEADS_AT_ONCE = 200;

export function createSpendBlockReads(runner: SpendRunner) {
  const { queries, runQuery } = runner;

  /** The earlier blocks with corrected events, and their new sets of superseded events. */
  async function findChanged(organizationNumber: number, corrected: readonly number[]) {
    const changed: WrittenBlock['changed'][number][] = [];
    for (let left = corrected; left.length > 0; ) {
      const [seq = 0] = left;
      const [block] = await runQuery(queries.findBlockOf, { organizationNumber, seq });
      // The block of this event has expired.
      if (block === undefined || block.lastSeq < seq) {
        left = left.slice(1);
        continue;
      }
      const { firstSeq, lastSeq } = block;
      const end = left.findIndex((each) => each > lastSeq);
      const indexes = (end === -1 ? left : left.slice(0, end)).map((each) => each - firstSeq);
      changed.push({ firstSeq, superseded: withBits(block.superseded, indexes) });
      left = end === -1 ? [] : left.slice(end);
    }
    return changed;
  }

  return {
    /** The next organization whose log has enough events for a block. */
    async findUnsummed(after: number): Promise<NextTenant> {
      const heads = await runQuery(queries.listHeads, { after, limit: HEADS_AT_ONCE });
      const found = heads.find(({ seq, mark }) => seq - (mark ?? 0) >= BLOCK_EVENTS);
      if (found !== undefined) return { tenant: found.organizationNumber, last: found.organizationNumber };
      const last = heads.length < HEADS_AT_ONCE ? null : (heads.at(-1)?.organizationNumber ?? null);
      return { tenant: null, last };
    },
    /** The caller MUST have claimed the next block. Null: too few events. */
    async planSpend(organizationNumber: number, afterSeq: number): Promise<PlannedSpend | null> {
      // Every event up to the head is committed, so a missing one has expired.
      const [log] = await runQuery(queries.findLogHead, { organizationNumber });
      const toSeq = log?.seq ?? 0;
      const planned = await planBlock(runner, organizationNumber, { afterSeq, toSeq });
      if (planned === null) return toSeq > afterSeq ? { organizationNumber, afterSeq, toSeq, block: null } : null;
      const { corrected, isFull, ...block } = planned;
      const isEnough = isFull || toSeq >= block.firstSeq + BLOCK_EVENTS - 1;
      // A gap means expired events: the next block begins after the gap, even if it is not full.
      if (!isEnough && block.firstSeq === afterSeq + 1) return null;
      const changed = await findChanged(organizationNumber, corrected);
      return { organizationNumber, afterSeq, toSeq: block.lastSeq, block: { ...block, changed } };
    },
  };
}

type SpendBlocksDeps = {
  readonly reads: SpendBlockReads;
  readonly writer: SpendWriter;
  readonly clock: Clock;
};

export function createSpendBlocks({ reads, writer, clock }: SpendBlocksDeps): Upkeep {
  async function build(organizationNumber: number, lease: Lease): Promise<boolean> {
    const afterSeq = await writer.claimSpend(organizationNumber, lease);
    if (afterSeq === null) return false;
    const planned = await reads.planSpend(organizationNumber, afterSeq);
    if (planned === null) return false;
    await writer.writeSpend(planned);
    return true;
  }

  return {
    name: 'building blocks of the log',
    step: createBlockSteps({ findNext: reads.findUnsummed, build, clock }),
  };
}

type WrittenBlock = BuiltBlock & {
  readonly superseded: EventBits;
  /** New sets of superseded events of earlier blocks. */
  readonly changed: readonly { readonly firstSeq: number; readonly superseded: EventBits }[];
};

export type SpendWriter = ReturnType<typeof createSpendWriter>;

/** The block, the corrections of earlier blocks and the new head are one short transaction. */
export function createSpendWriter(transact: Transact) {
  async function lockHead({ runQuery, queries: { spend } }: Transaction, organizationNumber: number) {
    const [head] = await runQuery(spend.lockHead, { organizationNumber });
    return head;
  }

  return {
    /** The position up to which blocks exist; null: another process has the lease. */
    claimSpend: (organizationNumber: number, lease: Lease) =>
      transact(async (tx): Promise<number | null> => {
        const { spend } = tx.queries;
        await tx.change(spend.insertHead, { organizationNumber, seq: 0, leasedUntilMs: 0 });
        const head = await lockHead(tx, organizationNumber);
        if (head === undefined || isLeased(head.leasedUntilMs, lease)) return null;
        await tx.change(spend.updateHead, { ...head, leasedUntilMs: lease.untilMs });
        return head.seq;
      }),

    /** Moves the head to the end of the range. Does nothing when another process has taken over. */
    writeSpend: ({ organizationNumber, afterSeq, toSeq, block }: PlannedSpend) =>
      transact(async (tx): Promise<void> => {
        const head = await lockHead(tx, organizationNumber);
        if (head?.seq !== afterSeq) return;
        if (block !== null) insertBlock(tx, organizationNumber, block);
        await tx.change(tx.queries.spend.updateHead, { organizationNumber, seq: toSeq, leasedUntilMs: 0 });
      }),
  };
}

function insertBlock(
  { changeRows, queries: { spend } }: Transaction,
  organizationNumber: number,
  { parts, superseded, changed, ...block }: WrittenBlock,
): void {
  const { firstSeq } = block;
  changeRows(spend.insertBlocks, [{ organizationNumber, ...block, superseded: Buffer.from(superseded) }]);
  changeRows(
    spend.insertParts,
    parts.map(({ part, content }) => ({ organizationNumber, firstSeq, part, content: Buffer.from(content) })),
  );
  changeRows(
    spend.updateSuperseded,
    changed.map((each) => ({ ...each, organizationNumber, superseded: Buffer.from(each.superseded) })),
  );
}
