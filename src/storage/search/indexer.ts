/** Puts new and changed traces into the index, a block at a time: off the way of who sends them, and of who looks for them. */

import type { SearchIndex } from '../../domain/trace-search-store.ts';
import type { IndexQueue, IndexReads } from './index-builder.ts';
import type { IndexWriter } from './index-writer.ts';

export type IndexerDeps = {
  readonly queue: IndexQueue;
  readonly reads: IndexReads;
  readonly writer: IndexWriter;
  /** By which leases end, on every process. */
  readonly clock: () => number;
};

// A block takes well under a second; this is for a machine that is busy with something else.
const LEASE_MS = 120_000;
// Whoever commits waits for a step to end.
const ROWS_AT_ONCE = 500;

export function createIndexer({ queue, reads, writer, clock }: IndexerDeps): SearchIndex {
  let lastProject = 0;
  /** Since it began again with the first project. */
  let isNothingFound = true;

  async function clean(projectNumber: number, blocks: readonly number[]): Promise<void> {
    for (const block of blocks) while (await writer.removeBlockRows({ projectNumber, block }));
    await writer.endCleaning(projectNumber, blocks);
  }

  async function write(projectNumber: number, block: number): Promise<void> {
    const { built, ...planned } = await reads.planBlock(projectNumber);
    const { facets, parts } = built ?? { facets: [], parts: [] };
    for (let start = 0; start < Math.max(facets.length, parts.length); start += ROWS_AT_ONCE) {
      const end = start + ROWS_AT_ONCE;
      const rows = { facets: facets.slice(start, end), parts: parts.slice(start, end) };
      if (!(await writer.writeBlockRows({ projectNumber, block, ...rows }))) return;
    }
    const isKnown = await writer.publishBlock({ projectNumber, block, ...planned, built: built?.block ?? null });
    if (isKnown && planned.removed !== null) await clean(projectNumber, [planned.removed]);
  }

  async function index(projectNumber: number): Promise<void> {
    const nowMs = clock();
    const claimed = await writer.claimBlock(projectNumber, { nowMs, untilMs: nowMs + LEASE_MS });
    if (claimed?.kind === 'clean') await clean(projectNumber, claimed.blocks);
    else if (claimed?.kind === 'write') await write(projectNumber, claimed.block);
  }

  return {
    async step() {
      const { projectNumber, last } = await queue.findUnindexed(lastProject);
      // Before it is indexed: where that fails, the others have their turn.
      lastProject = last ?? 0;
      if (projectNumber !== null) {
        isNothingFound = false;
        await index(projectNumber);
      }
      if (last !== null) return 'more';
      const isDone = isNothingFound;
      isNothingFound = true;
      return isDone ? 'done' : 'more';
    },
    countUnindexed: queue.countUnindexed,
  };
}
