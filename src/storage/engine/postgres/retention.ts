/**
 * Retention on PostgreSQL: each step of a walk is one transaction. Every process may try; a lock that belongs to the
 * transaction lets one at a time.
 */

import type pg from 'pg';
import * as questions from '../../../../gen/storage/postgres/retention.ts';
import type { RetentionStore, TraceCut } from '../../../domain/store.ts';
import { removeExpiredAudit } from '../../retention/expired-audit.ts';
import { removeExpiredTraces } from '../../retention/expired-traces.ts';
import { beginWalk, type Pace, type TaskEnd, type TaskOutcome } from '../../retention/walk.ts';
import { createAsk } from './ask.ts';
import { readClock } from './clock.ts';
import type { Lane } from './connection.ts';
import { BEGINNING, listExpiredTraces } from './expired-traces.ts';
import { isStorageFailure, postgresCode, storageFault } from './failures.ts';
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
    begin({ eventsBeforeMs, traces, auditBeforeMs }) {
      const tasks = [
        planMonths(eventsBeforeMs),
        removeGovernance(eventsBeforeMs),
        removeTraces(traces),
        removeAudit(auditBeforeMs),
        planEmptyMonths,
      ];
      return beginWalk(tasks, (task, rowsMax) => runAlone(lane, (client) => task(client, rowsMax)));
    },
  };
}

/** The events themselves go with their month. */
function removeGovernance(beforeMs: number): Task {
  return async (client, rowsMax) => {
    const count = await paceOf(client, rowsMax).change(questions.removeOldGovernance, { beforeMs, limit: rowsMax });
    return { next: count === rowsMax ? [removeGovernance(beforeMs)] : [] };
  };
}

function removeTraces(cuts: readonly TraceCut[], from = BEGINNING): Task {
  return async (client, rowsMax) => {
    const step = { ...paceOf(client, rowsMax), from, cuts };
    const { removed, next } = await removeExpiredTraces({ questions, list: listExpiredTraces }, step);
    return { removed: { traces: removed }, next: next === null ? [] : [removeTraces(cuts, next)] };
  };
}

function removeAudit(beforeMs: number | null, after = 0): Task {
  return async (client, rowsMax) => {
    const step = { ...paceOf(client, rowsMax), after, beforeMs };
    const { removed, next } = await removeExpiredAudit(questions, step);
    return { removed: { auditEntries: removed }, next: next === null ? [] : [removeAudit(beforeMs, next)] };
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
