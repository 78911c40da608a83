/** Queries of events that users of applications gave as feedback. */

import { type SelectQueryBuilder, sql } from 'kysely';
import { columns, insert, rowsOf } from '../plain-queries.ts';
import { change, type Db, query, type Tables } from '../queries.ts';

type InProject = { readonly projectNumber: number };
type Named = InProject & { readonly traceId: string };
type OfTraceIds = InProject & { readonly traceIds: readonly string[] };

/** Locks a trace, whether or not there is one, for all that is kept by its id. */
export const lockTraceId = query<{ readonly name: string }>()((db, { name }, { lockName }) =>
  db.selectNoFrom(lockName(name).as('locked')),
);

export const insertEvent = insert('FeedbackEvent');

/** An event whose sender gave it this id, of any trace. */
export const findEvent = query<InProject & { readonly eventId: string }>()((db, { projectNumber, eventId }) =>
  rowsOf(db, 'FeedbackEvent', { projectNumber, eventId })
    .where('contentId', 'is', null)
    .select('eventId as eventId')
    .limit(1),
);

/** The event of a trace with this id, whoever gave it. */
export const findEventOfTrace = query<Named & { readonly eventId: string }>()(
  (db, { projectNumber, traceId, eventId }, { storedId }) =>
    rowsOf(db, 'FeedbackEvent', { projectNumber, traceId: storedId(traceId), eventId }).select('eventId as eventId'),
);

type Alike = Named & { readonly contentId: string; readonly fromMs: number; readonly toMs: number };

export const findAlike = query<Alike>()((db, { projectNumber, traceId, contentId, fromMs, toMs }, { storedId }) =>
  rowsOf(db, 'FeedbackEvent', { projectNumber, traceId: storedId(traceId), contentId })
    .where('occurredAtMs', '>=', fromMs)
    .where('occurredAtMs', '<=', toMs)
    .select('eventId as eventId')
    .limit(1),
);

export const sumRoom = query<Named>()((db, { projectNumber, traceId }, { storedId }) =>
  rowsOf(db, 'FeedbackEvent', { projectNumber, traceId: storedId(traceId) }).select(({ fn }) => [
    fn.countAll<number>().as('events'),
    sql<number>`cast(coalesce(sum(${sql.ref('bytes')}), 0) as bigint)`.as('bytes'),
  ]),
);

export const listEvents = query<OfTraceIds>()((db, { projectNumber, traceIds }, { isOneOf, idText }) =>
  rowsOf(db, 'FeedbackEvent', { projectNumber })
    .where(isOneOf('traceId', traceIds))
    .select(columns('FeedbackEvent', 'eventId', 'type', 'metricsJson', 'detailsJson', 'occurredAtMs', 'receivedAtMs'))
    .select(idText('traceId').as('traceId'))
    .orderBy('occurredAtMs')
    .orderBy('eventId'),
);

/** What filters test. */
export const listFeedbackFacts = query<OfTraceIds>()((db, { projectNumber, traceIds }, { isOneOf, idText }) =>
  rowsOf(db, 'FeedbackEvent', { projectNumber })
    .where(isOneOf('traceId', traceIds))
    .select(columns('FeedbackEvent', 'type', 'metricsJson'))
    .select(idText('traceId').as('traceId')),
);

type OfRange = {
  readonly projectNumber: number;
  /** The start of the trace. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The receipt of the trace. */
  readonly receivedFromMs: number;
  /** After this event. */
  readonly afterMs: number;
  readonly afterTraceId: string;
  readonly afterEventId: string;
  readonly limit: number;
};

