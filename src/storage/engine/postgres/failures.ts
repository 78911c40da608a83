/** Tells what the database, the network or an operator did to us from what is a bug of ours. */

import { Fault, unavailableFault } from '../../../domain/fault.ts';

const RETRY_AFTER_SECONDS = 1;

// Classes of SQLSTATE: connection, transaction state, resources, limits, operator, system, configuration.
const STORAGE_FAILURES = /^(08|25|53|54|57|58|F0)/;
// Losing against another process: nothing was stored, and the same again may well work.
const GIVEN_UP: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);
const UNIQUE_VIOLATION = '23505';
const DATATYPE_MISMATCH = '42804';
const DIVISION_BY_ZERO = '22012';
const NOT_NULL_VIOLATION = '23502';
const CONFLICTS: ReadonlySet<string> = new Set([UNIQUE_VIOLATION, ...GIVEN_UP]);
const NETWORK_CODES = /^(E[A-Z]+|ERR_SSL.*|ERR_SOCKET.*|CERT_.*|DEPTH_.*|SELF_SIGNED.*|UNABLE_.*)$/;
// What the client library says without a code when a connection is lost or was never had.
const LOST = /terminated|timeout|not queryable|Cannot use a pool after calling end|closed the connection/i;

/** The SQLSTATE or the code of the operating system; empty for other errors. */
export function postgresCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** Whether the statement failed for a reason outside of the statement: trying again later may work. */
export function isStorageFailure(error: unknown): boolean {
  if (error instanceof Fault) return error.kind === 'unavailable';
  const code = postgresCode(error);
  if (code === '') return error instanceof Error && LOST.test(error.message);
  return (code.length === 5 && STORAGE_FAILURES.test(code)) || NETWORK_CODES.test(code);
}

/** Whether another transaction was first; nothing of this one is stored. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(postgresCode(error)) || isHeadTaken(error);
}

/** What the end of a log says where another process has moved it further than this one knew. */
function isHeadTaken(error: unknown): boolean {
  if (postgresCode(error) !== NOT_NULL_VIOLATION) return false;
  return error instanceof Error && 'column' in error && error.column === 'last_key_index';
}

/** Whether the statement was given up so that others could go on. */
export function isGivenUp(error: unknown): boolean {
  return GIVEN_UP.has(postgresCode(error));
}

/** Whether a row was not of the type of its table: another process has added a column. */
export function isOtherRow(error: unknown): boolean {
  return postgresCode(error) === DATATYPE_MISMATCH;
}

/** Whether monitors have changed since this process read them; see monitor-cache.ts. */
export function isOutdated(error: unknown): boolean {
  return postgresCode(error) === DIVISION_BY_ZERO;
}

/** Whether a row found no partition for its month. The text is in whatever language the database speaks. */
export function isMonthMissing(error: unknown): boolean {
  if (postgresCode(error) !== '23514' || !(error instanceof Error)) return false;
  // The code is also that of a broken rule, which has a name.
  return !('constraint' in error) || error.constraint === undefined;
}

/** The sequence of the trace whose month has no partition; null when it is something else that has none. */
export function missingSequence(error: unknown): number | null {
  if (!isMonthMissing(error) || !(error instanceof Error) || !('detail' in error)) return null;
  const [, digits] = /\(trace_sequence\) = \((\d+)\)/.exec(String(error.detail)) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** The refusal a caller sees while the database is away, full or shutting down. */
export function storageFault(cause: unknown): Fault {
  if (cause instanceof Fault) return cause;
  return unavailableFault('The store cannot serve right now; try again.', RETRY_AFTER_SECONDS, cause);
}
