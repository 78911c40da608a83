/** Reads what a block of the index is made of. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Needs } from '../../domain/trace-filter.ts';
import { facetsOf } from '../../domain/trace-search/facets.ts';
import type { Asking } from '../questions.ts';
import { type BuiltBlock, createBlockBuilder } from './block-builder.ts';
import { BLOCK_TRACES_MAX, COLUMNS, hasBit, packBits, setBit, unpackBits, unpackColumn } from './block-format.ts';
import { createDocuments } from './documents.ts';
import type { PublishedBlock } from './index-writer.ts';
import { type KnownBlock, listAllBlocks } from './known-blocks.ts';
import type { SearchAsking } from './trace-search.ts';

/** All of a block, ready to be written. */
export type PlannedBlock = Omit<PublishedBlock, 'projectNumber' | 'block' | 'built'> & {
  readonly built: BuiltBlock | null;
};

/** What there is to do: short reads. */
export type IndexQueue = {
  /**
   * The first project behind another one that has enough for a block; null: there is none up to `last`, which is null
   * where there are no others.
   */
  findUnindexed(after: number): Promise<{ readonly projectNumber: number | null; readonly last: number | null }>;
  /** Traces that are in no block as they are now. */
  countUnindexed(): Promise<number>;
};

export type IndexReads = {
  /** Only for who has claimed a block of the project: nobody else changes its index meanwhile. */
  planBlock(projectNumber: number): Promise<PlannedBlock>;
};

const ALL_NEEDS: Needs = { metadata: true, spans: true, evaluations: true, texts: true };
const TRACES_AT_ONCE = 128;
const PROJECTS_AT_ONCE = 100;
/** Without a turn of the event loop. */
const BUSY_MAX_MS = 5;

export function createIndexQueue({ questions: { searchIndex }, ask }: Asking): IndexQueue {
  return {
    async findUnindexed(after) {
      let last = after;
      for (let looked = 0; looked < PROJECTS_AT_ONCE; looked += 1) {
        const [found] = await ask(searchIndex.findPendingProject, { after: last });
        if (found === undefined) return { projectNumber: null, last: null };
        const { projectNumber } = found;
        const enough = await ask(searchIndex.findPendingBeyond, { projectNumber, count: BLOCK_TRACES_MAX - 1 });
        if (enough.length > 0) return { projectNumber, last: projectNumber };
        last = projectNumber;
      }
      return { projectNumber: null, last };
    },
    countUnindexed: async () => (await ask(searchIndex.countPending, {}))[0]?.count ?? 0,
  };
}

export function createIndexReads(asking: SearchAsking): IndexReads {
  const { questions, ask, nowMs } = asking;

  return {
    async planBlock(projectNumber) {
      const blocks = await listAllBlocks(asking, projectNumber);
      // What a block still has that has lost most of its traces moves into this one.
      const sparse = blocks.find(({ traces, goneCount }) => goneCount * 2 > traces);
      const left = sparse === undefined ? [] : await readLeft(projectNumber, sparse);
      const pending = await ask(questions.listPending, { projectNumber, limit: BLOCK_TRACES_MAX - left.length });
      const isPending = new Set(pending.map(({ sequence }) => sequence));
      const others = blocks.filter((block) => block !== sparse);
      const sequences = [...isPending, ...left.filter((sequence) => !isPending.has(sequence))];
      return {
        built: await build(
          projectNumber,
          sequences.sort((one, other) => one - other),
        ),
        pending,
        gone: await findGone(projectNumber, others, pending),
        removed: sparse?.block ?? null,
      };
    },
  };

  async function readLeft(projectNumber: number, block: KnownBlock): Promise<readonly number[]> {
    const sequences = await readSequences(projectNumber, block);
    return [...sequences].filter((_, place) => !hasBit(block.gone, place));
  }

  async function readSequences(projectNumber: number, { block }: KnownBlock): Promise<Float64Array> {
    const given = { projectNumber, blocks: [block], parts: [COLUMNS.sequence] };
    const [part] = await ask(questions.listParts, given);
    if (part === undefined) throw new Error('a block of the index does not say which traces it has');
    return unpackColumn(part.content);
  }

  /** Where the traces are that are indexed again, or not there any more. */
  async function findGone(
    projectNumber: number,
    blocks: readonly KnownBlock[],
    pending: readonly { readonly sequence: number }[],
  ): Promise<PlannedBlock['gone']> {
    const gone: PlannedBlock['gone'][number][] = [];
    for (const known of blocks) {
      const { firstSequence, lastSequence, block, traces } = known;
      const some = pending.filter(({ sequence }) => sequence >= firstSequence && sequence <= lastSequence);
      if (some.length === 0) continue;
      const sequences = await readSequences(projectNumber, known);
      const bits = unpackBits(packBits(known.gone, traces));
      let { goneCount } = known;
      for (const { sequence } of some) {
        const place = sequences.indexOf(sequence);
        if (place === -1 || hasBit(bits, place)) continue;
        setBit(bits, place);
        goneCount += 1;
      }
      if (goneCount > known.goneCount) gone.push({ block, gone: packBits(bits, traces), goneCount });
    }
    return gone;
  }

  async function build(projectNumber: number, sequences: readonly number[]): Promise<BuiltBlock | null> {
    const builder = createBlockBuilder();
    const documents = createDocuments(asking, { projectNumber, needs: ALL_NEEDS, isEachLookedAt: true });
    let turnAtMs = nowMs() + BUSY_MAX_MS;
    for (let start = 0; start < sequences.length; start += TRACES_AT_ONCE) {
      const some = sequences.slice(start, start + TRACES_AT_ONCE);
      const rows = await ask(questions.findBySequences, { projectNumber, sequences: some });
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