/** Events of the traces of a range, as they were received. */
export const listFeedback = query<OfRange>()((db, params, { idText, storedId }) => {
  const start = sql<number>`coalesce(${sql.ref('Trace.startedAtMs')}, ${sql.ref('Trace.insertedAtMs')})`;
  const receipt = sql.ref('FeedbackEvent.receivedAtMs');
  const key = sql`${receipt}, ${sql.ref('FeedbackEvent.traceId')}, ${sql.ref('FeedbackEvent.eventId')}`;
  return (
    db
      .selectFrom('FeedbackEvent')
      // A cross join keeps the events outermost, in the order of their index.
      .crossJoin('Trace')
      .whereRef('Trace.projectNumber', '=', 'FeedbackEvent.projectNumber')
      .whereRef('Trace.traceId', '=', 'FeedbackEvent.traceId')
      .where('FeedbackEvent.projectNumber', '=', params.projectNumber)
      // Redundant, but the planner needs it to use the index.
      .where('FeedbackEvent.receivedAtMs', '>=', params.afterMs)
      .where(sql<boolean>`(${key}) > (${params.afterMs}, ${storedId(params.afterTraceId)}, ${params.afterEventId})`)
      .where(start, '>=', params.fromMs)
      .where(start, '<=', params.toMs)
      .where('Trace.insertedAtMs', '>=', params.receivedFromMs)
      .select([
        start.as('startMs'),
        'Trace.sequence as sequence',
        ...columns('FeedbackEvent', 'type', 'metricsJson', 'receivedAtMs', 'eventId'),
        idText('FeedbackEvent.traceId').as('traceId'),
      ])
      .orderBy('FeedbackEvent.receivedAtMs')
      .orderBy('FeedbackEvent.traceId')
      .orderBy('FeedbackEvent.eventId')
      .limit(params.limit)
  );
});

export const noteChange = change<Named & { readonly updatedAtMs: number }>(
  (db, { projectNumber, traceId, updatedAtMs }, { storedId, update }) =>
    update(db, 'Trace', { projectNumber, traceId: storedId(traceId) }).set({ updatedAtMs }),
);

/** All events of some traces. */
export const dropEventsOf = change<OfTraceIds>((db, { projectNumber, traceIds }, { isOneOf }) =>
  db.deleteFrom('FeedbackEvent').where('projectNumber', '=', projectNumber).where(isOneOf('traceId', traceIds)),
);

const KEY = ['projectNumber', 'traceId', 'eventId'] as const;

type Old = { readonly beforeMs: number; readonly limit: number };

/** The oldest of those that waited, and whose trace never came. */
export const dropOrphans = change<Old>((db, old) =>
  db.deleteFrom('FeedbackEvent').where(({ eb, refTuple }) => {
    const orphans = waiting(db, old).where(({ not, exists, selectFrom }) => not(exists(traceOf(selectFrom('Trace')))));
    return eb(refTuple(...KEY), 'in', orphans.$asTuple(...KEY));
  }),
);

/** The oldest of those that waited, and whose trace came. */
export const endWaiting = change<Old>((db, old) =>
  db
    .updateTable('FeedbackEvent')
    .set({ isWaiting: sql.lit(false) })
    .where(({ eb, refTuple }) => {
      const joined = waiting(db, old).where(({ exists, selectFrom }) => exists(traceOf(selectFrom('Trace'))));
      return eb(refTuple(...KEY), 'in', joined.$asTuple(...KEY));
    }),
);

function waiting(db: Db, { beforeMs, limit }: Old) {
  return db
    .selectFrom('FeedbackEvent as old')
    .where('old.receivedAtMs', '<', beforeMs)
    .where('old.isWaiting', '=', sql.lit(true))
    .select(['old.projectNumber', 'old.traceId', 'old.eventId'])
    .orderBy('old.receivedAtMs')
    .limit(limit);
}

function traceOf(traces: SelectQueryBuilder<Tables & { old: Tables['FeedbackEvent'] }, 'old' | 'Trace', object>) {
  return traces
    .whereRef('Trace.projectNumber', '=', 'old.projectNumber')
    .whereRef('Trace.traceId', '=', 'old.traceId')
    .select(sql.lit(1).as('one'));
}
