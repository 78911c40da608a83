/** What is asked of the log of events, and of requests that wait for theirs. */

import { type SqlBool, sql } from 'kysely';
import { REQUEST_EVENT_TYPES, type RequestEventType } from '../../domain/event-type.ts';
import { type Db, question } from '../questions.ts';
import { ADMITTED, eventTypes } from '../rows/codes.ts';

type OfPage = {
  readonly organizationNumber: number;
  readonly fromMs: number;
  readonly toMs: number;
  // The page is of what comes before this place, none of it later than `toMs`.
  readonly atMs: number;
  readonly id: string;
  readonly limit: number;
};

// Other events are in the log too, which only receivers see.
export const listEvents = pageOf(REQUEST_EVENT_TYPES);

// A type stands in the text: only then can the database use the index of its events, when there is one.
export const listCompletedEvents = pageOf(['gateway.request.completed']);

export const listSettledEvents = pageOf(['gateway.request.settled']);

/** The request that has waited longest for its outcome. */
export const findOldestAdmitted = question<Record<never, never>>()((db) =>
  db
    .selectFrom('Request')
    .where('state', '=', sql.lit(ADMITTED))
    .select('receivedAtMs as receivedAtMs')
    .orderBy('receivedAtMs')
    .limit(sql.lit(1)),
);

/** Newest first. */
function pageOf(types: readonly RequestEventType[]) {
  const codes = types.map((type) => sql.lit(eventTypes.code(type)));
  return question<OfPage>()((db, given, { withEnvelope }) =>
    withEnvelope(db.selectFrom('Event'))
      .where('Event.organizationNumber', '=', given.organizationNumber)
      .where('createdAtMs', '>=', given.fromMs)
      // It says nothing new, but is what PostgreSQL leaves months out by.
      .where('createdAtMs', '<=', given.toMs)
      .where(({ eb, refTuple, tuple }) => eb(refTuple('createdAtMs', 'id'), '<', tuple(given.atMs, given.id)))
      .where(({ eb, or }) => or(codes.map((code) => eb('type', '=', code))))
      .select(['createdAtMs as createdAtMs', 'id as id', 'envelope as envelope'])
      .orderBy('createdAtMs', 'desc')
      .orderBy('id', 'desc')
      .limit(given.limit),
  );
}

type OfLog = { readonly organizationNumber: number };

export const findHead = question<OfLog>()((db, { organizationNumber }) =>
  db.selectFrom('LogHead').where('organizationNumber', '=', organizationNumber).select('seq as seq'),
);

/** The first envelopes that are there from two places on. */
export const findEnds = question<OfLog & { readonly fromSeq: number; readonly toSeq: number }>()(
  (db, { organizationNumber, fromSeq, toSeq }, { envelopesOf }) => {
    const from = (seq: number) =>
      envelopesOf(db)
        .where('organizationNumber', '=', organizationNumber)
        .where('seq', '>=', seq)
        .select('envelope')
        .orderBy('seq')
        .limit(sql.lit(1));
    return db.selectNoFrom([from(fromSeq).as('first'), from(toSeq).as('last')]);
  },
);

type OfTime = OfLog & {
  readonly fromMs: number;
  readonly toMs: number;
  readonly afterMs: number;
  readonly afterId: string;
};

/** So many events after one; `skipped` is one less than that. */
export const findPlaceAfter = question<OfTime & { readonly skipped: number }>()((db, given) =>
  eventsAfter(db, given)
    .select(['createdAtMs as createdAtMs', 'id as id'])
    .orderBy('createdAtMs')
    .orderBy('id')
    .limit(sql.lit(1))
    .offset(given.skipped),
);

type Counted = OfTime & {
  readonly untilMs: number;
  readonly untilId: string;
  readonly fromSeq: number;
  readonly toSeq: number;
  /** The bits of the codes of types. */
  readonly codes: number;
};

/** Of the events at some places: all of them, and those of some types. */
export const countEvents = question<Counted>()((db, given) =>
  eventsAfter(db, given)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('createdAtMs', 'id'), '<=', tuple(given.untilMs, given.untilId)))
    .where('seq', '>=', given.fromSeq)
    .where('seq', '<=', given.toSeq)
    .select(({ fn, ref }) => {
      const isMatched = sql<SqlBool>`(cast(${given.codes} as integer) >> ${ref('type')}) & 1 = 1`;
      return [
        fn.countAll<number>().filterWhere(isMatched).as('matched'),
        fn.min('createdAtMs').filterWhere(isMatched).$castTo<number | null>().as('firstMatchedAtMs'),
        fn.min('seq').filterWhere(isMatched).$castTo<number | null>().as('firstMatchedSeq'),
        fn.min('seq').$castTo<number | null>().as('firstSeq'),
        fn.max('seq').$castTo<number | null>().as('lastSeq'),
      ];
    }),
);

/** By when they were created, then id. */
function eventsAfter(db: Db, { organizationNumber, fromMs, toMs, afterMs, afterId }: OfTime) {
  return db
    .selectFrom('Event')
    .where('organizationNumber', '=', organizationNumber)
    .where('createdAtMs', '>=', fromMs)
    .where('createdAtMs', '<=', toMs)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('createdAtMs', 'id'), '>', tuple(afterMs, afterId)));
}
