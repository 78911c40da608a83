/**
 * Retention on PostgreSQL: each step is one transaction. Every process may try; an advisory lock of the transaction
 * admits one at a time.
 */

import type pg from 'pg';
import type { RetentionTask, TaskEnd, TaskOutcome } from '../../../domain/retention-walk.ts';
import { codeOf } from '../../errors.ts';
import { createBacklog } from '../../retention/backlog.ts';
import { LOG_PARTS } from '../../retention/log-parts.ts';
import { MANAGEMENT_PARTS } from '../../retention/management-parts.ts';
import type { Parts, RemovePart, StepBudget } from '../../retention/parts.ts';
import { NO_CUTS, TELEMETRY_PARTS } from '../../retention/telemetry-parts.ts';
import type { Engine } from '../../store.ts';
import { isStorageFailure, storageFault } from './failures.ts';
import { firstSequenceAfter, planEmptyMonths, planMonths, type Task } from './months.ts';
import type { Pool, Statement } from './pool.ts';
import { createRunQuery } from './run-query.ts';
import { openQueries } from './statements.ts';

/** "SPRT": locked by the transaction of a step. */
export const RETENTION_LOCK = 0x5350_5254;
// A waiting lock makes later ones wait as well, so it must time out soon. A step touches few rows of large tables, and
// outdated statistics could make every plan but one by keys look cheaper than it is.
const BEGIN = `BEGIN;
  SET LOCAL lock_timeout = '50ms';
  SET LOCAL jit = off;
  SET LOCAL enable_seqscan = off;
  SET LOCAL enable_bitmapscan = off;
  SET LOCAL enable_hashjoin = off;
  SET LOCAL enable_mergejoin = off`;
// Lock timeouts, deadlocks, and statements that held their locks for too long.
const LOCKED_BY_OTHERS: ReadonlySet<string> = new Set(['55P03', '40P01', '57014']);
const UNDEFINED_TABLE = '42P01';

export function createRetention(
  pool: Pool,
): Pick<Engine, 'logRetention' | 'telemetryRetention' | 'managementRetention'> {
  const runQuery = createRunQuery(pool);
  const { retention: queries } = openQueries();

  function alone(task: Task): RetentionTask {
    return async (rowsMax) => {
      const { end, ...times } = await runAlone(pool, (client) => task(client, rowsMax));
      return { ...times, end: typeof end === 'string' ? end : { ...end, next: end.next.map(alone) } };
    };
  }

  const tasksOf = <Cuts>(parts: Parts<Cuts>, cuts: Cuts) =>
    Object.values(parts).map((part) => alone(removing(part, cuts)));
  return {
    // Events are dropped with their month.
    logRetention: { begin: (cuts) => [alone(planMonths(cuts.eventsBeforeMs)), ...tasksOf(LOG_PARTS, cuts)] },
    telemetryRetention: {
      begin: (cuts) => [...tasksOf(TELEMETRY_PARTS, cuts), alone(planEmptyMonths)],
      backlog: createBacklog(queries, runQuery),
      // Texts are erased with the rows that hold them.
      async beginErasure() {
        // Every process asks often, and must not keep another one from a run of retention.
        const isLeft = (await runQuery(queries.findHiddenTrace, {})).length > 0;
        return isLeft ? [alone(removing(TELEMETRY_PARTS.traces, NO_CUTS))] : [];
      },
    },
    managementRetention: {
      begin: (cuts) => tasksOf(MANAGEMENT_PARTS, cuts),
      traceTerms: async () => (await runQuery(queries.listTraceTerms, {})).map(({ storedDays }) => storedDays),
    },
  };
}

function removing<Cuts>(part: RemovePart<Cuts>, cuts: Cuts, after = 0): Task {
  return async (client, rowsMax) => {
    const step = { ...budgetOf(client, rowsMax), cuts, after, sequenceAt: firstSequenceAfter };
    const { next, ...removed } = await part(openQueries().retention, step);
    return { ...removed, next: next === null ? [] : [removing(part, cuts, next)] };
  };
}

/** No transaction waits for the rows of a step, so it removes them all at once. */
function budgetOf(client: pg.ClientBase, rowsMax: number): StepBudget {
  const run = <Row extends pg.QueryResultRow>({ name, text }: Statement, values: unknown[]) =>
    client.query<Row>({ name, text, values });
  return {
    runQuery: async (query, params) => (await run<never>(query, query.cells(params))).rows.map(query.row),
    change: async (query, params) => (await run(query, query.cells(params))).rowCount ?? 0,
    rowsMax,
    rowsAtOnce: rowsMax,
    heavyRowsAtOnce: rowsMax,
    isOver: () => false,
  };
}

/** Runs a body in a transaction that no other process runs at the same time. */
async function runAlone(
  pool: Pool,
  body: (client: pg.ClientBase) => Promise<TaskEnd<Task>>,
): Promise<TaskOutcome<Task>> {
  const startedAtMs = performance.now();
  const elapsedMs = () => performance.now() - startedAtMs;
  const after = (end: TaskOutcome<Task>['end'], removingMs = elapsedMs()) => ({ end, heldMs: elapsedMs(), removingMs });
  try {
    return await pool.withConnection(async (client) => {
      await client.query(BEGIN);
      try {
        const end = (await isFirst(client)) ? await body(client) : 'busy';
        const removingMs = elapsedMs();
        await client.query('COMMIT');
        return after(end, removingMs);
      } catch (error) {
        if (isStorageFailure(error) && !isLocked(error)) throw error;
        await client.query('ROLLBACK');
        if (isLocked(error)) return after('locked');
        // Another process dropped the table meanwhile.
        if (codeOf(error) === UNDEFINED_TABLE) return after({ next: [] });
        throw error;
      }
    });
  } catch (error) {
    throw isStorageFailure(error) ? storageFault(error) : error;
  }
}

async function isFirst(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ isClaimed: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS "isClaimed"', [
    RETENTION_LOCK,
  ]);
  return rows[0]?.isClaimed === true;
}

function isLocked(error: unknown): boolean {
  return LOCKED_BY_OTHERS.has(codeOf(error));
}
