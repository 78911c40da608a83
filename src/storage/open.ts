/** From the address of a database to a store. */

import { resolve } from 'node:path';
import type { Store } from '../domain/store.ts';
import { openFileStore, openMemoryStore } from './sqlite/store.ts';
import type { StoreLog } from './sqlite/writer.ts';
import { StartError } from './start-error.ts';

export { StartError } from './start-error.ts';

export type StoreConfig = {
  /** `sqlite:` and a path, or `sqlite::memory:`. */
  readonly url: string;
  /** Bound on what may wait for its commit, bytes. */
  readonly queueMaxBytes: number;
  readonly log: StoreLog;
  /** Monotonic milliseconds, by which kept answers age; the process's own clock by default. */
  readonly nowMs?: () => number;
};

const SCHEME = 'sqlite:';
const MEMORY = ':memory:';

/** Opens the store, creating what is missing. Throws StartError with one line for the operator. */
export async function openStore({ url, ...options }: StoreConfig): Promise<Store> {
  const file = databaseFile(url);
  return file === null ? await openMemoryStore(options) : await openFileStore(file, options);
}

/** The absolute path of the database file; null for one in memory. Throws StartError for anything else. */
export function databaseFile(url: string): string | null {
  const path = url.slice(SCHEME.length);
  if (!url.startsWith(SCHEME) || path === '') {
    throw new StartError('the database address must be sqlite: and the path of a file, or sqlite::memory:');
  }
  return path === MEMORY ? null : resolve(path);
}
