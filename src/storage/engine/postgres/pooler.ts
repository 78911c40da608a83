/** Recognizes a pooler that gives each transaction another connection. */

import pg from 'pg';
import { StartError } from '../../errors.ts';
import { connectionOf } from './address.ts';

// In session mode a pooler may have no connection for a second client.
const OTHER_MAX_MS = 5_000;

/**
 * Throws StartError behind a pooler in transaction mode, where settings, locks, prepared statements and LISTEN are lost
 * between transactions. Recognized by two clients with one process of the database, or one client with two.
 */
export async function refuseTransactionPooling(client: pg.Client, url: string): Promise<void> {
  const first = await readProcess(client);
  // Poolers have ids of their own for their clients.
  if ('processID' in client && client.processID === first) return;
  const taken = await takeProcess(url);
  if (taken === null) return;
  try {
    if (taken.process !== first && (await readProcess(client)) === first) return;
  } finally {
    await taken.release();
  }
  throw new StartError(
    'the address leads to a pooler in transaction mode, which the server cannot use; set it to session mode, or connect past it',
  );
}

/** Takes the process that a pooler gives to another client, within a transaction. Null: the pooler gives none. */
async function takeProcess(url: string) {
  const other = new pg.Client({
    ...connectionOf(url),
    application_name: 'spandrel migrate',
    connectionTimeoutMillis: OTHER_MAX_MS,
    query_timeout: OTHER_MAX_MS,
  });
  other.on('error', () => undefined);
  try {
    await other.connect();
    await other.query('BEGIN');
    return { process: await readProcess(other), release: () => other.end() };
  } catch {
    await other.end();
    return null;
  }
}

async function readProcess(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ process: number }>('SELECT pg_backend_pid() AS process');
  return rows[0]?.process ?? 0;
}
