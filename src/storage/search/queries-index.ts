/** Queries of the search index. */

import { sql } from 'kysely';
import { find, insert, insertNew, ofRows, remove, removeSome, rowsOf, select, update } from '../plain-queries.ts';
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

/** The first project after another one with pending traces. */
export const findPendingProject = query<{ readonly after: number }>()((db, { after }) =>
  db
    .selectFrom('SearchPending')
    .where('projectNumber', '>', after)
    .select('projectNumber as projectNumber')
    .orderBy('projectNumber')
    .limit(1),
);

/** A row when the project has more than `count` pending traces. */
export const findPendingBeyond = query<OfProject & { readonly count: number }>()((db, { projectNumber, count }) =>
  rowsOf(db, 'SearchPending', { projectNumber })
    .select('traceSequence as sequence')
    .orderBy('traceSequence')
    .limit(1)
    .offset(count),
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

export const findHead = find('SearchHead', ['projectNumber']);

export const lockHead = query<OfProject>()((db, { projectNumber }, { find, lock }) =>
  lock(find(db, 'SearchHead', { projectNumber })),
);

export const insertHead = insertNew('SearchHead');

export const updateHead = update(
  'SearchHead',
  ['projectNumber'],
  ['generation', 'nextBlock', 'writtenBlock', 'removedBlock', 'leasedUntilMs'],
);

/** By ascending number, after one block. */
export const listBlocks = query<OfProject & { readonly after: number; readonly limit: number }>()(
  (db, { projectNumber, after, limit }, dialect) =>
    dialect.find(db, 'SearchBlock', { projectNumber }).where('block', '>', after).orderBy('block').limit(limit),
);

export const insertBlocks = ofRows(insert('SearchBlock'));

export const updateDeleted = ofRows(update('SearchBlock', ['projectNumber', 'block'], ['deleted', 'deletedCount']));

export const removeBlocks = ofRows(remove('SearchBlock', ['projectNumber', 'block']));

export const insertFacets = ofRows(insert('SearchFacet'));
export const insertParts = ofRows(insert('SearchPart'));

export const removeFacets = removeSome('SearchFacet', 'block', 'facet');
export const removeParts = removeSome('SearchPart', 'block', 'part');

/** The traces of blocks that have one of the facets. */
export const listFacets = select('SearchFacet', ['projectNumber'], ['block', 'facet', 'traceSet'], {
  block: 'blocks',
  facet: 'facets',
});

export const listParts = select('SearchPart', ['projectNumber'], ['block', 'part', 'content'], {
  block: 'blocks',
  part: 'parts',
});
