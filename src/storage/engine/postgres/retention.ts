/**
 * Retention on PostgreSQL: each step of a walk is one transaction. Every process may try; a lock that belongs to the
 * transaction lets one at a time.
 */

import type pg from 'pg';
import * as questions from '../../../../gen/storage/postgres/retention.ts';
import type { RetentionCuts, RetentionStore } from '../../../domain/store.ts';
import { type PartTask, removePart, SHARED_PARTS } from '../../retention/parts.ts';
import { beginWalk, type Pace, type TaskEnd, type TaskOutcome } from '../../retention/walk.ts';
import { createAsk } from './ask.ts';
import { type Lane, readClock } from './connection.ts';
import { isStorageFailure, postgresCode, storageFault } from './failures.ts';
import { firstSequenceAfter } from './months.ts';
import { planEmptyMonths, planMonths } from './partitions.ts';

/** One step of a walk, inside a transaction of its own. */
export type Task = (client: pg.ClientBase, rowsMax: number) => Promise<TaskEnd<Task>>;

/** "SPRT": held by the transaction of a step. */
export const RETENTION_LOCK = 0x5350_5254;
// Whoever comes after a waiting lock waits as well, so it must give up soon. A step touches few rows of large tables,
// and while statistics are old every way to them but by their keys may look cheaper than it is.
const BEGIN = `BEGIN;
  SET LOCAL lock_timeout = '50ms';
  SET LOCAL jit = off;
  SET LOCAL enable_seqscan = off;
  SET LOCAL enable_hashjoin = off;
  SET LOCAL enable_mergejoin = off`;
// Locks not had in time, deadlocks, and statements that would have held their locks for too long.
const HELD_BY_OTHERS: ReadonlySet<string> = new Set(['55P03', '40P01', '57014']);
const UNDEFINED_TABLE = '42P01';

export function createRetention(lane: Lane): RetentionStore {
  const ask = createAsk(lane);
  return {
    nowMs: () => readClock(lane),
    traceTerms: async () => (await ask(questions.listTraceTerms, {})).map(({ storedDays }) => storedDays),
    begin(cuts) {
      const parts = SHARED_PARTS.map((part) => removing({ part, after: 0 }, cuts));
      return beginWalk([planMonths(cuts.eventsBeforeMs), ...parts, planEmptyMonths], (task, rowsMax) =>
        runAlone(lane, (client) => task(client, rowsMax)),
      );
    },
  };
}

/** Events go with their month. */
function removing(task: PartTask, cuts: RetentionCuts): Task {
  return async (client, rowsMax) => {
    const step = { ...paceOf(client, rowsMax), cuts, sequenceAt: firstSequenceAfter };
    const { removed, next } = await removePart(questions, task, step);
    return { ...(removed === undefined ? {} : { removed }), next: next.map((each) => removing(each, cuts)) };
  };
}

/** Nobody waits for the rows of a step, so it takes them all at once. */
function paceOf(client: pg.ClientBase, rowsMax: number): Pace {
  return {
    ask: async ({ text, cells, row }, given) => (await client.query<never>(text, cells(given))).rows.map(row),
    change: async ({ text, cells }, given) => (await client.query(text, cells(given))).rowCount ?? 0,
    rowsMax,
    rowsAtOnce: rowsMax,
    isOver: () => false,
  };
}

/** Runs a body in a transaction that no other process has the like of. */
async function runAlone(
  lane: Lane,
  body: (client: pg.ClientBase) => Promise<TaskEnd<Task>>,
): Promise<TaskOutcome<Task>> {
  const startedAtMs = performance.now();
  const after = (end: TaskOutcome<Task>['end']) => ({ end, heldMs: performance.now() - startedAtMs });
  try {
    return await lane.hold(async (client) => {
      await client.query(BEGIN);
      try {
        const end = (await isFirst(client)) ? await body(client) : 'busy';
        await client.query('COMMIT');
        return after(end);
      } catch (error) {
        if (isStorageFailure(error) && !isHeld(error)) throw error;
        await client.query('ROLLBACK');
        if (isHeld(error)) return after('held');
        // The walk of another process dropped the table meanwhile.
        if (postgresCode(error) === UNDEFINED_TABLE) return after({ next: [] });
        throw error;
      }
    });
  } catch (error) {
    throw isStorageFailure(error) ? storageFault(error) : error;
  }
}

async function isFirst(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ isMine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS "isMine"', [
    RETENTION_LOCK,
  ]);
  return rows[0]?.isMine === true;
}

function isHeld(error: unknown): boolean {
  return HELD_BY_OTHERS.has(postgresCode(error));
}
