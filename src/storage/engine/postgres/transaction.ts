/**
 * Transactions of few round trips: statements are sent without waiting for the answers to those before, and the
 * database takes them one after the other. For lanes whose connections do so.
 */

import type pg from 'pg';
import type { Ask, Transact, Transaction } from '../../questions.ts';
import type { Lane, Statement } from './connection.ts';
import { isGivenUp, isStorageFailure, storageFault } from './failures.ts';

export type SentTransaction = Transaction & {
  /** For statements whose answer nobody needs: one that fails undoes everything when the transaction ends. */
  post(statement: Statement, values: readonly unknown[]): void;
};

// Everybody takes rows in the same order, so this is for what only the database knows of.
const ATTEMPTS_MAX = 5;
// What is read after a wait for a row must be as the one left it who was waited for.
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/**
 * Commits the body, once more when it was given up for the sake of others. Throws the unavailable Fault when the database
 * cannot serve; whether the transaction was committed is then unknown.
 */
export function createTransact(lane: Lane): Transact {
  return async (body) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await lane.hold((client) => runTransaction(client, body));
      } catch (error) {
        if (isGivenUp(error) && attempt < ATTEMPTS_MAX) continue;
        throw isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
      }
    }
  };
}

/** The same on a connection that is held, as often as the caller thinks right. */
export async function runTransaction<T>(
  client: pg.PoolClient,
  body: (transaction: SentTransaction) => Promise<T>,
): Promise<T> {
  const sent: Promise<unknown>[] = [];
  function send(text: string, values: readonly unknown[] = [], name?: string): Promise<pg.QueryResult<never>> {
    const answer = client.query<never>({ text, values: [...values], ...(name === undefined ? {} : { name }) });
    // Failures are looked at in the end.
    answer.catch(() => undefined);
    sent.push(answer);
    return answer;
  }

  const ask: Ask = async ({ name, text, cells, row }, given) => (await send(text, cells(given), name)).rows.map(row);
  const post: SentTransaction['post'] = ({ name, text }, values) => void send(text, values, name);
  try {
    void send(BEGIN);
    const result = await body({
      isAlone: false,
      ask,
      askEach: async (question, numbers) => (numbers.length === 0 ? [] : await ask(question, { numbers })),
      change: async ({ name, text, cells }, given) => (await send(text, cells(given), name)).rowCount ?? 0,
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
