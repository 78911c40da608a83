/** What appends and jobs read of monitors. Deleted rows are kept, and never found. */

import { sql } from 'kysely';
import { TRIGGERS, TRIGGERS_ON_RESULTS } from '../../domain/evaluations/jobs.ts';
import { columns, select } from '../plain-queries.ts';
import { change, type Db, query } from '../queries.ts';

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
    .unionAll(projectsWith(db, ANY_TRIGGER).where(isAmong('project.number', projectNumbers)))
    .unionAll(projectsWith(db, ON_RESULTS).where(isAmong('project.number', projectNumbers))),
);

/** The same of one project. */
export const listRunningOf = query<InNumbered>()((db, { projectNumber }) =>
  runningOf(db)
    .where('project.number', '=', projectNumber)
    .unionAll(projectsWith(db, ANY_TRIGGER).where('project.number', '=', projectNumber))
    .unionAll(projectsWith(db, ON_RESULTS).where('project.number', '=', projectNumber)),
);

/** The same without those that sample no trace, for claims, which read it often. */
export const listSampling = query<InSome>()((db, { projectNumbers }, { isAmong }) =>
  runningOf(db)
    .where(isAmong('project.number', projectNumbers))
    .unionAll(projectsWith(db, ANY_TRIGGER).where(isAmong('project.number', projectNumbers))),
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

/** `asks`: how the names of filters begin, of which a trigger has at least one; empty: any trigger. */
type Kind = { readonly id: string; readonly sample: number; readonly asks: string };

const ANY_TRIGGER: Kind = { id: TRIGGERS, sample: 1, asks: '' };
const ON_RESULTS: Kind = { id: TRIGGERS_ON_RESULTS, sample: 0, asks: 'evaluations.' };
const ON_FEEDBACK: Kind = { id: TRIGGERS, sample: 0, asks: 'events.' };
const ON_ANNOTATIONS: Kind = { id: TRIGGERS, sample: 0, asks: 'annotations.' };

/** The project, where an active trigger on traces asks for feedback. */
export const findAskingFeedback = query<InNumbered>()((db, { projectNumber }) =>
  projectsWith(db, ON_FEEDBACK).where('project.number', '=', projectNumber),
);

/** The same for annotations. */
export const findAskingAnnotations = query<InNumbered>()((db, { projectNumber }) =>
  projectsWith(db, ON_ANNOTATIONS).where('project.number', '=', projectNumber),
);

/** The projects with an active trigger on traces; stops at the first of a project. */
function projectsWith(db: Db, { id, sample, asks }: Kind) {
  return db
    .selectFrom('Project as project')
    .where('project.archivedAtMs', 'is', null)
    .where(({ exists, selectFrom }) => {
      const active = selectFrom('Trigger as trigger')
        .select(sql.lit(1).as('found'))
        .whereRef('trigger.projectId', '=', 'project.id')
        .where('trigger.active', '=', sql.lit(true))
        .where('trigger.kind', '=', sql.lit('TRACE' as const))
        .where('trigger.deletedAtMs', 'is', null);
      return exists(asks === '' ? active : active.where(sql<boolean>`trigger.filters like ${sql.lit(`%"${asks}%`)}`));
    })
    .select([
      'project.number as projectNumber',
      sql<string>`${sql.lit(id)}`.as('id'),
      sql<number>`${sql.lit(sample)}`.as('sample'),
      // Each trigger compares its own number.
      sql<number>`${sql.lit(0)}`.as('runsSince'),
    ]);
}

/** What is known of triggers that have fired for some traces. */
export const dropFiringsOf = change<InNumbered & { readonly traceIds: readonly string[] }>(
  (db, { projectNumber, traceIds }, { isOneOf }) =>
    db
      .deleteFrom('TriggerFiring')
      .where('projectId', '=', ({ selectFrom }) =>
        selectFrom('Project as project').where('project.number', '=', projectNumber).select('project.id'),
      )
      .where(isOneOf('trace', traceIds)),
);
