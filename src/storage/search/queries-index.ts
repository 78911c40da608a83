/** Queries of the search index. */

import { sql } from 'kysely';
import { ofRows, remove, rowsOf } from '../plain-queries.ts';
import { change, changeRows, query } from '../queries.ts';
import { type OfTraces, tracesOf } from '../traces/columns.ts';

type OfProject = { readonly projectNumber: number };
type OfTrace = OfProject & { readonly traceSequence: number };

const NEXT_MARK = sql<number>`${sql.ref('search_pending.mark')} + 1`;

/** Marks new and changed traces as pending. */
export const markTraces = changeRows<OfTrace>((db, { projectNumber, traceSequence }) =>
  db
    .insertInto('SearchPending')
    .values({ projectNumber, traceSequence, mark: sql.lit(1) })
    .onConflict((known) => known.columns(['projectNumber', 'traceSequence']).doUpdateSet({ mark: NEXT_MARK })),
);

/** The same for stored traces, before they change or are removed. */
export const markStored = change<OfTraces>((db, params, dialect) =>
  db
    .insertInto('SearchPending')
    .columns(['projectNumber', 'traceSequence', 'mark'])
    .expression(
      tracesOf(db, params, dialect)
        .select(['projectNumber', 'sequence', sql.lit(1).as('mark')])
        .orderBy('sequence'),
    )
    .onConflict((known) => known.columns(['projectNumber', 'traceSequence']).doUpdateSet({ mark: NEXT_MARK })),
);

/** By ascending sequence, from the first on. */
export const listPending = query<OfProject & { readonly limit: number }>()((db, { projectNumber, limit }) =>
  rowsOf(db, 'SearchPending', { projectNumber })
    .select(['traceSequence as sequence', 'mark as mark'])
    .orderBy('traceSequence')
    .limit(limit),
);

/** Pending traces of all projects, behind one of them. */
export const listAllPending = query<OfTrace & { readonly limit: number }>()(
  (db, { projectNumber, traceSequence, limit }) =>
    db
      .selectFrom('SearchPending')
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('projectNumber', 'traceSequence'), '>', tuple(projectNumber, traceSequence)),
      )
      .select(['projectNumber as projectNumber', 'traceSequence as sequence', 'mark as mark'])
      .orderBy('projectNumber')
      .orderBy('traceSequence')
      .limit(limit),
);

export const countPending = query<Record<never, never>>()((db) =>
  db.selectFrom('SearchPending').select(({ fn }) => fn.countAll<number>().as('count')),
);

/** Locks the marks until the transaction ends, in the order in which appends lock them. */
export const lockPending = query<OfTraces>()((db, { projectNumber, sequences }, { lock, isAmong }) =>
  lock(
    rowsOf(db, 'SearchPending', { projectNumber })
      .where(isAmong('traceSequence', sequences))
      .select('traceSequence as sequence')
      .orderBy('traceSequence'),
  ),
);

/** Only for traces that have not changed since they were listed. */
export const removePending = ofRows(remove('SearchPending', ['projectNumber', 'traceSequence', 'mark']));

/** The last step of an index that lies outside of the database. */
export const findStep = query<Record<never, never>>()((db) => db.selectFrom('SearchState').select('step as step'));
