/** Tells what the disk or another process did to us from what is a bug of ours. */

import { type Fault, unavailableFault } from '../../../domain/fault.ts';

const RETRY_AFTER_SECONDS = 5;

// Families of result codes; each also has longer ones, such as SQLITE_IOERR_WRITE.
const STORAGE_FAILURES =
  /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|NOMEM|PROTOCOL|CORRUPT|NOTADB|PERM|AUTH|INTERRUPT)(_|$)/;

const CONFLICTS: ReadonlySet<string> = new Set(['SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_UNIQUE']);

/** Whether the statement failed for a reason outside of the statement: trying again later may work. */
export function isStorageFailure(error: unknown): boolean {
  return STORAGE_FAILURES.test(sqliteCode(error));
}

/** Whether a row was to be stored of which the key is taken. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(sqliteCode(error));
}

/** The result code, for example SQLITE_FULL; empty for errors that are not SQLite's. */
export function sqliteCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** The refusal a caller sees while the disk is full, broken or held by somebody else. */
export function storageFault(cause: unknown): Fault {
  return unavailableFault('The store cannot serve right now; try again.', RETRY_AFTER_SECONDS, cause);
}
