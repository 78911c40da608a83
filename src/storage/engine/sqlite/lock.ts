/** Allows one process per database file: a second writer would invalidate what the first one has cached. */

import { chmodSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf, messageOf, StartError } from '../../errors.ts';
import { createPrivately } from './connection.ts';

export type Lock = { release(): void };

/**
 * Acquires the lock of a database file. The lock is on a tiny database of its own: the operating system releases it the
 * instant the process dies, however it dies. Throws StartError.
 */
export function acquireLock(file: string): Lock {
  const db = openLockFile(`${file}.lock`);
  try {
    db.pragma('journal_mode = MEMORY');
    db.pragma('locking_mode = EXCLUSIVE');
    // On a read-only file, BEGIN alone would succeed without a lock.
    db.exec('BEGIN EXCLUSIVE; CREATE TABLE held (filler)');
  } catch (error) {
    db.close();
    if (codeOf(error).startsWith('SQLITE_BUSY')) {
      throw new StartError(`another process is using the database ${file}; stop it first`, { cause: error });
    }
    throw new StartError(`the lock of the database ${file} cannot be taken: ${messageOf(error)}`, { cause: error });
  }
  return { release: () => db.close() };
}

function openLockFile(path: string): Database.Database {
  try {
    createPrivately(path);
    closeToOthers(path);
    return new Database(path, { timeout: 0 });
  } catch (error) {
    throw new StartError(`the file ${path} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

const OWNER_BITS = 0o700;
const OTHERS_BITS = 0o077;

/**
 * Anyone who can read the file could hold the lock and keep the server from starting. Changed by path: a process that
 * closes any handle of a file releases its locks on it.
 */
function closeToOthers(path: string): void {
  const { mode, uid } = statSync(path);
  // A file of another user stays as it is.
  if (uid !== process.getuid?.()) return;
  if ((mode & OTHERS_BITS) !== 0) chmodSync(path, mode & OWNER_BITS);
}
