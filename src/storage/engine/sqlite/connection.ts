/** Opens handles. Each sets and then checks the same promises about durability. */

import { closeSync, mkdirSync, openSync } from 'node:fs';
import SqliteDatabase from 'better-sqlite3';
import { codeOf, messageOf, StartError } from '../../errors.ts';
import { isStorageFailure, storageFault } from './failures.ts';

export type Database = SqliteDatabase.Database;

// A commit writes whole pages, and two index entries of each trace land on random ones: pages of twice this size write
// half as much again.
const PAGE_BYTES = 4096;
const CACHE_KIB = 16_000;
// Backup tools advise to wait this long for their locks. The wait blocks its thread, so the main thread, whose reads need
// no lock while others write, does not wait as long.
const BUSY_MS = 5000;
const MAIN_THREAD_BUSY_MS = 250;
// Checkpoints at this distance cost the least per write and still stay short.
const CHECKPOINT_PAGES = 8000;
const WAL_MAX_BYTES = 64 * 1024 * 1024;
const MEMORY = ':memory:';
const SYNCHRONOUS_FULL = 2;

const NO_LOG_ADVICE = 'its file system shares no memory between processes: put the database on a local disk';

/** Opens the only handle that writes, and creates a missing file. `inspect` may refuse before anything is changed. */
export function openWriteHandle(file: string, inspect: (db: Database) => void): Database {
  // Only the owner may read it; SQLite gives the files beside it the same rights.
  if (file !== MEMORY) createPrivately(file);
  const db = new SqliteDatabase(file, { timeout: BUSY_MS });
  return closeOnError(db, () => {
    inspect(db);
    // These have an effect only before the first write to a new file.
    db.pragma(`page_size = ${PAGE_BYTES}`);
    // Lets `spandrel compact` shrink the file beside a running server; costs one and a half percent of the bytes written.
    db.pragma('auto_vacuum = INCREMENTAL');
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== (db.memory ? 'memory' : 'wal'))
      throw new StartError(`${file} has no write-ahead log; ${NO_LOG_ADVICE}`);
    // Deleted rows are overwritten with zeros in pages that are written anyway; pages that become free keep their bytes until
    // they are used again, or cut off by `spandrel compact`.
    db.pragma('secure_delete = FAST');
    db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    db.pragma(`journal_size_limit = ${WAL_MAX_BYTES}`);
    configure(db);
    // The first statement that fails on a read-only file.
    db.exec('BEGIN IMMEDIATE; CREATE TABLE attempt (filler); ROLLBACK');
  });
}

const FOLDER_ADVICE = 'correct the path, or give the folder above it to the user that runs the server';

/** Throws StartError. */
export function createFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new StartError(`the folder ${folder} cannot be created: ${messageOf(error)}; ${FOLDER_ADVICE}`, {
      cause: error,
    });
  }
}

/** Creates a missing file for its owner alone. */
export function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Opens a read-only handle for the main thread, which sees every commit. */
export function openReadHandle(file: string): Database {
  return openReadOnly(file, MAIN_THREAD_BUSY_MS);
}

/** The same for a thread, or a command, that may wait. */
export function openWaitingReadHandle(file: string): Database {
  return openReadOnly(file, BUSY_MS);
}

function openReadOnly(file: string, timeout: number): Database {
  const db = new SqliteDatabase(file, { readonly: true, timeout });
  return closeOnError(db, () => configure(db));
}

/** Reads with a handle of its own. */
export function withReadHandle<T>(file: string, read: (db: Database) => T): T {
  const db = openWaitingReadHandle(file);
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/**
 * Runs one synchronous read, which sees every commit acknowledged before. No read transaction outlives it: an open one
 * would let the write-ahead log grow without bound.
 */
export type RunRead = <T>(read: () => T) => Promise<T>;

/** For a read-only handle, which never waits. */
export const readNow: RunRead = async (read) => {
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
  // The library lowers the level at the first statement unless it was set, and reports the true level only after it.
  db.prepare('SELECT count(*) FROM sqlite_schema').get();
  const level = db.pragma('synchronous', { simple: true });
  if (level !== SYNCHRONOUS_FULL)
    throw new StartError(`commits would not be durable: synchronous is ${String(level)}; install the packages again`);
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
