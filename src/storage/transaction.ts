/** Running statements: one by one, or in a transaction. */

import type { EntityManager } from './mapper.ts';
import type { OfNumbers } from './queries.ts';
import type { Queries } from './statements/sources.ts';
import type { Change, Query, RowsChange } from './statements/statement.ts';

export type { Queries } from './statements/sources.ts';

/** Runs a query and returns its rows. */
export type RunQuery = <Params, Row>(query: Query<Params, Row>, params: Params) => Promise<readonly Row[]>;

/** A transaction: everything it changes is stored, or nothing. */
export type Transaction = {
  /** The unit of work of the transaction, begun at its first use and flushed before the commit. */
  readonly em: EntityManager;
  readonly queries: Queries;
  readonly runQuery: RunQuery;
  /** The rows of any number of numbers, none included (see `isPoint`). */
  queryByNumbers<Row>(query: Query<OfNumbers, Row>, numbers: readonly number[]): Promise<readonly Row[]>;
  /** Returns the number of changed rows. */
  change<Params>(change: Change<Params>, params: Params): Promise<number>;
  /** Whether no other transaction runs at the same time, so that no row needs a lock. */
  readonly isSingleProcess: boolean;
  /** Does not wait for the change: a failure undoes everything when the transaction ends. */
  changeRows<Row>(change: RowsChange<Row>, rows: readonly Row[]): void;
};

/** Runs a body in a transaction, perhaps more than once. An error of the body undoes everything. */
export type Transact<Tx = Transaction> = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>;

export type QueryRunner<Of = Queries> = {
  readonly queries: Of;
  readonly runQuery: RunQuery;
  /** The most ids in one query, and the most in one point read (see `isPoint`). */
  readonly idsPerQuery: number;
  readonly pointsPerQuery: number;
};

/** Runs a query for any number of ids, `atOnce` ids at a time. */
export async function queryInBatches<Id, Row>(
  ids: readonly Id[],
  atOnce: number,
  runQuery: (some: readonly Id[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (let start = 0; start < ids.length; start += atOnce) {
    found.push(...(await runQuery(ids.slice(start, start + atOnce))));
  }
  return found;
}
