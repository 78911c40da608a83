/** Requests refer to their events by their places in the log, which are known before anything is stored. */

import { insertMany, lookup, question, replaceMany } from '../questions.ts';

export const insertRequests = insertMany('Request');
export const replaceRequests = replaceMany('Request');
export const insertEvents = insertMany('Event');
export const insertEventTimes = insertMany('EventByTime');
export const insertGovernanceEvents = insertMany('GovernanceEvent');
export const replaceLogHeads = replaceMany('LogHead');

export const findEvent = lookup<{ readonly organizationNumber: number; readonly event: number }>()(
  (db, { organizationNumber, event }, { keyed }) =>
    keyed(db.selectFrom('Event'), 'Event', { organizationNumber, seq: event }).select([
      'organizationNumber as organizationNumber',
      'seq as event',
      'envelope as envelope',
    ]),
);

export const findLastSequence = question<Record<never, never>>()((db) =>
  db.selectFrom('Trace').select(({ fn }) => fn.max('sequence').$castTo<number | null>().as('sequence')),
);
