/** The index of traces of a PostgreSQL database: its own tables, or ClickHouse. */

import type pg from 'pg';
import type { openClickHouseIndex } from '../../clickhouse/index-engine.ts';
import type { IndexReads } from '../../reads.ts';
import type { IndexSource, IndexStep } from '../../search/index-steps.ts';
import type { IndexWork } from '../../search/indexer.ts';
import type { RowTypes } from './binary-arrays.ts';
import { toFault } from './failures.ts';
import { createIndexedSums } from './indexed-sums.ts';
import { numberOfSequence } from './months.ts';
import type { Pool } from './pool.ts';
import { createQueryRunner } from './run-query.ts';
import { createIndexWork, removeMarks, whileIndexer } from './search-index-writer.ts';
import { openQueries } from './statements.ts';
import { createTraceIndex } from './trace-index.ts';
import { type PipelinedTransaction, runTransaction } from './transaction.ts';

/** `pool` is for the transactions that end steps. */
type IndexPools = { readonly reads: Pool; readonly pool: Pool };
export type OpenIndex = (pools: IndexPools) => {
  readonly reads: IndexReads;
  readonly work: IndexWork;
  close(): Promise<void>;
};

export async function indexOpener(rowTypes: RowTypes, telemetryUrl: string | null): Promise<OpenIndex> {
  if (telemetryUrl === null) {
    return ({ reads, pool }) => {
      const runner = createRunner(reads);
      const isOwn = createIsOwn(runner);
      return {
        reads: { index: createTraceIndex(reads, isOwn), indexedSums: createIndexedSums(reads, isOwn) },
        work: createIndexWork({ pool, runner, rowTypes }),
        close: async () => undefined,
      };
    };
  }
  const { openClickHouseIndex: open } = await import('../../clickhouse/index-engine.ts');
  return (pools) => openElsewhere(open, telemetryUrl, pools);
}

function createRunner(reads: Pool) {
  const { search, searchIndex, searchPostgres } = openQueries();
  return {
    ...createQueryRunner(reads, { ...search, ...searchIndex, ...searchPostgres }),
    nowMs: () => performance.now(),
  };
}

/** Whether the tables have what is stored: not after ClickHouse had the index, until they are filled anew. */
function createIsOwn({ runQuery, queries }: ReturnType<typeof createRunner>): () => Promise<boolean> {
  let isKnown = false;
  return async () => {
    isKnown ||= (await runQuery(queries.findStep, {})).length === 0;
    return isKnown;
  };
}

function openElsewhere(open: typeof openClickHouseIndex, address: string, { reads: from, pool }: IndexPools) {
  const runner = createRunner(from);
  const { runQuery, queries } = runner;
  const source: IndexSource = {
    runner,
    readStep: async () => (await runQuery(queries.findStep, {}))[0]?.step ?? null,
    findEnd: async () => (await runQuery(queries.findLastTrace, {}))[0]?.sequence ?? 0,
    list: (after, to, limit) => runQuery(queries.listTracesBehind, { after, to, limit }),
    find: (sequences) => runQuery(queries.findKnown, { sequences }),
    countOf: numberOfSequence,
  };
  const { indexSome, countUnbuilt, close, reads } = open(address, source);

  async function endStep(transaction: PipelinedTransaction, { step, marks }: IndexStep): Promise<void> {
    await removeMarks(transaction, marks);
    await transaction.change(queries.removeStep, {});
    await transaction.change(queries.insertStep, { step });
  }

  async function indexOn(client: pg.PoolClient): Promise<'more' | 'done'> {
    const done = await whileIndexer(client, async () => {
      const { step, isDone } = await indexSome();
      // On the connection that has the lock: if that is lost, another process may have gone on.
      if (step !== null) await runTransaction(client, (transaction) => endStep(transaction, step));
      return isDone;
    });
    return done === false ? 'more' : 'done';
  }

  const work: IndexWork = {
    async indexSome() {
      try {
        return await pool.withConnection(indexOn);
      } catch (error) {
        throw toFault(error);
      }
    },
    countUnbuilt,
  };
  return { reads, work, close };
}
