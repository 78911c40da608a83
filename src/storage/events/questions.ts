/** What is asked of the log of events, and of requests that wait for theirs. */

import { sql } from 'kysely';
import { REQUEST_EVENT_TYPES, type RequestEventType } from '../../domain/event-type.ts';
import { question } from '../questions.ts';
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
  return question<OfPage>()((db, given, { logOf }) =>
    logOf(db, given.toMs)
      .where('log.organizationNumber', '=', given.organizationNumber)
      .where('log.createdAtMs', '>=', given.fromMs)
      .where(({ eb, refTuple, tuple }) => eb(refTuple('log.createdAtMs', 'log.id'), '<', tuple(given.atMs, given.id)))
      .where(({ eb, or }) => or(codes.map((code) => eb('log.type', '=', code))))
      .select(['log.createdAtMs as createdAtMs', 'log.id as id', 'envelope as envelope'])
      .orderBy('log.createdAtMs', 'desc')
      .orderBy('log.id', 'desc')
      .limit(given.limit),
  );
}
