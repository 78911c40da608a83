/** Gives the free pages of a database file back to the file system. */

import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, StartError } from '../../errors.ts';
import { type Database, openWriteHandle } from './connection.ts';
import { describeFailure, freeBytesIn, isStorageFailure } from './failures.ts';
import { acquireLock, type Lock } from './lock.ts';
import { pendingMigrations } from './schema.ts';
import { searchPathOf } from './search-file.ts';

/** `isLogEmpty`: the write-ahead log holds no old bytes; false where readers of a server kept it. */
export type Compacted = { readonly bytesBefore: number; readonly bytesAfter: number; readonly isLogEmpty: boolean };

type CompactDeps = {
  readonly pause: (delayMs: number) => Promise<void>;
  /** Milliseconds of a clock that never steps back. */
  readonly nowMs: () => number;
  readonly freeBytesIn?: (folder: string) => number;
};

/** The mode of files of this build; files of older builds get it when they are compacted while no server runs. */
const INCREMENTAL = 2;
/** A server beside waits for one batch at most. */
const BATCH_GOAL_MS = 20;
const PAGES_FIRST = 64;
const PAGES_MAX = 4_096;
// A whole rewrite needs one copy in a temporary file and one in the write-ahead log.
const COPIES = 2;
/** Writers of the server wait for a try to empty the log. */
const EMPTYING_MAX_MS = 20;
const EMPTYING_TRIES = 100;
const EMPTYING_PAUSE_MS = 50;
const MIB = 1024 * 1024;

/**
 * Moves the pages at the end of the file into free ones and cuts the end off, batch by batch, beside a running server. A file
 * that was created without that ability is rewritten as a whole instead, while no server runs. Throws StartError.
 */
export async function compactFile(file: string, deps: CompactDeps): Promise<Compacted> {
  if (!existsSync(file))
    throw new StartError(`there is no database at ${file}; set SPANDREL_DATABASE_URL to the one the server uses`);
  // Refuses files of other programs and of newer builds.
  pendingMigrations(file);
  const searchFile = searchPathOf(file);
  const size = () => sizeOf(file) + sizeOf(`${file}-wal`) + sizeOf(searchFile);
  const bytesBefore = size();
  const db = openChecked(file);
  let isLogEmpty = false;
  try {
    if (db.pragma('auto_vacuum', { simple: true }) === INCREMENTAL) await compactBeside(db, deps);
    else rewrite(db, file, deps);
    isLogEmpty = await emptyLog(db, deps);
  } catch (error) {
    if (error instanceof StartError || codeOf(error) === '') throw error;
    throw new StartError(`the compaction failed: ${describeFailure(error, file)}`, { cause: error });
  } finally {
    db.close();
  }
  if (existsSync(searchFile)) await compactIndex(searchFile, deps);
  return { bytesBefore, bytesAfter: size(), isLogEmpty };
}

/** The log keeps the bytes of removed rows. A checkpoint cuts it off between the transactions of others. */
async function emptyLog(db: Database, { pause }: CompactDeps): Promise<boolean> {
  db.pragma(`busy_timeout = ${EMPTYING_MAX_MS}`);
  for (let tries = 0; tries < EMPTYING_TRIES; tries += 1) {
    const [state] = db.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[];
    if (state?.busy === 0) return true;
    await pause(EMPTYING_PAUSE_MS);
  }
  return false;
}

async function compactIndex(file: string, deps: CompactDeps): Promise<void> {
  try {
    const db = openWriteHandle(file, () => undefined);
    try {
      await compactBeside(db, deps);
    } finally {
      db.close();
    }
  } catch (error) {
    // The server makes a damaged one anew.
    if (!isStorageFailure(error)) throw error;
  }
}

function openChecked(file: string): Database {
  try {
    return openWriteHandle(file, () => undefined);
  } catch (error) {
    throw new StartError(`the database ${file} cannot be opened for writing: ${describeFailure(error, file)}`, {
      cause: error,
    });
  }
}

async function compactBeside(db: Database, { pause, nowMs }: CompactDeps): Promise<void> {
  let pages = PAGES_FIRST;
  while (countFree(db) > 0) {
    const startedAtMs = nowMs();
    db.pragma(`incremental_vacuum(${pages})`);
    const heldMs = nowMs() - startedAtMs;
    // Others write during the checkpoint and the pause.
    db.pragma('wal_checkpoint(PASSIVE)');
    pages = Math.round(Math.min(PAGES_MAX, Math.max(1, pages * Math.min(2, BATCH_GOAL_MS / Math.max(1, heldMs)))));
    await pause(heldMs);
  }
}

function rewrite(db: Database, file: string, deps: CompactDeps): void {
  const lock = lockAlone(file);
  try {
    requireRoom(db, file, deps.freeBytesIn ?? freeBytesIn);
    db.pragma(`temp_store_directory = '${dirname(file).replaceAll("'", "''")}'`);
    try {
      db.exec('VACUUM');
    } finally {
      db.pragma("temp_store_directory = ''");
    }
    db.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    lock.release();
  }
}

function lockAlone(file: string): Lock {
  try {
    return acquireLock(file);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const advice = 'a file of an older build is compacted only while no server runs; once compacted, also beside one';
    throw new StartError(`${error.message}: ${advice}`, { cause: error });
  }
}

function requireRoom(db: Database, file: string, freeBytesOf: (folder: string) => number): void {
  const pages = Number(db.pragma('page_count', { simple: true })) - countFree(db);
  const needed = pages * Number(db.pragma('page_size', { simple: true })) * COPIES;
  const free = freeBytesOf(dirname(file));
  if (free >= needed) return;
  const [needs, has] = [Math.ceil(needed / MIB), Math.floor(free / MIB)];
  throw new StartError(
    `compacting ${file} needs ${needs} MiB of free disk in its folder, which has ${has} MiB; free some space`,
  );
}

function countFree(db: Database): number {
  return Number(db.pragma('freelist_count', { simple: true }));
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
