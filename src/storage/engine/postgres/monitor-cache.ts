/**
 * Caches the monitors that run by themselves, per project. Another process may change them at any time, so every batch
 * ends with a check of their change numbers; a batch with outdated monitors is rolled back and applied again. The next
 * attempt locks the change numbers first, so that it cannot fail for the same reason. An append that begins after a
 * change was acknowledged always sees it.
 */

import type { ActiveMonitors } from '../../../domain/evaluations/jobs.ts';
import { createActiveMonitorCache } from '../../monitors/monitors.ts';
import type { RunQuery } from '../../transaction.ts';
import { int4Array, int8Array } from './binary-arrays.ts';
import type { Pool, Statement } from './pool.ts';
import { createRunQuery } from './run-query.ts';
import { openQueries } from './statements.ts';
import type { PipelinedTransaction } from './transaction.ts';

export type MonitorCache = ReturnType<typeof createMonitorCache>;

// All transactions lock in this order. A project's first monitor has no row to lock: that happens once.
const LOCK: Statement = {
  name: 'lock-monitors',
  text: 'SELECT 1 FROM monitor_changes WHERE project_number = ANY($1::int[]) ORDER BY project_number FOR SHARE',
};
// Nothing waits for the answer, so outdated numbers have to raise an error.
const CHECK: Statement = {
  name: 'check-monitors',
  text: `SELECT 1 / (CASE WHEN EXISTS (
      SELECT FROM unnest($1::int[], $2::bigint[]) AS known (project_number, number)
      WHERE known.number <> coalesce(
        (SELECT number FROM monitor_changes AS stored WHERE stored.project_number = known.project_number), 0)
    ) THEN 0 ELSE 1 END)`,
};

export function createMonitorCache(pool: Pool) {
  const { listChanges, listRunning } = openQueries().monitors;
  const known = createActiveMonitorCache();

  async function load(runQuery: RunQuery, projectNumbers: readonly number[]): Promise<void> {
    // Read first: a later change has another number, and is loaded again.
    const changes = new Map(
      (await runQuery(listChanges, { projectNumbers })).map(({ projectNumber, number }) => [projectNumber, number]),
    );
    const running = await runQuery(listRunning, { projectNumbers: [...changes.keys()] });
    const byProject = Map.groupBy(running, ({ projectNumber }) => projectNumber);
    for (const projectNumber of projectNumbers) {
      const asOf = changes.get(projectNumber) ?? 0;
      known.keep(projectNumber, { asOf, monitors: byProject.get(projectNumber) ?? [] });
    }
  }

  /** Of a project that is loaded. */
  function activeMonitorsOf(projectNumber: number): ActiveMonitors {
    const active = known.activeMonitorsOf(projectNumber);
    if (active === null) throw new Error('the monitors of a project were not loaded');
    return active;
  }

  return {
    activeMonitorsOf,
    /** Loads the monitors of projects that are not cached. */
    async ensureLoaded(projectNumbers: readonly number[]): Promise<void> {
      const unknown = projectNumbers.filter((projectNumber) => known.activeMonitorsOf(projectNumber) === null);
      if (unknown.length > 0) await load(createRunQuery(pool), unknown);
    },
    /** Reloads them and locks them until the transaction ends. */
    async lock({ runQuery, post }: PipelinedTransaction, projectNumbers: readonly number[]): Promise<void> {
      post(LOCK, [int4Array(projectNumbers, Number)]);
      await load(runQuery, projectNumbers);
    },
    /** Makes the transaction fail if monitors have changed. */
    check({ post }: PipelinedTransaction, projectNumbers: readonly number[]): void {
      if (projectNumbers.length === 0) return;
      const asOf = int8Array(projectNumbers, (projectNumber) => activeMonitorsOf(projectNumber).asOf);
      post(CHECK, [int4Array(projectNumbers, Number), asOf]);
    },
  };
}
