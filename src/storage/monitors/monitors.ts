/** Stores monitors. */

import type { ActiveMonitors } from '../../domain/evaluations/jobs.ts';
import type { Monitor, MonitorStore } from '../../domain/monitors/monitor.ts';
import type { SampledMonitor } from '../../domain/monitors/sampling.ts';
import type { QueryRunner, Transact, Transaction } from '../queries.ts';
import { findByIdOrSlug, hasRoom, insertUnlessTaken, type Verbs } from '../slugs.ts';

export function createMonitorStore(
  { queries: { monitors }, runQuery }: QueryRunner,
  { insertMonitor, replaceMonitor, removeMonitor }: MonitorWriter,
): MonitorStore {
  return {
    find: (projectId, idOrSlug) => findByIdOrSlug({ queries: monitors, runQuery }, projectId, idOrSlug),
    findInProject: async (projectNumber, id) =>
      (await runQuery(monitors.findMonitorInProject, { projectNumber, id }))[0] ?? null,
    list: (projectId) => runQuery(monitors.listMonitors, { projectId }),
    insert: insertMonitor,
    replace: replaceMonitor,
    remove: removeMonitor,
  };
}

type MonitorWriter = Verbs<MonitorStore, 'insert' | 'replace' | 'remove', 'Monitor'>;

export function createMonitorWriter(transact: Transact): MonitorWriter {
  return {
    insertMonitor: (monitor, { liveMax }) =>
      transact(async (tx) => {
        const { monitors } = tx.queries;
        const { projectId } = monitor;
        if (!(await hasEvaluator(tx, monitor))) return 'evaluator_gone';
        if (!(await hasRoom(tx, monitors, { projectId, liveMax }))) return 'limit_reached';
        const runsSince = isRunning(monitor) ? await countChange(tx, projectId, monitor.updatedAtMs) : 0;
        const row = { ...monitor, runsSince, deletedAtMs: null };
        return await insertUnlessTaken(tx, { queries: monitors, kind: 'a monitor' }, row);
      }),
    replaceMonitor: (monitor, knownAtMs) =>
      transact(async (tx) => {
        const { runQuery, change, queries } = tx;
        const { projectId, id, updatedAtMs } = monitor;
        if (monitor.enabled && !(await hasEvaluator(tx, monitor))) return 'evaluator_gone';
        const [stored] = await runQuery(queries.monitors.lockMonitor, { projectId, id });
        if (stored === undefined) return 'stale';
        const begins = isRunning(monitor) && !isRunning(stored);
        const isSeen =
          isRunning(monitor) !== isRunning(stored) || (isRunning(monitor) && monitor.sample !== stored.sample);
        const number = isSeen ? await countChange(tx, projectId, updatedAtMs) : 0;
        const runsSince = begins ? number : stored.runsSince;
        const changed = await change(queries.monitors.replaceMonitor, { ...monitor, runsSince, knownAtMs });
        return changed === 0 ? 'stale' : 'stored';
      }),
    removeMonitor: (projectId, id, nowMs) =>
      transact(async (tx) => {
        const { runQuery, change, queries } = tx;
        const [stored] = await runQuery(queries.monitors.lockMonitor, { projectId, id });
        if (stored === undefined) return false;
        if (isRunning(stored)) await countChange(tx, projectId, nowMs);
        await change(queries.monitors.hide, { projectId, id, deletedAtMs: nowMs });
        return true;
      }),
  };
}

function isRunning({ enabled, executionMode }: Pick<Monitor, 'enabled' | 'executionMode'>): boolean {
  return enabled && executionMode === 'ON_MESSAGE';
}

/**
 * Counts a change of the active monitors or of their samples; appends that used the earlier state are then applied again.
 * A transaction that locks monitors and this number MUST lock the monitors first.
 */
export async function countChange(tx: Transaction, projectId: string, nowMs: number): Promise<number> {
  const { monitors } = tx.queries;
  const [project] = await tx.runQuery(monitors.findProjectNumber, { id: projectId });
  // Without a project there are no traces.
  if (project === undefined) return 0;
  const projectNumber = project.number;
  await tx.change(monitors.countChange, { projectNumber, nowMs });
  const [change] = await tx.runQuery(monitors.findChange, { projectNumber });
  if (change === undefined) throw new Error('the changes of monitors were not counted');
  return change.number;
}

/** Whether the evaluator exists; locks it until the transaction ends. */
async function hasEvaluator({ runQuery, queries }: Transaction, { projectId, evaluatorId }: Monitor): Promise<boolean> {
  return (await runQuery(queries.evaluators.lockLive, { projectId, id: evaluatorId })).length > 0;
}

const NO_MONITORS: readonly SampledMonitor[] = [];

/** Caches active monitors where traces are stored, so that a project without monitors costs nothing. */
export function createActiveMonitorCache() {
  const known = new Map<number, ActiveMonitors>();
  return {
    /** Null: the project is not in the cache. */
    activeMonitorsOf: (projectNumber: number): ActiveMonitors | null => known.get(projectNumber) ?? null,
    keep(projectNumber: number, { asOf, monitors }: ActiveMonitors): void {
      // Most projects have no monitors, and share one empty list.
      known.set(projectNumber, { asOf, monitors: monitors.length === 0 ? NO_MONITORS : monitors });
    },
  };
}
