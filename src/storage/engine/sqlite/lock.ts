/** Allows one process per database file: a second writer would invalidate what the first one has cached. */

import { chmodSync, existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { codeOf, StartError } from '../../errors.ts';
import { createPrivately } from './connection.ts';
import { describeFailure } from './failures.ts';

export type Lock = {
  /** What a writer checks, see requireLock. Acquires the lock again when its file was removed. Throws StartError. */
  renew(): LockFile;
  release(): void;
};

/** The file that was locked. A file of the same name that replaces it is another one. */
export type LockFile = { readonly path: string; readonly device: number; readonly inode: number };

/** Another process may have the database now, because the file that this one has locked is gone. */
export class LockLostError extends Error {}

/**
 * Acquires the lock of a database file. The lock is on a tiny database of its own: the operating system releases it the
 * instant the process dies, however it dies. Throws StartError.
 */
export function acquireLock(file: string): Lock {
  // Links lead to the same database, so they must lead to the same lock.
  const path = `${realPathOf(file)}.lock`;
  let held = take(file, path);
  return {
    renew() {
      if (!isInPlace(held.lockFile)) {
        held.db.close();
        held = take(file, path);
      }
      return held.lockFile;
    },
    release: () => held.db.close(),
  };
}

/** Throws LockLostError when the file of the lock was removed or replaced. */
export function requireLock(lockFile: LockFile): void {
  if (isInPlace(lockFile)) return;
  throw new LockLostError(`the file ${lockFile.path} was removed; another process may use the database`);
}

type Held = { readonly db: Database.Database; readonly lockFile: LockFile };

function take(file: string, path: string): Held {
  const db = openLockFile(path);
  try {
    db.pragma('journal_mode = MEMORY');
    db.pragma('locking_mode = EXCLUSIVE');
    // On a read-only file, BEGIN alone would succeed without a lock.
    db.exec('BEGIN EXCLUSIVE; CREATE TABLE held (filler)');
    const { dev, ino } = statSync(path);
    return { db, lockFile: { path, device: dev, inode: ino } };
  } catch (error) {
    db.close();
    if (codeOf(error).startsWith('SQLITE_BUSY')) {
      throw new StartError(`another process is using the database ${file}; stop it first`, { cause: error });
    }
    throw new StartError(`the lock of the database ${file} cannot be taken: ${describeFailure(error, path)}`, {
      cause: error,
    });
  }
}

function isInPlace({ path, device, inode }: LockFile): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.dev === device && found.ino === inode;
}

/** As many as the system follows. */
const LINKS_MAX = 40;

/** The path without links. Before the first start the file itself is missing, also where a link leads to it. */
export function realPathOf(file: string): string {
  let path = file;
  for (let links = 0; links <= LINKS_MAX; links += 1) {
    if (existsSync(path)) return realpathSync(path);
    if (!existsSync(dirname(path))) break;
    path = join(realpathSync(dirname(path)), basename(path));
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
    path = resolve(dirname(path), readlinkSync(path));
  }
  throw new StartError(
    `the path ${file} leads through links to a folder that is missing; create it, or correct the link`,
  );
}

function openLockFile(path: string): Database.Database {
  try {
    createPrivately(path);
    closeToOthers(path);
    return new Database(path, { timeout: 0 });
  } catch (error) {
    throw new StartError(`the file ${path} cannot be written: ${describeFailure(error, path)}`, { cause: error });
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
