/**
 * Writes spend blocks of an organization. One process at a time builds the next block, under a lease; the block, the
 * corrections of earlier blocks and the new head are one short transaction.
 */

import type { Lease } from '../block-steps.ts';
import type { Transact, Transaction } from '../queries.ts';
import type { BuiltBlock, EventBits } from './block-format.ts';
import type { SeqRange } from './block-planner.ts';

export type WrittenBlock = Omit<BuiltBlock, 'parts'> & {
  readonly organizationNumber: number;
  /** The head before this block. */
  readonly afterSeq: number;
  readonly parts: BuiltBlock['parts'];
  readonly superseded: EventBits;
  /** New sets of superseded events of earlier blocks. */
  readonly changed: readonly { readonly firstSeq: number; readonly superseded: EventBits }[];
};

export type SpendWriter = {
  /** The position up to which blocks exist; null: another process has the lease. */
  claimSpend(organizationNumber: number, lease: Lease): Promise<number | null>;
  /** Does nothing when another process has taken over. */
  writeSpend(block: WrittenBlock): Promise<void>;
  /** Moves the head past expired events, in the same way. */
  skipSpend(organizationNumber: number, range: SeqRange): Promise<void>;
};

export function createSpendWriter(transact: Transact): SpendWriter {
  async function lockHead({ runQuery, queries: { spend } }: Transaction, organizationNumber: number) {
    const [head] = await runQuery(spend.lockHead, { organizationNumber });
    return head;
  }

  return {
    claimSpend: (organizationNumber, { nowMs, untilMs }) =>
      transact(async (tx) => {
        const { spend } = tx.queries;
        await tx.change(spend.insertHead, { organizationNumber, seq: 0, leasedUntilMs: 0 });
        const head = await lockHead(tx, organizationNumber);
        if (head === undefined || head.leasedUntilMs > nowMs) return null;
        await tx.change(spend.updateHead, { ...head, leasedUntilMs: untilMs });
        return head.seq;
      }),

    writeSpend: ({ organizationNumber, afterSeq, parts, superseded, changed, ...block }) =>
      transact(async (tx) => {
        const { spend } = tx.queries;
        const head = await lockHead(tx, organizationNumber);
        if (head?.seq !== afterSeq) return;
        const { firstSeq, lastSeq } = block;
        tx.changeRows(spend.insertBlocks, [{ organizationNumber, ...block, superseded: Buffer.from(superseded) }]);
        tx.changeRows(
          spend.insertParts,
          parts.map(({ part, content }) => ({ organizationNumber, firstSeq, part, content: Buffer.from(content) })),
        );
        tx.changeRows(
          spend.updateSuperseded,
          changed.map((each) => ({
            organizationNumber,
            firstSeq: each.firstSeq,
            superseded: Buffer.from(each.superseded),
          })),
        );
        await tx.change(spend.updateHead, { organizationNumber, seq: lastSeq, leasedUntilMs: 0 });
      }),

    skipSpend: (organizationNumber, { afterSeq, toSeq }) =>
      transact(async (tx) => {
        const head = await lockHead(tx, organizationNumber);
        if (head?.seq !== afterSeq) return;
        await tx.change(tx.queries.spend.updateHead, { organizationNumber, seq: toSeq, leasedUntilMs: 0 });
      }),
  };
}
