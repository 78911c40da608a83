/**
 * Transactions of few round trips: statements are sent without waiting for the answers to those before, and the
 * database takes them one after the other. For lanes whose connections do so.
 */

import type pg from 'pg';
import type { Lane, Statement } from './connection.ts';
import { isGivenUp, isStorageFailure, storageFault } from './failures.ts';

export type Transaction = {
  ask<Row extends pg.QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Answers how many rows it changed. */
  change(statement: Statement, values: readonly unknown[]): Promise<number>;
  /** For statements whose answer nobody needs: one that fails undoes everything when the transaction ends. */
  post(statement: Statement, values: readonly unknown[]): void;
};

// Everybody takes rows in the same order, so this is for what only the database knows of.
const ATTEMPTS_MAX = 5;
// What is read after a wait for a row must be as the one left it who was waited for.
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/**
 * Runs a body in a transaction and commits it, once more when it was given up for the sake of others. Throws the
 * unavailable Fault when the database cannot serve; whether the transaction was committed is then unknown.
 */
export async function inTransaction<T>(lane: Lane, body: (transaction: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await lane.hold((client) => runTransaction(client, body));
    } catch (error) {
      if (isGivenUp(error) && attempt < ATTEMPTS_MAX) continue;
      throw isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
    }
  }
}

/** The same on a connection that is held, as often as the caller thinks right. */
export async function runTransaction<T>(
  client: pg.PoolClient,
  body: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const sent: Promise<unknown>[] = [];
  const send = <Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>> => {
    const answer = client.query<Row>(query);
    // Failures are looked at in the end.
    answer.catch(() => undefined);
    sent.push(answer);
    return answer;
  };
  try {
    void send({ text: BEGIN });
    const result = await body({
      ask: async <Row extends pg.QueryResultRow>({ name, text }: Statement, values: readonly unknown[]) =>
        (await send<Row>({ name, text, values: [...values] })).rows,
      change: async ({ name, text }, values) => (await send({ name, text, values: [...values] })).rowCount ?? 0,
      post: ({ name, text }, values) => void send({ name, text, values: [...values] }),
    });
    void send({ text: 'COMMIT' });
    await Promise.all(sent);
    return result;
  } catch (thrown) {
    const error = (await firstFailure(sent)) ?? thrown;
    // A connection that cannot even do this is thrown away with its transaction.
    if (!isStorageFailure(error)) await client.query('ROLLBACK');
    throw error;
  }
}

/** What went wrong first: whatever is sent after it fails as well, and says less. Null when nothing did. */
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
