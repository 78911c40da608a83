/** Indexes new and changed traces, block by block, in the background of appends and searches. */

import type { SearchIndex } from '../../domain/traces/search/trace-search-store.ts';
import { createBlockSteps } from '../block-steps.ts';
import type { IndexQueue, IndexReads } from './index-builder.ts';
import type { IndexWriter } from './index-writer.ts';

type IndexerDeps = {
  readonly queue: IndexQueue;
  readonly reads: IndexReads;
  readonly writer: IndexWriter;
  /** The clock of leases, which all processes share. */
  readonly clock: () => number;
};

// A block takes well under a second; the lease allows for a busy machine.
const LEASE_MS = 120_000;
// Commits wait for one transaction of a step.
const ROWS_AT_ONCE = 500;

export function createIndexer({ queue, reads, writer, clock }: IndexerDeps): SearchIndex {
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

  async function index(projectNumber: number): Promise<boolean> {
    const nowMs = clock();
    const claimed = await writer.claimBlock(projectNumber, { nowMs, untilMs: nowMs + LEASE_MS });
    if (claimed?.kind === 'clean') await clean(projectNumber, claimed.blocks);
    else if (claimed?.kind === 'write') await write(projectNumber, claimed.block);
    return true;
  }

  return {
    step: createBlockSteps({ findNext: queue.findUnindexed, build: index }),
    countUnindexed: queue.countUnindexed,
  };
}
