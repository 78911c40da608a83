/** Queries of the queue of evaluation jobs. */

import { sql } from 'kysely';
import type { SomeJobs } from '../../domain/evaluations/backlog.ts';
import { CALLS, TRIGGERS } from '../../domain/evaluations/jobs.ts';
import { columns, ofRows, pick, remove, rowsOf, select, update, upsert } from '../plain-queries.ts';
import { change, changeRows, type Db, type Dialect, query } from '../queries.ts';

type Key = { readonly projectNumber: number; readonly traceSequence: number; readonly sourceId: string };
type InProject = { readonly projectNumber: number };

/**
 * The projects that have jobs, by ascending number, each with its earliest due time. Steps from project to project in the
 * index, so that the time depends on the number of projects and not of jobs.
 */
export const listQueues = query<Record<never, never>>()((db) =>
  db
    .withRecursive('queue(number)', (start) =>
      start
        .selectFrom('EvaluationJob')
        .select(({ fn }) => fn.min('projectNumber').as('number'))
        .unionAll(
          start
            .selectFrom('queue')
            .where('queue.number', 'is not', null)
            .select(({ selectFrom }) =>
              selectFrom('EvaluationJob as next')
                .whereRef('next.projectNumber', '>', 'queue.number')
                .select(({ fn }) => fn.min('next.projectNumber').as('number'))
                .as('number'),
            ) as never,
        ),
    )
    .selectFrom('queue')
    .innerJoin('Project as project', 'project.number', 'queue.number')
    .select(['project.number as projectNumber', 'project.organizationId as organizationId'])
    .select(({ selectFrom }) =>
      selectFrom('EvaluationJob as job')
        .whereRef('job.projectNumber', '=', 'queue.number')
        .select(({ fn }) => fn.min('job.dueAtMs').as('dueAtMs'))
        .$asScalar()
        .$castTo<number>()
        .as('dueAtMs'),
    ),
);

type Due = InProject & { readonly nowMs: number; readonly limit: number };

/** Jobs of monitors, also those for all monitors: the longest due first, without those that other transactions have locked. */
export const lockDueOfMonitors = query<Due>()((db, params, dialect) =>
  dialect.lockAvailable(dueOf(db, params, dialect).where('sourceId', 'not in', [sql.lit(TRIGGERS), sql.lit(CALLS)])),
);

type DueOf = Due & { readonly fromMs: number; readonly source: string; readonly orSource: string };

/** The same of one source or another, from an instant on. */
export const lockDueOf = query<DueOf>()((db, params, dialect) =>
  dialect.lockAvailable(
    dueOf(db, params, dialect)
      .where('dueAtMs', '>=', params.fromMs)
      .where('sourceId', 'in', [params.source, params.orSource]),
  ),
);

function dueOf(db: Db, { projectNumber, nowMs, limit }: Due, { idText }: Dialect) {
  return rowsOf(db, 'EvaluationJob', { projectNumber })
    .where('dueAtMs', '<=', nowMs)
    .select([
      ...columns('EvaluationJob', 'projectNumber', 'traceSequence', 'sourceId', 'sinceMs', 'fence', 'failures'),
      ...columns('EvaluationJob', 'dueAtMs', 'asOf'),
    ])
    .select(idText('traceId').as('traceId'))
    .orderBy('dueAtMs')
    .limit(limit);
}

const KEY = ['projectNumber', 'traceSequence', 'sourceId'] as const;

export const claimJobs = ofRows(update('EvaluationJob', KEY, ['fence', 'dueAtMs', 'failures']));

export const renewJob = update('EvaluationJob', [...KEY, 'fence'], ['dueAtMs']);

type Claimed = Key & { readonly fence: number; readonly dueAtMs: number };

export const releaseJob = change<Claimed>((db, params, { update }) =>
  update(db, 'EvaluationJob', pick(params, ...KEY, 'fence')).set({ fence: sql.lit(0), dueAtMs: params.dueAtMs }),
);

