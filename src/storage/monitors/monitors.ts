/** Monitors as they are stored. */

import type { Mappings, Monitor, Precondition } from '../../domain/monitors/monitor.ts';
import type { MonitorStore } from '../../domain/monitors/monitor-store.ts';
import type { Managing } from '../management.ts';
import type { Asking, Changing, Questions, RowOf } from '../questions.ts';

export function createMonitorReader({
  questions: { monitors },
  ask,
}: Asking): Pick<MonitorStore, 'find' | 'findInProject' | 'list'> {
  return {
    async find(projectId, idOrSlug) {
      const [row] = await ask(monitors.findMonitor, { projectId, id: idOrSlug });
      const [found] = row ? [row] : await ask(monitors.findMonitorBySlug, { projectId, slug: idOrSlug });
      return found === undefined ? null : unpack(found);
    },
    async findInProject(projectNumber, id) {
      const [found] = await ask(monitors.findMonitorInProject, { projectNumber, id });
      return found === undefined ? null : unpack(found);
    },
    list: async (projectId) => (await ask(monitors.listMonitors, { projectId })).map(unpack),
  };
}

export type MonitorWriter = {
  insertMonitor: MonitorStore['insert'];
  replaceMonitor: MonitorStore['replace'];
  removeMonitor: MonitorStore['remove'];
};

export function createMonitorWriter({ transact }: Managing): MonitorWriter {
  return {
    insertMonitor: (monitor, { liveMax }) =>
      transact(async (tx) => {
        const { ask, change, questions } = tx;
        const { id, projectId, slug, updatedAtMs } = monitor;
        await ask(questions.evaluators.holdProject, { projectId });
        if (!(await hasEvaluator(tx, monitor))) return 'evaluator_gone';
        const [live] = await ask(questions.monitors.countMonitors, { projectId });
        if (live === undefined || live.count >= liveMax) return 'limit_reached';
        if ((await change(questions.monitors.insertMonitor, { ...pack(monitor), deletedAtMs: null })) > 0) {
          await change(questions.monitors.countChange, { nowMs: updatedAtMs });
          return 'stored';
        }
        const [taken] = await ask(questions.monitors.findMonitorBySlug, { projectId, slug });
        if (taken === undefined || taken.id === id) throw new Error('the id of a monitor is taken');
        return 'slug_taken';
      }),
    replaceMonitor: (monitor, knownAtMs) =>
      transact(async (tx) => {
        const { change, questions } = tx;
        if (monitor.enabled && !(await hasEvaluator(tx, monitor))) return 'evaluator_gone';
        const changed = await change(questions.monitors.replaceMonitor, { ...pack(monitor), knownAtMs });
        if (changed === 0) return 'stale';
        await change(questions.monitors.countChange, { nowMs: monitor.updatedAtMs });
        return 'stored';
      }),
    removeMonitor: (projectId, id, nowMs) =>
      transact(async (tx) => {
        const { change, questions } = tx;
        if ((await change(questions.monitors.removeMonitor, { projectId, id, deletedAtMs: nowMs })) === 0) return false;
        await change(questions.monitors.countChange, { nowMs });
        await dropJobs(tx, projectId, id);
        return true;
      }),
  };
}

// More would hold up those who store traces; what is left is dropped when it is due.
const DROPPED_MAX = 10_000;

async function dropJobs({ ask, changeRows, questions }: Changing, projectId: string, sourceId: string): Promise<void> {
  const { findProjectNumber, holdJobsOfSource, removeJobs } = questions.evaluations;
  const [project] = await ask(findProjectNumber, { projectId });
  if (project === undefined) return;
  const found = await ask(holdJobsOfSource, { projectNumber: project.number, sourceId, limit: DROPPED_MAX });
  changeRows(removeJobs, found);
}

/** Whether it is there, and stays so until the transaction ends. */
async function hasEvaluator({ ask, questions }: Changing, { projectId, evaluatorId }: Monitor): Promise<boolean> {
  return (await ask(questions.monitors.holdEvaluator, { projectId, id: evaluatorId })).length > 0;
}

function pack({ preconditions, mappings, ...rest }: Monitor) {
  return { ...rest, preconditionsJson: JSON.stringify(preconditions), mappingsJson: JSON.stringify(mappings) };
}

// Only pack writes these columns.
function unpack({ preconditionsJson, mappingsJson, ...rest }: RowOf<Questions['monitors']['findMonitor']>): Monitor {
  return {
    ...rest,
    preconditions: JSON.parse(preconditionsJson) as readonly Precondition[],
    mappings: JSON.parse(mappingsJson) as Mappings,
  };
}
