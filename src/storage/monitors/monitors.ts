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
        const { id, projectId, slug } = monitor;
        await ask(questions.evaluators.holdProject, { projectId });
        if (!(await hasEvaluator(tx, monitor))) return 'evaluator_gone';
        const [live] = await ask(questions.monitors.countMonitors, { projectId });
        if (live === undefined || live.count >= liveMax) return 'limit_reached';
        const runsSince = isRunning(monitor) ? await countChange(tx, projectId, monitor.updatedAtMs) : 0;
        const row = { ...pack(monitor), runsSince, deletedAtMs: null };
        if ((await change(questions.monitors.insertMonitor, row)) > 0) return 'stored';
        const [taken] = await ask(questions.monitors.findMonitorBySlug, { projectId, slug });
        if (taken === undefined || taken.id === id) throw new Error('the id of a monitor is taken');
        return 'slug_taken';
      }),
    replaceMonitor: (monitor, knownAtMs) =>
      transact(async (tx) => {
        const { ask, change, questions } = tx;
        const { projectId, id, updatedAtMs } = monitor;
        if (monitor.enabled && !(await hasEvaluator(tx, monitor))) return 'evaluator_gone';
        const [stored] = await ask(questions.monitors.holdMonitor, { projectId, id });
        if (stored === undefined) return 'stale';
        const begins = isRunning(monitor) && !isRunning(stored);
        const isSeen =
          isRunning(monitor) !== isRunning(stored) || (isRunning(monitor) && monitor.sample !== stored.sample);
        const number = isSeen ? await countChange(tx, projectId, updatedAtMs) : 0;
        const runsSince = begins ? number : stored.runsSince;
        const changed = await change(questions.monitors.replaceMonitor, { ...pack(monitor), runsSince, knownAtMs });
        return changed === 0 ? 'stale' : 'stored';
      }),
    removeMonitor: (projectId, id, nowMs) =>
      transact(async (tx) => {
        const { ask, change, questions } = tx;
        const [stored] = await ask(questions.monitors.holdMonitor, { projectId, id });
        if (stored === undefined) return false;
        if (isRunning(stored)) await countChange(tx, projectId, nowMs);
        await change(questions.monitors.removeMonitor, { projectId, id, deletedAtMs: nowMs });
        return true;
      }),
  };
}

function isRunning({ enabled, executionMode }: Pick<Monitor, 'enabled' | 'executionMode'>): boolean {
  return enabled && executionMode === 'ON_MESSAGE';
}

/**
 * To be called where other monitors run by themselves than before, or on another share of the traces: batches of traces
 * that went by those before are applied again. Whoever holds monitors and the number takes the monitors first.
 */
export async function countChange(tx: Changing, projectId: string, nowMs: number): Promise<number> {
  const { monitors } = tx.questions;
  const [project] = await tx.ask(monitors.findProjectNumber, { projectId });
  // A monitor of a project that is not there sees no traces.
  if (project === undefined) return 0;
  const projectNumber = project.number;
  await tx.change(monitors.countChange, { projectNumber, nowMs });
  const [change] = await tx.ask(monitors.findChange, { projectNumber });
  if (change === undefined) throw new Error('the changes of monitors were not counted');
  return change.number;
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
