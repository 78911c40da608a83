/** One process per database file: a second writer would undo what the first one knows. */

import Database from 'better-sqlite3';
import { StartError } from '../start-error.ts';
import { sqliteCode } from './failures.ts';

export type Lock = { release(): void };

/**
 * Takes the lock that belongs to a database file. It lives in a tiny database of its own, because the operating
 * system lets go of such a lock the instant its process dies, however it dies. Throws StartError.
 */
export function takeLock(file: string): Lock {
  const db = openLockFile(`${file}.lock`);
  try {
    db.pragma('journal_mode = MEMORY');
    db.pragma('locking_mode = EXCLUSIVE');
    // On a file that may only be read the first statement alone would pass and lock nothing.
    db.exec('BEGIN EXCLUSIVE; CREATE TABLE held (filler)');
  } catch (error) {
    db.close();
    if (sqliteCode(error).startsWith('SQLITE_BUSY')) {
      throw new StartError(`another process is using the database ${file}; stop it first`, { cause: error });
    }
    throw new StartError(`the lock of the database ${file} cannot be taken: ${describe(error)}`, { cause: error });
  }
  return { release: () => db.close() };
}

function openLockFile(path: string): Database.Database {
  try {
    return new Database(path, { timeout: 0 });
  } catch (error) {
    throw new StartError(`the file ${path} cannot be written: ${describe(error)}`, { cause: error });
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
