/**
 * Writing the index of a project. One process at a time does: it takes a lease with the number of the block that it will
 * write, writes what the block says, and then makes it known, all at once. Each step is a short transaction.
 */

import type { Changing, NewRow, TransactAll } from '../questions.ts';
import type { BuiltBlock } from './block-builder.ts';

export type Claimed =
  | { readonly kind: 'write'; readonly block: number }
  /** Rows of blocks that nobody knows of, left by one who did not come to an end. */
  | { readonly kind: 'clean'; readonly blocks: readonly number[] };

type OfBlock = { readonly projectNumber: number; readonly block: number };

export type BlockRows = OfBlock & Pick<BuiltBlock, 'facets' | 'parts'>;

export type PublishedBlock = OfBlock & {
  /** Null: there was no trace to put into it. */
  readonly built: BuiltBlock['block'] | null;
  /** What is indexed with it, as it was when it was looked at. */
  readonly pending: readonly { readonly sequence: number; readonly mark: number }[];
  /** What other blocks lose. */
  readonly gone: readonly (Pick<NewRow<'SearchBlock'>, 'gone' | 'goneCount'> & { readonly block: number })[];
  /** A block that goes as a whole; null: none. */
  readonly removed: number | null;
};

export type IndexWriter = {
  /** Null: another one is at it. */
  claimBlock(projectNumber: number, lease: { nowMs: number; untilMs: number }): Promise<Claimed | null>;
  /** False: another one has taken over. */
  writeBlockRows(rows: BlockRows): Promise<boolean>;
  /** False: another one has taken over. Traces that have changed meanwhile stay pending. */
  publishBlock(block: PublishedBlock): Promise<boolean>;
  /** Removes some rows of a block that is not known; whether there may be more. */
  removeBlockRows(block: OfBlock): Promise<boolean>;
  /** Nothing is left of these blocks. */
  endCleaning(projectNumber: number, blocks: readonly number[]): Promise<void>;
};

/** All verbs, each through `call`. */
export function spreadIndexWriter(
  call: <V extends keyof IndexWriter>(verb: V, ...args: Parameters<IndexWriter[V]>) => ReturnType<IndexWriter[V]>,
): IndexWriter {
  return {
    claimBlock: (...args) => call('claimBlock', ...args),
    writeBlockRows: (...args) => call('writeBlockRows', ...args),
    publishBlock: (...args) => call('publishBlock', ...args),
    removeBlockRows: (...args) => call('removeBlockRows', ...args),
    endCleaning: (...args) => call('endCleaning', ...args),
  };
}

const ROWS_REMOVED_AT_ONCE = 500;
const NEW_HEAD = { generation: 0, nextBlock: 1, writtenBlock: null, removedBlock: null, leasedUntilMs: 0 };

export function createIndexWriter(transact: TransactAll): IndexWriter {
  async function holdHead({ ask, questions: { searchIndex } }: Changing, projectNumber: number) {
    const [head] = await ask(searchIndex.holdHead, { projectNumber });
    return head;
  }

  return {
    claimBlock: (projectNumber, { nowMs, untilMs }) =>
      transact(async (tx) => {
        const { searchIndex } = tx.questions;
        await tx.change(searchIndex.insertHead, { projectNumber, ...NEW_HEAD });
        const head = await holdHead(tx, projectNumber);
        if (head === undefined || head.leasedUntilMs > nowMs) return null;
        const blocks = [head.writtenBlock, head.removedBlock].filter((block) => block !== null);
        const block = head.nextBlock;
        const taken = blocks.length > 0 ? head : { ...head, nextBlock: block + 1, writtenBlock: block };
        await tx.change(searchIndex.updateHead, { ...taken, leasedUntilMs: untilMs });
        return blocks.length > 0 ? { kind: 'clean', blocks } : { kind: 'write', block };
      }),

    writeBlockRows: ({ projectNumber, block, facets, parts }) =>
      transact(async (tx) => {
        const { searchIndex } = tx.questions;
        if ((await holdHead(tx, projectNumber))?.writtenBlock !== block) return false;
        const place = { projectNumber, block };
        tx.changeRows(
          searchIndex.insertFacets,
          facets.map((facet) => ({ ...place, ...facet })),
        );
        tx.changeRows(
          searchIndex.insertParts,
          parts.map((part) => ({ ...place, ...part })),
        );
        return true;
      }),

    publishBlock: ({ projectNumber, block, built, pending, gone, removed }) =>
      transact(async (tx) => {
        const { searchIndex } = tx.questions;
        const head = await holdHead(tx, projectNumber);
        if (head?.writtenBlock !== block) return false;
        if (built !== null) tx.changeRows(searchIndex.insertBlocks, [{ projectNumber, block, ...built }]);
        tx.changeRows(
          searchIndex.updateGone,
          gone.map((each) => ({ projectNumber, ...each })),
        );
        if (removed !== null) tx.changeRows(searchIndex.removeBlocks, [{ projectNumber, block: removed }]);
        const sequences = pending.map(({ sequence }) => sequence);
        if (!tx.isAlone) await tx.ask(searchIndex.holdPending, { projectNumber, sequences });
        tx.changeRows(
          searchIndex.removePending,
          pending.map(({ sequence, mark }) => ({ projectNumber, traceSequence: sequence, mark })),
        );
        const isTaking = gone.length > 0 || removed !== null;
        await tx.change(searchIndex.updateHead, {
          ...head,
          generation: head.generation + (isTaking ? 1 : 0),
          writtenBlock: null,
          removedBlock: removed,
          // What is removed is cleaned next, by the same one.
          leasedUntilMs: removed === null ? 0 : head.leasedUntilMs,
        });
        return true;
      }),

    removeBlockRows: ({ projectNumber, block }) =>
      transact(async ({ change, questions: { searchIndex } }) => {
        const given = { projectNumber, block, limit: ROWS_REMOVED_AT_ONCE };
        if ((await change(searchIndex.removeFacets, given)) > 0) return true;
        return (await change(searchIndex.removeParts, given)) > 0;
      }),

    endCleaning: (projectNumber, blocks) =>
      transact(async (tx) => {
        const head = await holdHead(tx, projectNumber);
        // Another one may have taken over, and begun to write.
        if (head === undefined || !blocks.includes(head.writtenBlock ?? head.removedBlock ?? 0)) return;
        await tx.change(tx.questions.searchIndex.updateHead, {
          ...head,
          writtenBlock: null,
          removedBlock: null,
          leasedUntilMs: 0,
        });
      }),
  };
}
