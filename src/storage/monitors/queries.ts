/** What appends and jobs read of monitors. Deleted rows are kept, and never found. */

import { sql } from 'kysely';
import { columns, select } from '../plain-queries.ts';
import { type Db, query } from '../queries.ts';

type InNumbered = { readonly projectNumber: number };

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