/** A job that another commit touched while it ran waits again. */
export const repeatJobs = changeRows<Key & { readonly fence: number }>((db, params, { update }) =>
  update(db, 'EvaluationJob', pick(params, ...KEY, 'fence'))
    .where('againDueAtMs', 'is not', null)
    .set(({ ref }) => ({
      fence: sql.lit(0),
      failures: sql.lit(0),
      dueAtMs: ref('againDueAtMs').$notNull(),
      sinceMs: ref('againSinceMs').$notNull(),
      againDueAtMs: sql.lit(null),
      againSinceMs: sql.lit(null),
    })),
);

export const dropJobs = ofRows(remove('EvaluationJob', [...KEY, 'fence']));

/** Ends the leases of a project that expire by `leasedUntilMs`. */
export const endLeases = change<InProject & { readonly nowMs: number; readonly leasedUntilMs: number }>(
  (db, { projectNumber, nowMs, leasedUntilMs }, { update }) =>
    update(db, 'EvaluationJob', { projectNumber })
      .where('dueAtMs', '>', nowMs)
      .where('dueAtMs', '<=', leasedUntilMs)
      .where('fence', '<>', 0)
      .set({ dueAtMs: nowMs }),
);

/** Makes the jobs of a project due that are due later than any wait is long: a clock was ahead. */
export const correctDue = change<InProject & { readonly nowMs: number; readonly dueMaxMs: number }>(
  (db, { projectNumber, nowMs, dueMaxMs }, { update }) =>
    update(db, 'EvaluationJob', { projectNumber }).where('dueAtMs', '>', dueMaxMs).set({ dueAtMs: nowMs }),
);

export const storeJob = upsert('EvaluationJob');
export const storeJobs = ofRows(upsert('EvaluationJob'));

export const lockJob = query<Key>()((db, params, dialect) => dialect.lock(jobsOf(db, pick(params, ...KEY), dialect)));

export const countJobs = query<{ readonly countMax: number }>()((db, { countMax }) =>
  db
    .selectFrom(db.selectFrom('EvaluationJob').select('projectNumber as projectNumber').limit(countMax).as('some'))
    .select(({ fn }) => fn.countAll<number>().as('count')),
);

type Between = InProject & { readonly fromMs: number; readonly untilMs: number; readonly countMax: number };

/** Counts the jobs that are due from one instant to another, the earliest first. A lease ends when its job is due. */
export const countBetween = query<Between>()((db, { projectNumber, fromMs, untilMs, countMax }) =>
  db
    .selectFrom(
      rowsOf(db, 'EvaluationJob', { projectNumber })
        .where('dueAtMs', '>=', fromMs)
        .where('dueAtMs', '<=', untilMs)
        // Not the names of columns, which would be translated.
        .select(['dueAtMs as place', 'fence as claim'])
        .orderBy('dueAtMs')
        .limit(countMax)
        .as('some'),
    )
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.countAll<number>().filterWhere('some.claim', '<>', sql.lit(0)).as('leased'),
      fn.min('some.place').as('oldestDueAtMs'),
    ]),
);

/** See CountSome. */
export const countSomeJobs = query<SomeJobs>()((db, { projectNumber, afterSequence, countMax }) =>
  db
    .selectFrom(
      rowsOf(db, 'EvaluationJob', { projectNumber })
        .where('traceSequence', '>', afterSequence)
        .select('traceSequence as sequence')
        .orderBy('traceSequence')
        .limit(countMax)
        .as('some'),
    )
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.max('some.sequence').as('lastSequence')]),
);

/** The jobs of several traces, without locking them. */
export const listSources = select('EvaluationJob', ['projectNumber'], ['traceSequence', 'sourceId'], {
  traceSequence: 'traceSequences',
});

/** Locks the jobs of a trace, without those that other transactions have locked. */
export const lockJobsOfTrace = query<InProject & { readonly traceSequence: number }>()(
  (db, { projectNumber, traceSequence }, dialect) =>
    dialect.lockAvailable(jobsOf(db, { projectNumber, traceSequence }, dialect)),
);

function jobsOf(db: Db, known: Partial<Key>, { allOf, idText }: Dialect) {
  return rowsOf(db, 'EvaluationJob', known)
    .select(allOf('EvaluationJob', 'traceId'))
    .select(idText('traceId').as('traceId'));
}

export const removeJobs = ofRows(remove('EvaluationJob', KEY));
