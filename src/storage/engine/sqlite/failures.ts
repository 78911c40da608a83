/** Tells failures of the disk or of another process from bugs. */

import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Fault, unavailableFault } from '../../../domain/fault.ts';
import { codeOf, messageOf } from '../../errors.ts';

const RETRY_AFTER_SECONDS = 5;

// Prefixes of result codes, such as SQLITE_IOERR_WRITE.
const STORAGE_FAILURES =
  /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|NOMEM|PROTOCOL|CORRUPT|NOTADB|PERM|AUTH|INTERRUPT)(_|$)/;

/** The file itself is destroyed, or another one stands in its place: waiting does not help. */
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB|IOERR_CORRUPTFS|READONLY_DBMOVED)(_|$)/;

const CONFLICTS: ReadonlySet<string> = new Set(['SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_UNIQUE']);

/** Passing ones may heal by themselves; damage needs an operator. */
export type StorageFailure = 'passing' | 'damage';

/** The kind of a failure that lies outside of the statement; null for a bug. */
export function storageFailureOf(error: unknown): StorageFailure | null {
  const code = codeOf(error);
  if (!STORAGE_FAILURES.test(code)) return null;
  return DAMAGE.test(code) ? 'damage' : 'passing';
}

/** Whether the failure lies outside of the statement: a later try may succeed. */
export function isStorageFailure(error: unknown): boolean {
  return storageFailureOf(error) !== null;
}

const OF_FULL_DISK = /^SQLITE_(FULL|IOERR|CANTOPEN)(_|$)/;
// Not SQLITE_READONLY_DBMOVED, which is damage.
const OF_RIGHTS = /^(SQLITE_(READONLY|READONLY_DIRECTORY|PERM|AUTH)|EACCES|EPERM|EROFS)$/;
/** Less than the files beside the database need to grow. */
const FREE_MIN_BYTES = 1024 * 1024;

/** The message of an error on a database file, with advice; names a full disk, for which SQLite often says "disk I/O error". */
export function describeFailure(error: unknown, file: string, freeBytesOf = freeBytesIn): string {
  const [code, message] = [codeOf(error), messageOf(error)];
  if (OF_RIGHTS.test(code)) return `${message}; give the folder and its files to the user that runs the server`;
  if (!OF_FULL_DISK.test(code) || freeBytesOf(dirname(file)) >= FREE_MIN_BYTES) return message;
  return `the disk of ${dirname(file)} is full: ${message}; free some space`;
}

/** Infinite where the system does not tell. */
export function freeBytesIn(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The key of an inserted row exists, and no constraint of the database has noticed it. */
export class KeyConflict extends Error {}

/** Whether the key of an inserted row exists. */
export function isConflict(error: unknown): boolean {
  return error instanceof KeyConflict || CONFLICTS.has(codeOf(error));
}

const MESSAGES: { readonly [failure in StorageFailure]: string } = {
  passing: 'The store cannot serve right now; try again.',
  damage:
    'The database file is damaged, which does not heal by itself: an operator must stop the server, put a backup in the place of the file, and start the server again.',
};

/** The Fault while the disk is full, broken, or locked by another process, and while the file is damaged. */
export function storageFault(cause: unknown, failure: StorageFailure = storageFailureOf(cause) ?? 'passing'): Fault {
  return unavailableFault(MESSAGES[failure], RETRY_AFTER_SECONDS, cause);
}
