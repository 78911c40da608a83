/** Append queries of SQLite alone: there the instant of the commit is known before anything is stored. */

import { findByKey, insertMany, replaceMany } from '../plain-queries.ts';
import { change, query } from '../queries.ts';

export const insertRequests = insertMany('Request');
export const replaceRequests = replaceMany('Request');

export const findRequestAt = query<{ readonly sequence: number }>()((db, { sequence }, { allOf }) =>
  db.selectFrom('Request').where('sequence', '=', sequence).select(allOf('Request', 'sequence')),
);
export const findRequestKey = findByKey('RequestKey', ['organizationNumber', 'key'], ['sequence']);
export const findIndexed = findByKey('IndexedRequests', ['id'], ['sequence']);
export const replaceIndexed = replaceMany('IndexedRequests');
export const findLastRequest = query<Record<never, never>>()((db) =>
  db.selectFrom('Request').select(({ fn }) => fn.max('sequence').$castTo<number | null>().as('sequence')),
);
/** The requests whose keys may not be indexed yet. */
export const listRequestsAfter = query<{ readonly sequence: number }>()((db, { sequence }) =>
  db
    .selectFrom('Request')
    .where('sequence', '>', sequence)
    .select(['organizationNumber as organizationNumber', 'key as key', 'sequence as sequence'])
    .orderBy('sequence'),
);
/** Adds the key of a request to the index; does nothing when the request was removed. */
export const indexRequest = change<{ readonly sequence: number }>((db, { sequence }) =>
  db
    .replaceInto('RequestKey')
    .columns(['organizationNumber', 'key', 'sequence'])
    .expression(
      db
        .selectFrom('Request')
        .where('sequence', '=', sequence)
        .select(['Request.organizationNumber', 'Request.key', 'Request.sequence']),
    ),
);
export const removeRequestKey = change<{ readonly organizationNumber: number; readonly key: string }>(
  (db, { organizationNumber, key }, { keyed }) =>
    keyed(db.deleteFrom('RequestKey'), 'RequestKey', { organizationNumber, key }),
);

export const insertEvents = insertMany('Event');
export const insertEnvelopes = insertMany('Envelope');
export const insertGovernanceEvents = insertMany('GovernanceEvent');
export const replaceLogHeads = replaceMany('LogHead');

export const findLastSequence = query<Record<never, never>>()((db) =>
  db.selectFrom('Trace').select(({ fn }) => fn.max('sequence').$castTo<number | null>().as('sequence')),
);
