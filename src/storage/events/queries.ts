/** Queries of the log of events, and of requests without an outcome. */

import { type SqlBool, sql } from 'kysely';
import { REQUEST_EVENT_TYPES, type RequestEventType } from '../../domain/events/event-type.ts';
import { rowsOf, select } from '../plain-queries.ts';
import { type Db, query } from '../queries.ts';
import { ADMITTED, eventTypes } from '../rows/codes.ts';

type OfPage = {
  readonly organizationNumber: number;
  readonly fromMs: number;
  readonly toMs: number;
  // The page holds events before this position, none of them created after `toMs`.
  readonly atMs: number;
  readonly id: string;
  readonly limit: number;
};

// The log also holds events that only webhook receivers get.
export const listEvents = pageOf(REQUEST_EVENT_TYPES);

// The type is a literal: only then can the database use its partial index.
export const listCompletedEvents = pageOf(['gateway.request.completed']);

export const listSettledEvents = pageOf(['gateway.request.settled']);

/** The request that has waited longest for its outcome. */
export const findOldestAdmitted = query<Record<never, never>>()((db) =>
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
  return query<OfPage>()((db, params, { withEnvelope }) =>
    withEnvelope(db.selectFrom('Event'))
      .where('Event.organizationNumber', '=', params.organizationNumber)
      .where('createdAtMs', '>=', params.fromMs)
      // Redundant, but lets PostgreSQL skip months.
      .where('createdAtMs', '<=', params.toMs)
      .where(({ eb, refTuple, tuple }) => eb(refTuple('createdAtMs', 'id'), '<', tuple(params.atMs, params.id)))
      .where(({ eb, or }) => or(codes.map((code) => eb('type', '=', code))))
      .select(['createdAtMs as createdAtMs', 'id as id', 'envelope as envelope'])
      .orderBy('createdAtMs', 'desc')
      .orderBy('id', 'desc')
      .limit(params.limit),
  );
}

type OfLog = { readonly organizationNumber: number };

export const findHead = select('LogHead', ['organizationNumber'], ['seq']);

/** The first envelopes that still exist from two sequence numbers on. */
export const findEnds = query<OfLog & { readonly fromSeq: number; readonly toSeq: number }>()(
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

/** The event at a distance after another one; `skipped` is the distance less one. */
export const findPositionAfter = query<OfTime & { readonly skipped: number }>()((db, params) =>
  eventsAfter(db, params)
    .select(['createdAtMs as createdAtMs', 'id as id'])
    .orderBy('createdAtMs')
    .orderBy('id')
    .limit(sql.lit(1))
    .offset(params.skipped),
);

type Counted = OfTime & {
  readonly untilMs: number;
  readonly untilId: string;
  readonly fromSeq: number;
  readonly toSeq: number;
  /** A bit mask of codes of event types. */
  readonly codes: number;
};

/** Counts the events in a range of sequence numbers: all of them, and those of some types. */
export const countEvents = query<Counted>()((db, params) =>
  eventsAfter(db, params)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('createdAtMs', 'id'), '<=', tuple(params.untilMs, params.untilId)))
    .where('seq', '>=', params.fromSeq)
    .where('seq', '<=', params.toSeq)
    .select(({ fn, ref }) => {
      const isMatched = sql<SqlBool>`(cast(${params.codes} as integer) >> ${ref('type')}) & 1 = 1`;
      return [
        fn.countAll<number>().filterWhere(isMatched).as('matched'),
        fn.min('createdAtMs').filterWhere(isMatched).$castTo<number | null>().as('firstMatchedAtMs'),
        fn.min('seq').filterWhere(isMatched).$castTo<number | null>().as('firstMatchedSeq'),
        fn.min('seq').$castTo<number | null>().as('firstSeq'),
        fn.max('seq').$castTo<number | null>().as('lastSeq'),
      ];
    }),
);

/** Ordered by creation instant, then id. */
function eventsAfter(db: Db, { organizationNumber, fromMs, toMs, afterMs, afterId }: OfTime) {
  return rowsOf(db, 'Event', { organizationNumber })
    .where('createdAtMs', '>=', fromMs)
    .where('createdAtMs', '<=', toMs)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('createdAtMs', 'id'), '>', tuple(afterMs, afterId)));
}
