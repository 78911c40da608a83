/**
 * Transactions of few round trips: statements are sent before earlier ones are answered, and the database runs them in
 * order. For pipelined pools.
 */

import type pg from 'pg';
import { createUnit } from '../../mapper.ts';
import type { RunQuery, Transact, Transaction } from '../../transaction.ts';
import { isGivenUp, isStorageFailure, toFault } from './failures.ts';
import { openMapper, queryBuilderOn } from './mapper.ts';
import { type Posted, sendTogether, toPosted } from './pipeline.ts';
import type { Pool, Statement } from './pool.ts';
import { openQueries } from './statements.ts';

export type PipelinedTransaction = Omit<Transaction, 'em'> & {
  /** Does not wait for the answer of the statement: a failure undoes everything when the transaction ends. */
  post(statement: Statement, values: readonly unknown[]): void;
  /** Sends a statement after those that were posted. */
  send(statement: pg.QueryConfig): Promise<pg.QueryResult>;
};

// All transactions lock rows in the same order, so retries are only for conflicts inside of the database.
const ATTEMPTS_MAX = 5;
// After a wait for a row, reads must see the version that the other transaction left.
const BEGIN: Statement = { name: 'begin', text: 'BEGIN ISOLATION LEVEL READ COMMITTED' };
const COMMIT: Statement = { name: 'commit', text: 'COMMIT' };

/**
 * Commits the body, and retries it when the database aborted it in favour of another transaction. Throws the
 * unavailable Fault when the database cannot serve; whether the transaction was committed is then unknown.
 */
export function createTransact(pool: Pool): Transact {
  return async (body) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await pool.withConnection((client) => runTransaction(client, withUnit(body)));
      } catch (error) {
        if (isGivenUp(error) && attempt < ATTEMPTS_MAX) continue;
        throw toFault(error);
      }
    }
  };
}

/** Gives the body a unit of work of the object mapper. */
function withUnit<T>(body: (transaction: Transaction) => Promise<T>) {
  return async (transaction: PipelinedTransaction): Promise<T> => {
    const unit = createUnit(openMapper(), () => queryBuilderOn(transaction.send));
    const result = await body({
      ...transaction,
      get em() {
        return unit.use();
      },
    });
    await unit.settle();
    return result;
  };
}

/** Runs one attempt on a given connection. */
export async function runTransaction<T>(
  client: pg.PoolClient,
  body: (transaction: PipelinedTransaction) => Promise<T>,
): Promise<T> {
  const sent: Promise<unknown>[] = [];
  // Not sent yet: they leave with the next statement whose answer is needed, or with the commit.
  let posted: Posted[] = [toPosted(BEGIN, [])];

  function sendPosted(): void {
    if (posted.length === 0) return;
    note(sendTogether(client, posted));
    posted = [];
  }

  function note(answers: readonly Promise<unknown>[]): void {
    for (const answer of answers) {
      // Failures are checked at the end.
      answer.catch(() => undefined);
      sent.push(answer);
    }
  }

  function send(statement: pg.QueryConfig): Promise<pg.QueryResult<never>> {
    sendPosted();
    const answer = client.query<never>(statement);
    note([answer]);
    return answer;
  }

  const prepared = ({ name, text }: Statement, values: unknown[]) => send({ name, text, values });
  const runQuery: RunQuery = async (query, params) => (await prepared(query, query.cells(params))).rows.map(query.row);
  const post: PipelinedTransaction['post'] = (statement, values) => void posted.push(toPosted(statement, values));
  try {
    const result = await body({
      queries: openQueries(),
      isSingleProcess: false,
      runQuery,
      queryByNumbers: async (query, numbers) => (numbers.length === 0 ? [] : await runQuery(query, { numbers })),
      change: async (change, params) => (await prepared(change, change.cells(params))).rowCount ?? 0,
      changeRows(change, rows) {
        if (rows.length > 0) post(change, change.cells(rows));
      },
      post,
      send,
    });
    post(COMMIT, []);
    sendPosted();
    await Promise.all(sent);
    return result;
  } catch (thrown) {
    const error = (await firstFailure(sent)) ?? thrown;
    // A connection that cannot roll back is closed, which ends its transaction.
    if (sent.length > 0 && !isStorageFailure(error)) await client.query('ROLLBACK');
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

/**
 * Runs the body while no other connection has the lock, null where one has it. Without a transaction, which would be idle, and
 * soon ended by the database, while the body works elsewhere. The lock ends with the connection.
 */
export async function whileLocked<T>(client: pg.PoolClient, lock: number, body: () => Promise<T>): Promise<T | null> {
  const { rows } = await client.query<{ isMine: boolean }>('SELECT pg_try_advisory_lock($1) AS "isMine"', [lock]);
  if (rows[0]?.isMine !== true) return null;
  try {
    return await body();
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [lock]);
  }
}
