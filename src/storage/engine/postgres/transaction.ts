/**
 * Transactions of few round trips: statements are sent before earlier ones are answered, and the database runs them in
 * order. For pipelined pools.
 */

import type pg from 'pg';
import * as queries from '../../../../gen/storage/postgres/all.ts';
import type { RunQuery, Transact, Transaction } from '../../queries.ts';
import { isGivenUp, isStorageFailure, storageFault } from './failures.ts';
import type { Pool, Statement } from './pool.ts';

export type PipelinedTransaction = Transaction & {
  /** Sends a statement without waiting for its answer: a failure undoes everything when the transaction ends. */
  post(statement: Statement, values: readonly unknown[]): void;
};

// All transactions lock rows in the same order, so retries are only for conflicts inside of the database.
const ATTEMPTS_MAX = 5;
// After a wait for a row, reads must see the version that the other transaction left.
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/**
 * Commits the body, and retries it when the database aborted it in favour of another transaction. Throws the
 * unavailable Fault when the database cannot serve; whether the transaction was committed is then unknown.
 */
export function createTransact(pool: Pool): Transact {
  return async (body) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await pool.withConnection((client) => runTransaction(client, body));
      } catch (error) {
        if (isGivenUp(error) && attempt < ATTEMPTS_MAX) continue;
        throw isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
      }
    }
  };
}

/** Runs one attempt on a given connection. */
export async function runTransaction<T>(
  client: pg.PoolClient,
  body: (transaction: PipelinedTransaction) => Promise<T>,
): Promise<T> {
  const sent: Promise<unknown>[] = [];
  function send(text: string, values: readonly unknown[] = [], name?: string): Promise<pg.QueryResult<never>> {
    const answer = client.query<never>({ text, values: [...values], ...(name === undefined ? {} : { name }) });
    // Failures are checked at the end.
    answer.catch(() => undefined);
    sent.push(answer);
    return answer;
  }

  const runQuery: RunQuery = async ({ name, text, cells, row }, params) =>
    (await send(text, cells(params), name)).rows.map(row);
  const post: PipelinedTransaction['post'] = ({ name, text }, values) => void send(text, values, name);
  try {
    void send(BEGIN);
    const result = await body({
      queries,
      isExclusive: false,
      runQuery,
      queryByNumbers: async (query, numbers) => (numbers.length === 0 ? [] : await runQuery(query, { numbers })),
      change: async ({ name, text, cells }, params) => (await send(text, cells(params), name)).rowCount ?? 0,
      changeRows(change, rows) {
        if (rows.length > 0) post(change, change.cells(rows));
      },
      post,
    });
    void send('COMMIT');
    await Promise.all(sent);
    return result;
  } catch (thrown) {
    const error = (await firstFailure(sent)) ?? thrown;
    // A connection that cannot roll back is closed, which ends its transaction.
    if (!isStorageFailure(error)) await client.query('ROLLBACK');
    throw error;
  }
}

/** The first failure: later statements fail because of it, and their errors say less. Null when none failed. */
async function firstFailure(sent: readonly Promise<unknown>[]): Promise<unknown> {
  for (const answer of sent) {
    try {
      await answer;
    } catch (error) {
      return error;
    }
  }
  return null;
}
