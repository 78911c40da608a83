/** Keeps the index of traces up to date, from the main thread. */

import type { IndexStep } from '../../search/index-steps.ts';
import type { IndexWork } from '../../search/indexer.ts';
import type { QueryRunner } from '../../transaction.ts';
import type { SqliteQueries } from './queries.ts';
import type { SearchWork } from './search-steps.ts';

type IndexWorkDeps = {
  readonly steps: SearchWork;
  readonly endStep: (step: IndexStep) => Promise<void>;
  readonly control: QueryRunner<SqliteQueries>;
};

export function createIndexWork({ steps, endStep, control: { queries, runQuery } }: IndexWorkDeps): IndexWork {
  let isUsed = false;

  /** A database that never had traces needs no index, nor the thread that has it. What it indexed must be removed, too. */
  async function isNeeded(): Promise<boolean> {
    if (isUsed) return true;
    const [row] = await runQuery(queries.appendSqlite.findLastSequence, {});
    isUsed = (row?.sequence ?? null) !== null || (await runQuery(queries.searchIndex.findStep, {})).length > 0;
    return isUsed;
  }

  return {
    async indexSome() {
      if (!(await isNeeded())) return 'done';
      const { step, isDone } = await steps.indexSome();
      if (step !== null) await endStep(step);
      return isDone ? 'done' : 'more';
    },
    countUnbuilt: async () => ((await isNeeded()) ? await steps.countUnbuilt() : 0),
  };
}
