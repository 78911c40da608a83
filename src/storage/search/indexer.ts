/**
 * Indexes new and changed traces, block by block, in the background of appends and searches: plans each block from the
 * traces that it is built from, and has it written.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Lease } from '../../domain/clock.ts';
import type { Upkeep } from '../../domain/store.ts';
import { facetsOf } from '../../domain/traces/search/facets.ts';
import type { Needs } from '../../domain/traces/search/trace-filter.ts';
import { createBlockSteps, type NextTenant } from '../block-steps.ts';
import type { QueryRunner } from '../transaction.ts';
import { type BuiltBlock, createBlockBuilder } from './block-builder.ts';
import { BLOCK_TRACES_MAX, COLUMNS, hasBit, packBits, setBit, unpackBits, unpackColumn } from './block-format.ts';
import { createDocuments } from './documents.ts';
import { type IndexBlock, listAllBlocks, type SearchRunner } from './index-reader.ts';
import type { IndexWriter, PublishedBlock } from './index-writer.ts';

/** A block with everything that its publication changes. */
type PlannedBlock = Omit<PublishedBlock, 'projectNumber' | 'block' | 'built'> & {
  readonly built: BuiltBlock | null;
};

export type IndexReads = ReturnType<typeof createIndexReads>;

const ALL_NEEDS: Needs = { metadata: true, spans: true, evaluations: true, texts: true };
const TRACES_AT_ONCE = 128;
const PROJECTS_AT_ONCE = 100;
/** Before it yields to the event loop. */
const BUSY_MAX_MS = 5;

/** Short reads that find work. */
export function createIndexQueue({ queries: { searchIndex }, runQuery }: QueryRunner) {
  return {
    /** The next project with enough pending traces for a block. */
    async findUnindexed(after: number): Promise<NextTenant> {
      let last = after;
      for (let count = 0; count < PROJECTS_AT_ONCE; count += 1) {
        const [found] = await runQuery(searchIndex.findPendingProject, { after: last });
        if (found === undefined) return { tenant: null, last: null };
        const { projectNumber } = found;
        const enough = await runQuery(searchIndex.findPendingBeyond, { projectNumber, count: BLOCK_TRACES_MAX - 1 });
        if (enough.length > 0) return { tenant: projectNumber, last: projectNumber };
        last = projectNumber;
      }
      return { tenant: null, last };
    },
    /** Counts traces whose current state is in no block. */
    countUnindexed: async () => (await runQuery(searchIndex.countPending, {}))[0]?.count ?? 0,
  };
}

export function createIndexReads(runner: SearchRunner) {
  const { queries, runQuery, nowMs } = runner;

  return {
    /** The caller MUST have claimed a block of the project, so that its index does not change meanwhile. */
    async planBlock(projectNumber: number): Promise<PlannedBlock> {
      const blocks = await listAllBlocks(runner, projectNumber);
      // The rest of a block that has lost most of its traces moves into the new block.
      const sparse = blocks.find(({ traces, deletedCount }) => deletedCount * 2 > traces);
      const left = sparse === undefined ? [] : await readLeft(projectNumber, sparse);
      const pending = await runQuery(queries.listPending, { projectNumber, limit: BLOCK_TRACES_MAX - left.length });
      const isPending = new Set(pending.map(({ sequence }) => sequence));
      const others = blocks.filter((block) => block !== sparse);
      const sequences = [...isPending, ...left.filter((sequence) => !isPending.has(sequence))];
      return {
        built: await build(
          projectNumber,
          sequences.sort((one, other) => one - other),
        ),
        pending,
        deleted: await findDeleted(projectNumber, others, pending),
        removed: sparse?.block ?? null,
      };
    },
  };

  async function readLeft(projectNumber: number, block: IndexBlock): Promise<readonly number[]> {
    const sequences = await readSequences(projectNumber, block);
    return [...sequences].filter((_, index) => !hasBit(block.deleted, index));
  }

  async function readSequences(projectNumber: number, { block }: IndexBlock): Promise<Float64Array> {
    const given = { projectNumber, blocks: [block], parts: [COLUMNS.sequence] };
    const [part] = await runQuery(queries.listParts, given);
    if (part === undefined) throw new Error('a block of the index does not say which traces it has');
    return unpackColumn(part.content);
  }

  /** Pending traces are indexed again or removed: finds them in the other blocks, and marks them as deleted there. */
  async function findDeleted(
    projectNumber: number,
    blocks: readonly IndexBlock[],
    pending: readonly { readonly sequence: number }[],
  ): Promise<PlannedBlock['deleted']> {
    const deleted: PlannedBlock['deleted'][number][] = [];
    for (const known of blocks) {
      const { firstSequence, lastSequence, block, traces } = known;
      const some = pending.filter(({ sequence }) => sequence >= firstSequence && sequence <= lastSequence);
      if (some.length === 0) continue;
      const sequences = await readSequences(projectNumber, known);
      const bits = unpackBits(packBits(known.deleted, traces));
      let { deletedCount } = known;
      for (const { sequence } of some) {
        const index = sequences.indexOf(sequence);
        if (index === -1 || hasBit(bits, index)) continue;
        setBit(bits, index);
        deletedCount += 1;
      }
      if (deletedCount > known.deletedCount) deleted.push({ block, deleted: packBits(bits, traces), deletedCount });
    }
    return deleted;
  }

  async function build(projectNumber: number, sequences: readonly number[]): Promise<BuiltBlock | null> {
    const builder = createBlockBuilder();
    const documents = createDocuments(runner, { projectNumber, needs: ALL_NEEDS });
    let turnAtMs = nowMs() + BUSY_MAX_MS;
    for (let start = 0; start < sequences.length; start += TRACES_AT_ONCE) {
      const some = sequences.slice(start, start + TRACES_AT_ONCE);
      const rows = await runQuery(queries.findBySequences, { projectNumber, sequences: some });
      for (const part of documents.cut(rows.toSorted((one, other) => one.sequence - other.sequence))) {
        for (const { row, document } of await documents.read(part)) {
          const addText = builder.add({ ...row, startedAtMs: row.startMs, facets: facetsOf(document) });
          await documents.forEachText(row, document, (text) => {
            addText(text);
            return false;
          });
          if (nowMs() < turnAtMs) continue;
          await nextTurn();
          turnAtMs = nowMs() + BUSY_MAX_MS;
        }
      }
    }
    return builder.end();
  }
}

type IndexerDeps = {
  readonly queue: ReturnType<typeof createIndexQueue>;
  readonly reads: IndexReads;
  readonly writer: IndexWriter;
  readonly clock: Clock;
};

// Commits wait for one transaction of a step.
const ROWS_AT_ONCE = 500;

export function createIndexer({ queue, reads, writer, clock }: IndexerDeps): Upkeep {
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

  async function index(projectNumber: number, lease: Lease): Promise<boolean> {
    const claimed = await writer.claimBlock(projectNumber, lease);
    if (claimed?.kind === 'clean') await clean(projectNumber, claimed.blocks);
    else if (claimed?.kind === 'write') await write(projectNumber, claimed.block);
    return true;
  }

  return { name: 'indexing traces', step: createBlockSteps({ findNext: queue.findUnindexed, build: index, clock }) };
}
