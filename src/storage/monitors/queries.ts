/** What appends and jobs read of monitors. Deleted rows are kept, and never found. */

import { sql } from 'kysely';
import { TRIGGERS, TRIGGERS_ON_RESULTS } from '../../domain/evaluations/jobs.ts';
import { columns, select } from '../plain-queries.ts';
import { type Db, query } from '../queries.ts';

type InNumbered = { readonly projectNumber: number };

/** No row for a project that never had monitors. */
export const findChange = select('MonitorChangeCount', ['projectNumber'], ['number']);

type InSome = { readonly projectNumbers: readonly number[] };

export const listChanges = select('MonitorChangeCount', [], ['projectNumber', 'number'], {
  projectNumber: 'projectNumbers',
});

/**
 * The active monitors of several projects. The triggers on traces of a project are one of them, which samples every trace,
 * and those that ask for results of evaluations are another, which samples none.
 */
export const listRunning = query<InSome>()((db, { projectNumbers }, { isAmong }) =>
  runningOf(db)
    .where(isAmong('project.number', projectNumbers))
    .unionAll(triggersOf(db, TRIGGERS, 1).where(isAmong('project.number', projectNumbers)))
    .unionAll(onResults(triggersOf(db, TRIGGERS_ON_RESULTS, 0)).where(isAmong('project.number', projectNumbers))),
);

/** The same of one project. */
export const listRunningOf = query<InNumbered>()((db, { projectNumber }) =>
  runningOf(db)
    .where('project.number', '=', projectNumber)
    .unionAll(triggersOf(db, TRIGGERS, 1).where('project.number', '=', projectNumber))
    .unionAll(onResults(triggersOf(db, TRIGGERS_ON_RESULTS, 0)).where('project.number', '=', projectNumber)),
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

function triggersOf(db: Db, id: string, sample: number) {
  return db
    .selectFrom('Trigger as trigger')
    .innerJoin('Project as project', 'project.id', 'trigger.projectId')
    .where('trigger.active', '=', sql.lit(true))
    .where('trigger.kind', '=', sql.lit('TRACE' as const))
    .where('trigger.deletedAtMs', 'is', null)
    .where('project.archivedAtMs', 'is', null)
    .groupBy('project.number')
    .select(({ fn }) => [
      'project.number as projectNumber',
      sql<string>`${sql.lit(id)}`.as('id'),
      sql<number>`${sql.lit(sample)}`.as('sample'),
      // Each trigger compares its own number.
      fn.min('trigger.runsSince').as('runsSince'),
    ]);
}

function onResults(triggers: ReturnType<typeof triggersOf>) {
  return triggers.where(sql<boolean>`trigger.filters like '%"evaluations.%'`);
}
