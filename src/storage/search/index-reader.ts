/** What searches run their queries with, and the blocks of the index as searches see them. */

import { readAllPages } from '../long-reads.ts';
import type { RowOf } from '../statements/statement.ts';
import type { Queries, QueryRunner } from '../transaction.ts';
import { type Bits, unpackBits } from './block-format.ts';

export type SearchQueries = Queries['search'] & Queries['searchIndex'];
export type SearchRunner = QueryRunner<SearchQueries> & {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
};

type BlockRow = RowOf<SearchQueries['listBlocks']>;
export type IndexBlock = Omit<BlockRow, 'deleted'> & {
  /** Traces that were removed from the block since it was built. */
  readonly deleted: Bits;
};

const BLOCKS_AT_ONCE = 500;
const ATTEMPTS_MAX = 3;

/** All blocks of a project. */
export async function listAllBlocks(
  { queries, runQuery }: Pick<SearchRunner, 'runQuery'> & { readonly queries: Pick<SearchQueries, 'listBlocks'> },
  projectNumber: number,
): Promise<readonly IndexBlock[]> {
  const rows = await readAllPages<BlockRow>(BLOCKS_AT_ONCE, (last) =>
    runQuery(queries.listBlocks, { projectNumber, after: last?.block ?? 0, limit: BLOCKS_AT_ONCE }),
  );
  return rows.map((row) => ({ ...row, deleted: unpackBits(row.deleted) }));
}

type HeadRunner = Pick<SearchRunner, 'runQuery'> & { readonly queries: Pick<SearchQueries, 'findHead'> };

/** Repeats an attempt while blocks lose traces, which it may have missed. Null: the attempt failed, or blocks change too often. */
export async function readUnchanged<Found>(
  { queries, runQuery }: HeadRunner,
  projectNumber: number,
  attempt: () => Promise<Found | null>,
): Promise<Found | null> {
  // A new generation means that a trace left a block.
  const generation = async () => (await runQuery(queries.findHead, { projectNumber }))[0]?.generation ?? null;
  for (let tried = 0, known = await generation(); known !== null && tried < ATTEMPTS_MAX; tried += 1) {
    const found = await attempt();
    const after = await generation();
    if (after === known || found === null) return found;
    known = after;
  }
  return null;
}
