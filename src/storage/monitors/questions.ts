/** What is asked and stored of monitors. What is deleted is kept, and found by nobody. */

import { sql } from 'kysely';
import { insertNew } from '../plain-questions.ts';
import { change, type Db, question, type Row, type Words } from '../questions.ts';

type InProject = { readonly projectId: string };
type InNumbered = { readonly projectNumber: number };
type OneOf = InProject & { readonly id: string };

export const countMonitors = question<InProject>()((db, { projectId }) =>
  db
    .selectFrom('Monitor')
    .where('projectId', '=', projectId)
    .where('deletedAtMs', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

export const findMonitor = question<OneOf>()((db, { projectId, id }, words) =>
  livingOf(db, projectId, words).where('id', '=', id),
);

export const findMonitorBySlug = question<InProject & { readonly slug: string }>()((db, { projectId, slug }, words) =>
  livingOf(db, projectId, words).where('slug', '=', slug),
);

/** By the number of the project. */
export const findMonitorInProject = question<{ readonly projectNumber: number; readonly id: string }>()(
  (db, { projectNumber, id }, { find }) =>
    find(db, 'Monitor', {}, 'deletedAtMs', 'runsSince')
      .innerJoin('Project as project', 'project.id', 'Monitor.projectId')
      .where('project.number', '=', projectNumber)
      .where('Monitor.id', '=', id)
      .where('Monitor.deletedAtMs', 'is', null),
);

export const listMonitors = question<InProject>()((db, { projectId }, words) => livingOf(db, projectId, words));

function livingOf(db: Db, projectId: string, { find }: Words) {
  return find(db, 'Monitor', { projectId }, 'deletedAtMs', 'runsSince').where('deletedAtMs', 'is', null);
}

/** What an append depends on; until the transaction ends nobody changes the monitor. */
export const holdMonitor = question<OneOf>()((db, { projectId, id }, { hold }) =>
  hold(
    db
      .selectFrom('Monitor')
      .where('projectId', '=', projectId)
      .where('id', '=', id)
      .where('deletedAtMs', 'is', null)
      .select(['enabled as enabled', 'executionMode as executionMode', 'sample as sample', 'runsSince as runsSince']),
  ),
);

/** Until the transaction ends nobody deletes the evaluator. */
export const holdEvaluator = question<OneOf>()((db, { projectId, id }, { hold }) =>
  hold(
    db
      .selectFrom('Evaluator')
      .where('projectId', '=', projectId)
      .where('id', '=', id)
      .where('deletedAtMs', 'is', null)
      .select('id as id'),
  ),
);

/** Nothing, when the slug or the id is taken. */
export const insertMonitor = insertNew('Monitor');

type Replacement = Omit<Row<'Monitor'>, 'slug' | 'createdAtMs' | 'deletedAtMs'> & { readonly knownAtMs: number };

/** Nothing, when the monitor was updated at another instant than the known one. */
export const replaceMonitor = change<Replacement>((db, given, { update }) =>
  update(db, 'Monitor', { projectId: given.projectId, id: given.id, updatedAtMs: given.knownAtMs })
    .where('deletedAtMs', 'is', null)
    .set({
      name: given.name,
      evaluatorId: given.evaluatorId,
      checkType: given.checkType,
      enabled: given.enabled,
      sample: given.sample,
      preconditionsJson: given.preconditionsJson,
      mappingsJson: given.mappingsJson,
      parametersJson: given.parametersJson,
      executionMode: given.executionMode,
      runsSince: given.runsSince,
      updatedAtMs: given.updatedAtMs,
    }),
);

export const removeMonitor = change<OneOf & { readonly deletedAtMs: number }>(
  (db, { projectId, id, deletedAtMs }, { update }) =>
    update(db, 'Monitor', { projectId, id }).where('deletedAtMs', 'is', null).set({ deletedAtMs }),
);

/** Of an evaluator that is deleted. */
export const disableMonitors = change<InProject & { readonly evaluatorId: string; readonly updatedAtMs: number }>(
  (db, { projectId, evaluatorId, updatedAtMs }) =>
    db
      .updateTable('Monitor')
      .where('projectId', '=', projectId)
      .where('evaluatorId', '=', evaluatorId)
      .where('deletedAtMs', 'is', null)
      .where('enabled', '=', sql.lit(true))
      // It only ever grows.
      .set(({ eb }) => ({
        enabled: sql.lit(false),
        updatedAtMs: eb
          .case()
          .when('updatedAtMs', '>=', updatedAtMs)
          .then(eb('updatedAtMs', '+', 1))
          .else(updatedAtMs)
          .end(),
      })),
);

export const findProjectNumber = question<{ readonly projectId: string }>()((db, { projectId }) =>
  db.selectFrom('Project').where('id', '=', projectId).select('number as number'),
);

/** To a number that stands for no other state of the monitors, also in a database that was set back. */
export const countChange = change<InNumbered & { readonly nowMs: number }>((db, { projectNumber, nowMs }) =>
  db
    .insertInto('MonitorChangeCount')
    .values({ projectNumber, number: nowMs })
    .onConflict((row) =>
      row.column('projectNumber').doUpdateSet(({ eb }) => ({
        number: eb
          .case()
          .when('MonitorChangeCount.number', '>=', nowMs)
          .then(eb('MonitorChangeCount.number', '+', 1))
          .else(nowMs)
          .end(),
      })),
    ),
);

/** None for a project that never had monitors. */
export const findChange = question<InNumbered>()((db, { projectNumber }) =>
  db.selectFrom('MonitorChangeCount').where('projectNumber', '=', projectNumber).select('number as number'),
);

type InSome = { readonly projectNumbers: readonly number[] };

export const listChanges = question<InSome>()((db, { projectNumbers }, { isAmong }) =>
  db
    .selectFrom('MonitorChangeCount')
    .where(isAmong('projectNumber', projectNumbers))
    .select(['projectNumber as projectNumber', 'number as number']),
);

/** The monitors of some projects that run by themselves. */
export const listRunning = question<InSome>()((db, { projectNumbers }, { isAmong }) =>
  runningOf(db).where(isAmong('project.number', projectNumbers)),
);

/** The same of one project. */
export const listRunningOf = question<InNumbered>()((db, { projectNumber }) =>
  runningOf(db).where('project.number', '=', projectNumber),
);

function runningOf(db: Db) {
  return db
    .selectFrom('Monitor as monitor')
    .innerJoin('Project as project', 'project.id', 'monitor.projectId')
    .where('monitor.enabled', '=', sql.lit(true))
    .where('monitor.executionMode', '=', sql.lit('ON_MESSAGE' as const))
    .where('monitor.deletedAtMs', 'is', null)
    .where('project.archivedAtMs', 'is', null)
    .select([
      'project.number as projectNumber',
      'monitor.id as id',
      'monitor.sample as sample',
      'monitor.runsSince as runsSince',
    ]);
}
