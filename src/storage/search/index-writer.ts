/**
 * Writes the index of a project, one process at a time: it leases the head with the number of a new block, writes the rows
 * of the block, and then publishes it. Each step is a short transaction.
 */

import type { Lease } from '../../domain/clock.ts';
import { isLeased } from '../block-steps.ts';
import type { NewRow } from '../queries.ts';
import type { Transact, Transaction } from '../transaction.ts';
import type { BuiltBlock } from './block-builder.ts';

type Claimed =
  | { readonly kind: 'write'; readonly block: number }
  /** Rows of blocks that were never published or are already removed: a process stopped halfway. */
  | { readonly kind: 'clean'; readonly blocks: readonly number[] };

type OfBlock = { readonly projectNumber: number; readonly block: number };

type BlockRows = OfBlock & Pick<BuiltBlock, 'facets' | 'parts'>;

export type PublishedBlock = OfBlock & {
  /** Null: no trace was left to index. */
  readonly built: BuiltBlock['block'] | null;
  /** The indexed traces, with the mark that each had when it was read. */
  readonly pending: readonly { readonly sequence: number; readonly mark: number }[];
  /** The new sets of deleted traces of other blocks. */
  readonly deleted: readonly (Pick<NewRow<'SearchBlock'>, 'deleted' | 'deletedCount'> & { readonly block: number })[];
  /** A block that is removed as a whole; null: none. */
  readonly removed: number | null;
};

export type IndexWriter = ReturnType<typeof createIndexWriter>;

const ROWS_REMOVED_AT_ONCE = 500;
const NEW_HEAD = { generation: 0, nextBlock: 1, writtenBlock: null, removedBlock: null, leasedUntilMs: 0 };

export function createIndexWriter(transact: Transact) {
  async function lockHead({ runQuery, queries: { searchIndex } }: Transaction, projectNumber: number) {
    const [head] = await runQuery(searchIndex.lockHead, { projectNumber });
    return head;
  }

  return {
    /** Null: another process has the lease. */
    claimBlock: (projectNumber: number, lease: Lease) =>
      transact(async (tx): Promise<Claimed | null> => {
        const { searchIndex } = tx.queries;
        await tx.change(searchIndex.insertHead, { projectNumber, ...NEW_HEAD });
        const head = await lockHead(tx, projectNumber);
        if (head === undefined || isLeased(head.leasedUntilMs, lease)) return null;
        const blocks = [head.writtenBlock, head.removedBlock].filter((block) => block !== null);
        const block = head.nextBlock;
        const taken = blocks.length > 0 ? head : { ...head, nextBlock: block + 1, writtenBlock: block };
        await tx.change(searchIndex.updateHead, { ...taken, leasedUntilMs: lease.untilMs });
        return blocks.length > 0 ? { kind: 'clean', blocks } : { kind: 'write', block };
      }),

    /** False: another process has taken over. */
    writeBlockRows: ({ projectNumber, block, facets, parts }: BlockRows) =>
      transact(async (tx) => {
        const { searchIndex } = tx.queries;
        if ((await lockHead(tx, projectNumber))?.writtenBlock !== block) return false;
        const blockKey = { projectNumber, block };
        tx.changeRows(
          searchIndex.insertFacets,
          facets.map((facet) => ({ ...blockKey, ...facet })),
        );
        tx.changeRows(
          searchIndex.insertParts,
          parts.map((part) => ({ ...blockKey, ...part })),
        );
        return true;
      }),

    /** False: another process has taken over. Traces that changed meanwhile stay pending. */
    publishBlock: ({ projectNumber, block, built, pending, deleted, removed }: PublishedBlock) =>
      transact(async (tx) => {
        const { searchIndex } = tx.queries;
        const head = await lockHead(tx, projectNumber);
        if (head?.writtenBlock !== block) return false;
        if (built !== null) tx.changeRows(searchIndex.insertBlocks, [{ projectNumber, block, ...built }]);
        tx.changeRows(
          searchIndex.updateDeleted,
          deleted.map((each) => ({ projectNumber, ...each })),
        );
        if (removed !== null) tx.changeRows(searchIndex.removeBlocks, [{ projectNumber, block: removed }]);
        const sequences = pending.map(({ sequence }) => sequence);
        if (!tx.isExclusive) await tx.runQuery(searchIndex.lockPending, { projectNumber, sequences });
        tx.changeRows(
          searchIndex.removePending,
          pending.map(({ sequence, mark }) => ({ projectNumber, traceSequence: sequence, mark })),
        );
        const isTaking = deleted.length > 0 || removed !== null;
        await tx.change(searchIndex.updateHead, {
          ...head,
          generation: head.generation + (isTaking ? 1 : 0),
          writtenBlock: null,
          removedBlock: removed,
          // The same process cleans up the removed block next.
          leasedUntilMs: removed === null ? 0 : head.leasedUntilMs,
        });
        return true;
      }),

    /** Removes a batch of rows of an unpublished block. Answers whether more may be left. */
    removeBlockRows: ({ projectNumber, block }: OfBlock) =>
      transact(async ({ change, queries: { searchIndex } }) => {
        const given = { projectNumber, block, limit: ROWS_REMOVED_AT_ONCE };
        if ((await change(searchIndex.removeFacets, given)) > 0) return true;
        return (await change(searchIndex.removeParts, given)) > 0;
      }),

    /** To be called when no rows of these blocks are left. */
    endCleaning: (projectNumber: number, blocks: readonly number[]) =>
      transact(async (tx) => {
        const head = await lockHead(tx, projectNumber);
        // Another process may have taken over and begun a new block.
        if (head === undefined || !blocks.includes(head.writtenBlock ?? head.removedBlock ?? 0)) return;
        await tx.change(tx.queries.searchIndex.updateHead, {
          ...head,
          writtenBlock: null,
          removedBlock: null,
          leasedUntilMs: 0,
        });
      }),
  };
}
