/** What is asked and written of the index of traces. */

import { sql } from 'kysely';
import { find, insert, insertNew, ofRows, remove, update } from '../plain-questions.ts';
import { change, changeRows, question } from '../questions.ts';

type OfProject = { readonly projectNumber: number };
type OfTrace = OfProject & { readonly traceSequence: number };
type OfTraces = OfProject & { readonly sequences: readonly number[] };
type OfBlocks = OfProject & { readonly blocks: readonly number[] };
type OfBlock = OfProject & { readonly block: number };

const NEXT_MARK = sql<number>`${sql.ref('search_pending.mark')} + 1`;

/** A trace is new or has changed. */
export const markTraces = changeRows<OfTrace>((db, { projectNumber, traceSequence }) =>
  db
    .insertInto('SearchPending')
    .values({ projectNumber, traceSequence, mark: sql.lit(1) })
    .onConflict((known) => known.columns(['projectNumber', 'traceSequence']).doUpdateSet({ mark: NEXT_MARK })),
);

/** The same of traces that are stored, before they are changed or removed. */
export const markStored = change<OfTraces>((db, { projectNumber, sequences }, { isAmong }) =>
  db
    .insertInto('SearchPending')
    .columns(['projectNumber', 'traceSequence', 'mark'])
    .expression(
      db
        .selectFrom('Trace')
        // Or the whole project would be gone through.
        .where(sql<number>`${sql.ref('projectNumber')} + 0`, '=', projectNumber)
        .where(isAmong('sequence', sequences))
        .select(['projectNumber', 'sequence', sql.lit(1).as('mark')])
        .orderBy('sequence'),
    )
    .onConflict((known) => known.columns(['projectNumber', 'traceSequence']).doUpdateSet({ mark: NEXT_MARK })),
);

/** In their order, from the first on. */
export const listPending = question<OfProject & { readonly limit: number }>()((db, { projectNumber, limit }) =>
  db
    .selectFrom('SearchPending')
    .where('projectNumber', '=', projectNumber)
    .select(['traceSequence as sequence', 'mark as mark'])
    .orderBy('traceSequence')
    .limit(limit),
);

/** The first project behind another one that has any. */
export const findPendingProject = question<{ readonly after: number }>()((db, { after }) =>
  db
    .selectFrom('SearchPending')
    .where('projectNumber', '>', after)
    .select('projectNumber as projectNumber')
    .orderBy('projectNumber')
    .limit(1),
);

/** Whether a project has more than so many. */
export const findPendingBeyond = question<OfProject & { readonly count: number }>()((db, { projectNumber, count }) =>
  db
    .selectFrom('SearchPending')
    .where('projectNumber', '=', projectNumber)
    .select('traceSequence as sequence')
    .orderBy('traceSequence')
    .limit(1)
    .offset(count),
);

export const countPending = question<Record<never, never>>()((db) =>
  db.selectFrom('SearchPending').select(({ fn }) => fn.countAll<number>().as('count')),
);

/** Until the transaction ends nobody marks them. In the order in which appends do. */
export const holdPending = question<OfProject & { readonly sequences: readonly number[] }>()(
  (db, { projectNumber, sequences }, { hold, isAmong }) =>
    hold(
      db
        .selectFrom('SearchPending')
        .where('projectNumber', '=', projectNumber)
        .where(isAmong('traceSequence', sequences))
        .select('traceSequence as sequence')
        .orderBy('traceSequence'),
    ),
);

/** Of traces that have not changed since they were listed. */
export const removePending = ofRows(remove('SearchPending', ['projectNumber', 'traceSequence', 'mark']));

export const findHead = find('SearchHead', ['projectNumber']);

export const holdHead = question<OfProject>()((db, { projectNumber }, { find, hold }) =>
  hold(find(db, 'SearchHead', { projectNumber })),
);

export const insertHead = insertNew('SearchHead');

export const updateHead = update(
  'SearchHead',
  ['projectNumber'],
  ['generation', 'nextBlock', 'writtenBlock', 'removedBlock', 'leasedUntilMs'],
);

/** In their order, behind one of them. */
export const listBlocks = question<OfProject & { readonly after: number; readonly limit: number }>()(
  (db, { projectNumber, after, limit }, words) =>
    words.find(db, 'SearchBlock', { projectNumber }).where('block', '>', after).orderBy('block').limit(limit),
);

export const insertBlocks = ofRows(insert('SearchBlock'));

export const updateGone = ofRows(update('SearchBlock', ['projectNumber', 'block'], ['gone', 'goneCount']));

export const removeBlocks = ofRows(remove('SearchBlock', ['projectNumber', 'block']));

export const insertFacets = ofRows(insert('SearchFacet'));
export const insertParts = ofRows(insert('SearchPart'));

export const removeFacets = removeSome('SearchFacet', 'facet');
export const removeParts = removeSome('SearchPart', 'part');

/** A range of the key, because the database does not know how many rows a block has. */
function removeSome(table: 'SearchFacet' | 'SearchPart', key: 'facet' | 'part') {
  return change<OfBlock & { readonly limit: number }>((db, { projectNumber, block, limit }) => {
    const some = db
      .selectFrom(table)
      .where('projectNumber', '=', projectNumber)
      .where('block', '=', block)
      .select(`${key} as key`)
      .orderBy(key)
      .limit(limit);
    return db
      .deleteFrom(table)
      .where('projectNumber', '=', projectNumber)
      .where('block', '=', block)
      .where(
        key,
        '<=',
        db.selectFrom(some.as('some')).select(({ fn }) => fn.max('some.key').as('last')),
      );
  });
}

/** Which traces of some blocks have some values. */
export const listFacets = question<OfBlocks & { readonly facets: readonly number[] }>()(
  (db, { projectNumber, blocks, facets }, { isAmong }) =>
    db
      .selectFrom('SearchFacet')
      .where('projectNumber', '=', projectNumber)
      .where(isAmong('block', blocks))
      .where(isAmong('facet', facets))
      .select(['block as block', 'facet as facet', 'places as places']),
);

export const listParts = question<OfBlocks & { readonly parts: readonly number[] }>()(
  (db, { projectNumber, blocks, parts }, { isAmong }) =>
    db
      .selectFrom('SearchPart')
      .where('projectNumber', '=', projectNumber)
      .where(isAmong('block', blocks))
      .where(isAmong('part', parts))
      .select(['block as block', 'part as part', 'content as content']),
);
