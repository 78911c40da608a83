/** Queries of monitors. Deleted rows are kept, and never found. */

import { sql } from 'kysely';
import { columns, replaceKnown, rowsOf, select, slugQueries } from '../plain-queries.ts';
import { change, type Db, query } from '../queries.ts';

type InProject = { readonly projectId: string };
type InNumbered = { readonly projectNumber: number };
type OneOf = InProject & { readonly id: string };

export const { countLive, findById, findBySlug, insertUnlessTaken, hide } = slugQueries('Monitor', 'runsSince');

/** By id, and the number of the project. */
export const findMonitorInProject = query<{ readonly projectNumber: number; readonly id: string }>()(
  (db, { projectNumber, id }, { find }) =>
    find(db, 'Monitor', {}, 'deletedAtMs', 'runsSince')
      .innerJoin('Project as project', 'project.id', 'Monitor.projectId')
      .where('project.number', '=', projectNumber)
      .where('Monitor.id', '=', id)
      .where('Monitor.deletedAtMs', 'is', null),
);

export const listMonitors = query<InProject>()((db, { projectId }, { find }) =>
  find(db, 'Monitor', { projectId, deletedAtMs: null }, 'deletedAtMs', 'runsSince'),
);

/** Locks what appends depend on, until the transaction ends. */
export const lockMonitor = query<OneOf>()((db, { projectId, id }, { lock }) =>
  lock(
    rowsOf(db, 'Monitor', { projectId, id })
      .where('deletedAtMs', 'is', null)
      .select(['enabled as enabled', 'executionMode as executionMode', 'sample as sample', 'runsSince as runsSince']),
  ),
);

export const replaceMonitor = replaceKnown('Monitor', [
  ...(['name', 'evaluatorId', 'checkType', 'enabled', 'sample', 'preconditions', 'mappings'] as const),
  ...(['parametersJson', 'executionMode', 'runsSince', 'updatedAtMs'] as const),
]);

export const findProjectNumber = select('Project', ['id'], ['number']);

/** Derived from the time, so that the number stays unique even in a database that was restored from a backup. */
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

/** No row for a project that never had monitors. */
export const findChange = select('MonitorChangeCount', ['projectNumber'], ['number']);

type InSome = { readonly projectNumbers: readonly number[] };

export const listChanges = select('MonitorChangeCount', [], ['projectNumber', 'number'], {
  projectNumber: 'projectNumbers',
});

/** The active monitors of several projects. */
export const listRunning = query<InSome>()((db, { projectNumbers }, { isAmong }) =>
  runningOf(db).where(isAmong('project.number', projectNumbers)),
);

/** The active monitors of one project. */
export const listRunningOf = query<InNumbered>()((db, { projectNumber }) =>
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
    .select(['project.number as projectNumber', ...columns('monitor', 'id', 'sample', 'runsSince')]);
}
