/**
 * Retention on PostgreSQL: a queue of tasks, and each step of the walk is one transaction of the first of them. Every
 * process may try; a lock that belongs to the transaction lets one at a time.
 */

import type pg from 'pg';
import type { RetentionCounts, RetentionCuts, RetentionStore, RetentionWalk } from '../../domain/store.ts';
import { readClock } from './clock.ts';
import type { Lane, Statement } from './connection.ts';
import { removeExpiredAudit } from './expired-audit.ts';
import { removeExpiredGovernance } from './expired-governance.ts';
import { removeExpiredTraces } from './expired-traces.ts';
import { isStorageFailure, postgresCode, storageFault } from './failures.ts';
import { planEmptyMonths, planMonths } from './partitions.ts';
import { DONE, type Task, type TaskStep } from './retention-task.ts';

const TERMS: Statement = {
  name: 'trace-terms',
  text: 'SELECT DISTINCT trace_retention_days AS "storedDays" FROM projects',
};

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
// Times that a task may find what it needs held by others before it is left to the next walk.
const TRIES_MAX = 10;
const NOTHING: RetentionCounts = { events: 0, traces: 0, auditEntries: 0, months: 0 };
// Locks not had in time, deadlocks, and statements that would have held their locks for too long.
const HELD_BY_OTHERS: ReadonlySet<string> = new Set(['55P03', '40P01', '57014']);
const UNDEFINED_TABLE = '42P01';

export function createRetention(lane: Lane): RetentionStore {
  return {
    nowMs: () => readClock(lane),
    async traceTerms() {
      const rows = await lane.ask<{ storedDays: number | null }>(TERMS, []);
      return rows.map((row) => row.storedDays);
    },
    begin: (cuts) => beginWalk(lane, cuts),
  };
}

type Waiting = { readonly task: Task; readonly triesLeft: number };

function beginWalk(lane: Lane, cuts: RetentionCuts): RetentionWalk {
  const { eventsBeforeMs, traces, auditBeforeMs } = cuts;
  let waiting = queueOf([
    planMonths(eventsBeforeMs),
    removeExpiredGovernance(eventsBeforeMs),
    removeExpiredTraces(traces),
    removeExpiredAudit(auditBeforeMs),
    planEmptyMonths,
  ]);

  /** What is held by others is tried again after everything else. */
  function settle({ task, triesLeft }: Waiting, step: TaskStep | 'held'): RetentionCounts {
    const rest = waiting.slice(1);
    if (step === 'held') {
      waiting = triesLeft > 1 ? [...rest, { task, triesLeft: triesLeft - 1 }] : rest;
      return NOTHING;
    }
    waiting = [...queueOf(step.next), ...rest];
    return { ...NOTHING, ...step.removed };
  }

  return {
    async step(rowsMax) {
      const [first] = waiting;
      if (first === undefined) return { outcome: 'done', removed: NOTHING, heldMs: 0 };
      const startedAtMs = performance.now();
      const step = await runAlone(lane, (client) => first.task(client, rowsMax));
      const heldMs = performance.now() - startedAtMs;
      if (step === 'busy') return { outcome: 'busy', removed: NOTHING, heldMs };
      const removed = settle(first, step);
      return { outcome: outcomeOf(waiting), removed, heldMs };
    },
  };
}

function outcomeOf(waiting: readonly Waiting[]): 'more' | 'held' | 'done' {
  if (waiting.length === 0) return 'done';
  return waiting.every(({ triesLeft }) => triesLeft < TRIES_MAX) ? 'held' : 'more';
}

function queueOf(tasks: readonly Task[]): readonly Waiting[] {
  return tasks.map((task) => ({ task, triesLeft: TRIES_MAX }));
}

/** Runs a body in a transaction that no other process has the like of. */
async function runAlone(
  lane: Lane,
  body: (client: pg.ClientBase) => Promise<TaskStep>,
): Promise<TaskStep | 'busy' | 'held'> {
  try {
    return await lane.hold(async (client) => {
      await client.query(BEGIN);
      try {
        const done = (await isFirst(client)) ? await body(client) : 'busy';
        await client.query('COMMIT');
        return done;
      } catch (error) {
        if (isStorageFailure(error) && !isHeld(error)) throw error;
        await client.query('ROLLBACK');
        if (isHeld(error)) return 'held';
        // The walk of another process dropped the table meanwhile.
        if (postgresCode(error) === UNDEFINED_TABLE) return DONE;
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
