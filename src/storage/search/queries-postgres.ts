/** Queries of the index of traces on PostgreSQL alone. */

import { insert, replaceMany } from '../plain-queries.ts';
import { change, changeRows, type PostgresDb, type PostgresTables, query } from '../queries.ts';

export const replaceIndexed = replaceMany<'IndexedTrace', PostgresTables>('IndexedTrace');

export const removeIndexed = changeRows<{ readonly projectNumber: number; readonly sequence: number }>(
  (db, { projectNumber, sequence }) =>
    (db as unknown as PostgresDb)
      .deleteFrom('IndexedTrace')
      .where('projectNumber', '=', projectNumber)
      .where('traceSequence', '=', sequence),
);

type Position = { readonly projectNumber: number; readonly traceSequence: number };

/** Traces of all projects whose durations are of an earlier update, behind one of them. */
export const listWithoutDurations = query<Position & { readonly limit: number }>()(
  (db, { projectNumber, traceSequence, limit }) =>
    (db as unknown as PostgresDb)
      .selectFrom('IndexedTrace')
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('projectNumber', 'traceSequence'), '>', tuple(projectNumber, traceSequence)),
      )
      .where(({ eb, ref }) => eb('durationsAtMs', 'is distinct from', ref('updatedAtMs')))
      .select(['projectNumber as projectNumber', 'traceSequence as sequence'])
      .orderBy('projectNumber')
      .orderBy('traceSequence')
      .limit(limit),
);

export const removeStep = change<Record<never, never>>((db) => db.deleteFrom('SearchState'));
export const insertStep = insert('SearchState');

export const findLastTrace = query<Record<never, never>>()((db) =>
  db.selectFrom('Trace').select(({ fn }) => fn.max('sequence').$castTo<number | null>().as('sequence')),
);

type SequenceRange = { readonly after: number; readonly to: number; readonly limit: number };

export const listTracesBehind = query<SequenceRange>()((db, { after, to, limit }) =>
  db
    .selectFrom('Trace')
    .where('sequence', '>', after)
    .where('sequence', '<=', to)
    // A trace that is being erased has the negative number of its project.
    .where('projectNumber', '>', 0)
    .select(['projectNumber as projectNumber', 'sequence as sequence'])
    .orderBy('sequence')
    .limit(limit),
);

export const findKnown = query<{ readonly sequences: readonly number[] }>()((db, { sequences }, { isAmong }) =>
  db
    .selectFrom('Trace')
    .where(isAmong('sequence', sequences))
    .where('projectNumber', '>', 0)
    .select(['projectNumber as projectNumber', 'sequence as sequence']),
);
