/** Queries of log records that are kept for their spans. */

import { sql } from 'kysely';
import { columns, insertNew, ofRows, rowsOf } from '../plain-queries.ts';
import { change, changeRows, query } from '../queries.ts';

type InProject = { readonly projectNumber: number };
type OfSpan = InProject & { readonly traceId: string; readonly spanId: string };
type Old = { readonly beforeMs: number; readonly limit: number };

export const keepRecords = ofRows(insertNew('LogRecord'));

export const sumBytes = query<InProject>()((db, { projectNumber }) =>
  rowsOf(db, 'LogRecord', { projectNumber }).select(
    sql<number>`cast(coalesce(sum(${sql.ref('bytes')}), 0) as bigint)`.as('bytes'),
  ),
);

export const listOldest = query<InProject & { readonly limit: number }>()((db, { projectNumber, limit }, { idText }) =>
  rowsOf(db, 'LogRecord', { projectNumber })
    .select(columns('LogRecord', 'projectNumber', 'recordId', 'bytes', 'isJoined'))
    .select([idText('traceId').as('traceId'), idText('spanId').as('spanId')])
    .orderBy('receivedAtMs')
    .orderBy('traceId')
    .orderBy('spanId')
    .orderBy('recordId')
    .limit(limit),
);

export const dropRecords = changeRows<OfSpan & { readonly recordId: string }>((db, record, { remove, storedId }) => {
  const { projectNumber, traceId, spanId, recordId } = record;
  return remove(db, 'LogRecord', {
    projectNumber,
    traceId: storedId(traceId),
    spanId: storedId(spanId),
    recordId,
  });
});

type OfTraces = InProject & { readonly traceIds: readonly string[]; readonly sinceMs: number };

/** The spans of some traces that have records from an instant or later. */
export const listSpansWithRecords = query<OfTraces>()((db, { projectNumber, traceIds, sinceMs }, { isOneOf, idText }) =>
  rowsOf(db, 'LogRecord', { projectNumber })
    .where(isOneOf('traceId', traceIds))
    .where('receivedAtMs', '>=', sinceMs)
    .distinct()
    .select([idText('traceId').as('traceId'), idText('spanId').as('spanId')]),
);

/** In the order in which they were received. */
export const listRecords = query<OfSpan & { readonly sinceMs: number; readonly limit: number }>()(
  (db, { projectNumber, traceId, spanId, sinceMs, limit }, { storedId }) =>
    rowsOf(db, 'LogRecord', { projectNumber, traceId: storedId(traceId), spanId: storedId(spanId) })
      .where('receivedAtMs', '>=', sinceMs)
      .select(columns('LogRecord', 'recordId', 'isJoined', 'eventJson'))
      .orderBy('receivedAtMs')
      .orderBy('recordId')
      .limit(limit),
);

export const noteJoined = change<OfSpan>((db, { projectNumber, traceId, spanId }, { update, storedId }) =>
  update(db, 'LogRecord', { projectNumber, traceId: storedId(traceId), spanId: storedId(spanId) })
    .where('isJoined', '=', sql.lit(false))
    .set({ isJoined: sql.lit(true) }),
);

/** All records of a trace. */
export const dropRecordsOf = change<Omit<OfSpan, 'spanId'>>((db, { projectNumber, traceId }, { remove, storedId }) =>
  remove(db, 'LogRecord', { projectNumber, traceId: storedId(traceId) }),
);

const KEY = ['projectNumber', 'traceId', 'spanId', 'recordId'] as const;

/** The oldest of those that a span has, or of those that no span has. */
export const dropOldJoined = dropOld(true);
export const dropOldWaiting = dropOld(false);

function dropOld(isJoined: boolean) {
  return change<Old>((db, { beforeMs, limit }) =>
    db.deleteFrom('LogRecord').where(({ eb, refTuple }) => {
      const old = db
        .selectFrom('LogRecord')
        .select([...KEY])
        .where('receivedAtMs', '<', beforeMs)
        .where('isJoined', '=', sql.lit(isJoined))
        .orderBy('receivedAtMs')
        .limit(limit);
      return eb(refTuple(...KEY), 'in', old.$asTuple(...KEY));
    }),
  );
}
