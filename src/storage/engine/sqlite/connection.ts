/** Opens handles. Every one gets the same promises about durability, said explicitly and then checked. */

import { closeSync, openSync } from 'node:fs';
import SqliteDatabase from 'better-sqlite3';
import { isStorageFailure, storageFault } from './failures.ts';

export type Database = SqliteDatabase.Database;

// Two index entries of a trace land on random pages, which a commit writes whole: twice the size writes half as much again.
const PAGE_BYTES = 4096;
const CACHE_KIB = 16_000;
const BUSY_MS = 250;
// Checkpoints this far apart cost the least per write and still stay short.
const CHECKPOINT_PAGES = 8000;
const WAL_MAX_BYTES = 64 * 1024 * 1024;
const MEMORY = ':memory:';
const SYNCHRONOUS_FULL = 2;

/** The one handle that writes. Creates the file when it is missing. `inspect` may refuse before anything is changed. */
export function openWriteHandle(file: string, inspect: (db: Database) => void): Database {
  // What lies in it is nobody else's to read; the files beside it get the rights of this one.
  if (file !== MEMORY) createPrivately(file);
  const db = new SqliteDatabase(file, { timeout: BUSY_MS });
  return closeOnError(db, () => {
    inspect(db);
    // Counts only before the first write of a new file.
    db.pragma(`page_size = ${PAGE_BYTES}`);
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== (db.memory ? 'memory' : 'wal')) throw new Error(`the journal mode is ${String(mode)}, not WAL`);
    db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    db.pragma(`journal_size_limit = ${WAL_MAX_BYTES}`);
    configure(db);
    // The first statement to fail on a file that may only be read; all above let it pass.
    db.exec('BEGIN IMMEDIATE; CREATE TABLE attempt (filler); ROLLBACK');
  });
}

/** Makes the file where there is none, for its owner alone. */
export function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch {
    // It is there already, or cannot be: then SQLite says why.
  }
}

/** A handle that sees every commit and can change nothing. */
export function openReadHandle(file: string): Database {
  const db = new SqliteDatabase(file, { readonly: true, timeout: BUSY_MS });
  return closeOnError(db, () => configure(db));
}

/**
 * Runs one synchronous read. It sees every commit acknowledged before, and no read transaction outlives it: one that
 * stayed open would let the log file grow without bound.
 */
export type ReadLane = <T>(read: () => T) => Promise<T>;

/** For a handle that only reads: nothing is in its way. */
export const readAtOnce: ReadLane = async (read) => {
  try {
    return read();
  } catch (error) {
    throw isStorageFailure(error) ? storageFault(error) : error;
  }
};

function configure(db: Database): void {
  db.pragma(`cache_size = -${CACHE_KIB}`);
  db.pragma('mmap_size = 0');
  db.pragma('foreign_keys = ON');
  db.pragma('synchronous = FULL');
  // This library lowers the level at the first statement unless it was set, and tells the truth only then.
  db.prepare('SELECT count(*) FROM sqlite_schema').get();
  const level = db.pragma('synchronous', { simple: true });
  if (level !== SYNCHRONOUS_FULL) throw new Error(`commits would not be durable: synchronous is ${String(level)}`);
}

function closeOnError(db: Database, prepare: () => void): Database {
  try {
    prepare();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
