/** Tells failures of the database, the network or an operator from bugs. */

import { Fault, unavailableFault } from '../../../domain/fault.ts';
import { codeOf } from '../../errors.ts';

const RETRY_AFTER_SECONDS = 5;

// Classes of SQLSTATE: connection, transaction state, resources, limits, operator, system, configuration.
const STORAGE_FAILURES = /^(08|25|53|54|57|58|F0)/;
// A pooler gave the statement a connection on which it was not prepared, or was so already.
const OF_POOLERS: ReadonlySet<string> = new Set(['26000', '42P05']);
// Another transaction won: nothing was stored, and a retry may succeed.
const GIVEN_UP: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);
const CANCELLED = '57014';
const UNIQUE_VIOLATION = '23505';
const DATATYPE_MISMATCH = '42804';
const DIVISION_BY_ZERO = '22012';
const NOT_NULL_VIOLATION = '23502';
const CONFLICTS: ReadonlySet<string> = new Set([UNIQUE_VIOLATION, ...GIVEN_UP]);
const NETWORK_CODES = /^(E[A-Z]+|EAI_[A-Z]+|ERR_SSL.*|ERR_SOCKET.*|CERT_.*|DEPTH_.*|SELF_SIGNED.*|UNABLE_.*)$/;
// Messages of the client library for lost connections, which have no code.
const LOST = /terminated|timeout|not queryable|Cannot use a pool after calling end|closed the connection/i;

/** Whether the failure lies outside of the statement: a later try may succeed. */
export function isStorageFailure(error: unknown): boolean {
  if (error instanceof Fault) return error.kind === 'unavailable';
  const code = codeOf(error);
  if (code === '') return error instanceof Error && LOST.test(error.message);
  return (code.length === 5 && STORAGE_FAILURES.test(code)) || OF_POOLERS.has(code) || NETWORK_CODES.test(code);
}

/** Whether nothing answers yet: the same attempt to connect may succeed later. */
export function isAway(error: unknown): boolean {
  return isStorageFailure(error) && !/^(ERR|CERT|DEPTH|SELF|UNABLE)_/.test(codeOf(error));
}

/** Whether another transaction was first; nothing of this one is stored. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error)) || isHeadTaken(error);
}

/** Whether another process has used more request keys than this one knew of. */
function isHeadTaken(error: unknown): boolean {
  if (codeOf(error) !== NOT_NULL_VIOLATION) return false;
  return error instanceof Error && 'column' in error && error.column === 'last_key_index';
}

/** Whether the database aborted the statement in favour of another transaction. */
export function isGivenUp(error: unknown): boolean {
  return GIVEN_UP.has(codeOf(error));
}

/** Whether the statement took longer than it may, or an operator cancelled it. */
export function isCancelled(error: unknown): boolean {
  return codeOf(error) === CANCELLED;
}

/** Whether a row did not match the type of its table: another process has added a column. */
export function isOtherRow(error: unknown): boolean {
  return codeOf(error) === DATATYPE_MISMATCH;
}

/** Whether monitors have changed since this process read them; see monitor-cache.ts. */
export function isOutdated(error: unknown): boolean {
  return codeOf(error) === DIVISION_BY_ZERO;
}

/** Whether a row had no partition for its month. The message depends on the language of the database. */
export function isMonthMissing(error: unknown): boolean {
  if (codeOf(error) !== '23514' || !(error instanceof Error)) return false;
  // Violated constraints have the same code, and a name.
  return !('constraint' in error) || error.constraint === undefined;
}

/** The sequence of the trace whose month has no partition; null for other tables. */
export function missingSequence(error: unknown): number | null {
  if (!isMonthMissing(error) || !(error instanceof Error) || !('detail' in error)) return null;
  const [, digits] = /\(trace_sequence\) = \((\d+)\)/.exec(String(error.detail)) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** The error for callers: the unavailable Fault where a later try may succeed. */
export function toFault(error: unknown): unknown {
  return isStorageFailure(error) || isGivenUp(error) ? storageFault(error) : error;
}

/** The Fault while the database is away, full or shutting down. */
export function storageFault(cause: unknown): Fault {
  if (cause instanceof Fault) return cause;
  return unavailableFault('The store cannot serve right now; try again.', RETRY_AFTER_SECONDS, cause);
}
