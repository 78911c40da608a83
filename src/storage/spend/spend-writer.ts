/**
 * Writing blocks of the log of an organization. One process at a time makes the next one, under a lease; a block, what it
 * corrects in those before and up to where the log is in blocks are written in one short transaction.
 */

import type { Changing, TransactAll } from '../questions.ts';
import type { BuiltBlock } from './block-builder.ts';
import type { Gone } from './block-format.ts';
import type { Places } from './block-planner.ts';

export type WrittenBlock = Omit<BuiltBlock, 'parts'> & {
  readonly organizationNumber: number;
  /** The place behind which it begins. */
  readonly afterSeq: number;
  readonly parts: BuiltBlock['parts'];
  readonly gone: Gone;
  /** What blocks before it lose. */
  readonly changed: readonly { readonly firstSeq: number; readonly gone: Gone }[];
};

export type SpendWriter = {
  /** Up to where the log is in blocks; null: another one is at it. */
  claimSpend(organizationNumber: number, lease: { nowMs: number; untilMs: number }): Promise<number | null>;
  /** Does nothing where another one has taken over. */
  writeSpend(block: WrittenBlock): Promise<void>;
  /** The same for places that the log has lost. */
  skipSpend(organizationNumber: number, places: Places): Promise<void>;
};

/** All verbs, each through `call`. */
export function spreadSpendWriter(
  call: <V extends keyof SpendWriter>(verb: V, ...args: Parameters<SpendWriter[V]>) => ReturnType<SpendWriter[V]>,
): SpendWriter {
  return {
    claimSpend: (...args) => call('claimSpend', ...args),
    writeSpend: (...args) => call('writeSpend', ...args),
    skipSpend: (...args) => call('skipSpend', ...args),
  };
}

export function createSpendWriter(transact: TransactAll): SpendWriter {
  async function holdHead({ ask, questions: { spend } }: Changing, organizationNumber: number) {
    const [head] = await ask(spend.holdHead, { organizationNumber });
    return head;
  }

  return {
    claimSpend: (organizationNumber, { nowMs, untilMs }) =>
      transact(async (tx) => {
        const { spend } = tx.questions;
        await tx.change(spend.insertHead, { organizationNumber, seq: 0, leasedUntilMs: 0 });
        const head = await holdHead(tx, organizationNumber);
        if (head === undefined || head.leasedUntilMs > nowMs) return null;
        await tx.change(spend.updateHead, { ...head, leasedUntilMs: untilMs });
        return head.seq;
      }),

    writeSpend: ({ organizationNumber, afterSeq, parts, gone, changed, ...block }) =>
      transact(async (tx) => {
        const { spend } = tx.questions;
        const head = await holdHead(tx, organizationNumber);
        if (head?.seq !== afterSeq) return;
        const { firstSeq, lastSeq } = block;
        tx.changeRows(spend.insertBlocks, [{ organizationNumber, ...block, gone: Buffer.from(gone) }]);
        tx.changeRows(
          spend.insertParts,
          parts.map(({ part, content }) => ({ organizationNumber, firstSeq, part, content: Buffer.from(content) })),
        );
        tx.changeRows(
          spend.updateGone,
          changed.map((each) => ({ organizationNumber, firstSeq: each.firstSeq, gone: Buffer.from(each.gone) })),
        );
        await tx.change(spend.updateHead, { organizationNumber, seq: lastSeq, leasedUntilMs: 0 });
      }),

    skipSpend: (organizationNumber, { afterSeq, toSeq }) =>
      transact(async (tx) => {
        const head = await holdHead(tx, organizationNumber);
        if (head?.seq !== afterSeq) return;
        await tx.change(tx.questions.spend.updateHead, { organizationNumber, seq: toSeq, leasedUntilMs: 0 });
      }),
  };
}
