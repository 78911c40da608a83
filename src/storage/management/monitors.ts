/** Monitors. */

import { LockMode } from '@mikro-orm/core';
import type { Monitor, MonitorStore } from '../../domain/monitors/monitor.ts';
import { EvaluatorRow } from '../entities/evaluators.ts';
import { MonitorRow } from '../entities/monitors.ts';
import { Project } from '../entities/organization.ts';
import type { EntityManager } from '../mapper.ts';
import { findLive, hasRoom, insertUnlessTaken } from './slugs.ts';
import { kyselyOf, plain, rowReads, type Units } from './units.ts';

/** Numbers that keep their digits cannot pass between threads, but their text can. */
export type PackedMonitor = Omit<Monitor, 'preconditions'> & { readonly preconditionsJson: string };

export type MonitorRoom = ReturnType<typeof createMonitorRoom>;

export function createMonitorRoom({ read, transact }: Units) {
  const { all } = rowReads(read);
  return {
    find: (projectId: string, idOrSlug: string) => read((em) => findLive(em, MonitorRow, { projectId, idOrSlug })),
    findInProject: (projectNumber: number, id: string) =>
      read(async (em) => {
        const project = await em.findOne(Project, { number: projectNumber }, { fields: ['id'] });
        const found = project && (await em.findOne(MonitorRow, { projectId: project.id, id, deletedAtMs: null }));
        return found && plain(found, 'deletedAtMs');
      }),
    list: (projectId: string) => all(MonitorRow, { projectId, deletedAtMs: null }, { without: ['deletedAtMs'] }),
    insert: (monitor: PackedMonitor, { liveMax }: { readonly liveMax: number }) =>
      transact(async ({ em }) => {
        const { projectId, updatedAtMs } = monitor;
        if (!(await lockEvaluator(em, monitor))) return 'evaluator_gone';
        if (!(await hasRoom(em, MonitorRow, { projectId, liveMax }))) return 'limit_reached';
        const runsSince = isRunning(monitor) ? await countChange(em, projectId, updatedAtMs) : 0;
        return await insertUnlessTaken(em, MonitorRow, { ...monitor, runsSince, deletedAtMs: null });
      }),
    replace: (monitor: PackedMonitor, knownAtMs: number) =>
      transact(async ({ em }) => {
        const { id: _, projectId, slug, createdAtMs, ...changed } = monitor;
        if (monitor.enabled && !(await lockEvaluator(em, monitor))) return 'evaluator_gone';
        const stored = await lockMonitor(em, monitor);
        if (stored?.updatedAtMs !== knownAtMs) return 'stale';
        const begins = isRunning(monitor) && !isRunning(stored);
        const ends = isRunning(stored) && !isRunning(monitor);
        const isSeen = begins || ends || (isRunning(monitor) && monitor.sample !== stored.sample);
        const number = isSeen ? await countChange(em, projectId, monitor.updatedAtMs) : 0;
        Object.assign(stored, changed, { runsSince: begins ? number : stored.runsSince });
        return 'stored';
      }),
    remove: (projectId: string, id: string, nowMs: number) =>
      transact(async ({ em }) => {
        const stored = await lockMonitor(em, { projectId, id });
        if (stored === null) return false;
        if (isRunning(stored)) await countChange(em, projectId, nowMs);
        stored.deletedAtMs = nowMs;
        return true;
      }),
  } satisfies { readonly [Verb in keyof MonitorStore]: unknown };
}

function isRunning({ enabled, executionMode }: Pick<PackedMonitor, 'enabled' | 'executionMode'>): boolean {
  return enabled && executionMode === 'ON_MESSAGE';
}

/**
 * Counts a change of the active monitors or of their samples; appends that used the earlier state are then applied again.
 * A transaction that locks monitors and this number MUST lock the monitors first.
 */
export async function countChange(em: EntityManager, projectId: string, nowMs: number): Promise<number> {
  const project = await em.findOne(Project, { id: projectId }, { fields: ['number'] });
  // Without a project there are no traces.
  if (project === null) return 0;
  const { number } = await kyselyOf(em)
    .insertInto('MonitorChangeCount')
    .values({ projectNumber: project.number, number: nowMs })
    // Derived from the time, so that the number stays unique even in a database that was restored from a backup.
    .onConflict((row) =>
      row.column('projectNumber').doUpdateSet(({ eb }) => ({
        number: eb
          .case()
          .when('MonitorChangeCount.number', '>=', nowMs)
          .then(eb('MonitorChangeCount.number', '+', 1))
          .else(nowMs)
          .end(),
      })),
    )
    .returning('number')
    .executeTakeFirstOrThrow();
  return number;
}

/** Whether the evaluator exists; locks it until the transaction ends. */
async function lockEvaluator(em: EntityManager, { projectId, evaluatorId }: PackedMonitor): Promise<boolean> {
  const live = { projectId, id: evaluatorId, deletedAtMs: null };
  return (await em.findOne(EvaluatorRow, live, { lockMode: LockMode.PESSIMISTIC_WRITE, fields: ['id'] })) !== null;
}

/** Locks what appends depend on, until the transaction ends. */
async function lockMonitor(em: EntityManager, { projectId, id }: Pick<PackedMonitor, 'projectId' | 'id'>) {
  return await em.findOne(MonitorRow, { projectId, id, deletedAtMs: null }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}
