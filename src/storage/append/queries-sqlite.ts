/** Append queries of SQLite alone: there the instant of the commit is known before anything is stored. */

import { insertMany, replaceMany } from '../plain-queries.ts';
import { query } from '../queries.ts';

export const insertRequests = insertMany('Request');
export const replaceRequests = replaceMany('Request');
export const insertEvents = insertMany('Event');
export const insertEnvelopes = insertMany('Envelope');
export const insertGovernanceEvents = insertMany('GovernanceEvent');
export const replaceLogHeads = replaceMany('LogHead');

export const findLastSequence = query<Record<never, never>>()((db) =>
  db.selectFrom('Trace').select(({ fn }) => fn.max('sequence').$castTo<number | null>().as('sequence')),
);
