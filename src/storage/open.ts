/** From the address of a database to a store. */

import { resolve } from 'node:path';
import type { Settle } from '../domain/evaluations/jobs.ts';
import type { Store } from '../domain/store.ts';
import { StartError } from './start-error.ts';
import type { StoreLog } from './store.ts';

export { StartError } from './start-error.ts';

export type StoreConfig = {
  /** `sqlite:` and a path, `sqlite::memory:`, or `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Bound on what may wait for its commit, bytes. */
  readonly queueMaxBytes: number;
  readonly log: StoreLog;
  /** How long traces are left alone before they are evaluated. */
  readonly settle?: Settle;
  /** Monotonic milliseconds, by which kept answers age; the process's own clock by default. */
  readonly nowMs?: () => number;
  /** Connections for reading, where there are any. */
  readonly connectionsMax?: number;
  /** Accepts a database that may lose what it has acknowledged. */
  readonly mayForget?: boolean;
};

const SCHEME = 'sqlite:';
const MEMORY = ':memory:';
const CONNECTIONS = 10;

/** Opens the store, creating what is missing. Throws StartError with one line for the operator. */
export async function openStore({
  url,
  connectionsMax = CONNECTIONS,
  mayForget = false,
  ...options
}: StoreConfig): Promise<Store> {
  // Each driver is loaded only where it is used: it costs memory and time to start.
  if (isPostgres(url)) {
    const { openPostgresStore } = await import('./engine/postgres/store.ts');
    return await openPostgresStore({ ...options, url, connectionsMax, mayForget });
  }
  const file = databaseFile(url);
  const { openFileStore, openMemoryStore } = await import('./engine/sqlite/store.ts');
  return file === null ? await openMemoryStore(options) : await openFileStore(file, options);
}

export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/** The absolute path of the database file; null for a database without one. Throws StartError for anything else. */
export function databaseFile(url: string): string | null {
  if (isPostgres(url)) return null;
  const path = url.slice(SCHEME.length);
  if (!url.startsWith(SCHEME) || path === '') {
    throw new StartError(
      'the database address must be sqlite: and a path, sqlite::memory:, or postgres://user:password@host/database',
    );
  }
  return path === MEMORY ? null : resolve(path);
}

/** Copies a database file that may be in use. Throws StartError; also for databases that bring tools of their own. */
export async function backupDatabase(url: string, target: string): Promise<void> {
  const file = databaseFile(url);
  if (file === null)
    throw new StartError('only a SQLite file can be backed up this way; PostgreSQL has pg_dump and pg_basebackup');
  const { backupFile } = await import('./engine/sqlite/backup.ts');
  backupFile(file, target);
}
