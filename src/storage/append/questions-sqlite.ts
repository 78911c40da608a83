/** What SQLite alone is asked and told: it knows when a batch is committed before anything is stored. */

import { insertMany, replaceMany } from '../plain-questions.ts';
import { question } from '../questions.ts';

export const insertRequests = insertMany('Request');
export const replaceRequests = replaceMany('Request');
export const insertEvents = insertMany('Event');
export const insertEnvelopes = insertMany('Envelope');
export const insertGovernanceEvents = insertMany('GovernanceEvent');
export const replaceLogHeads = replaceMany('LogHead');

export const findLastSequence = question<Record<never, never>>()((db) =>
  db.selectFrom('Trace').select(({ fn }) => fn.max('sequence').$castTo<number | null>().as('sequence')),
);
