/** Tells failures of the disk or of another process from bugs. */

import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Fault, unavailableFault } from '../../../domain/fault.ts';
import { codeOf, messageOf } from '../../errors.ts';

const RETRY_AFTER_SECONDS = 5;

// Prefixes of result codes, such as SQLITE_IOERR_WRITE.
const STORAGE_FAILURES =
  /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|NOMEM|PROTOCOL|CORRUPT|NOTADB|PERM|AUTH|INTERRUPT)(_|$)/;

const CONFLICTS: ReadonlySet<string> = new Set(['SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_UNIQUE']);

/** Whether the failure lies outside of the statement: a later try may succeed. */
export function isStorageFailure(error: unknown): boolean {
  return STORAGE_FAILURES.test(codeOf(error));
}

const OF_FULL_DISK = /^SQLITE_(FULL|IOERR|CANTOPEN)(_|$)/;
/** Less than the files beside the database need to grow. */
const FREE_MIN_BYTES = 1024 * 1024;

/** The message of an error on a database file; names a full disk, for which SQLite often says "disk I/O error". */
export function describeFailure(error: unknown, file: string, freeBytesOf = freeBytesIn): string {
  const message = messageOf(error);
  if (!OF_FULL_DISK.test(codeOf(error)) || freeBytesOf(dirname(file)) >= FREE_MIN_BYTES) return message;
  return `the disk of ${dirname(file)} is full: ${message}`;
}

function freeBytesIn(folder: string): number {
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

/** The Fault while the disk is full, broken, or locked by another process. */
export function storageFault(cause: unknown): Fault {
  return unavailableFault('The store cannot serve right now; try again.', RETRY_AFTER_SECONDS, cause);
}
