/** Indexes new and changed traces in the background of appends and searches. */

import type { Upkeep } from '../../domain/store.ts';
import type { QueryRunner } from '../transaction.ts';

/** How an engine keeps its index up to date. */
export type IndexWork = {
  /** Indexes some of the pending traces. `done`: too few are left to be worth a step. */
  indexSome(): Promise<'more' | 'done'>;
  /** How many traces the index lacks beside those that are pending: while it is built. */
  countUnbuilt(): Promise<number>;
};

export function createIndexer({ indexSome }: IndexWork): Upkeep {
  return { name: 'indexing traces', step: indexSome };
}

/** Counts traces whose current state is not in the index. */
export function createUnindexedCount({ queries: { searchIndex }, runQuery }: QueryRunner, work: IndexWork) {
  return async () => {
    const [pending] = await runQuery(searchIndex.countPending, {});
    return (pending?.count ?? 0) + (await work.countUnbuilt());
  };
}
