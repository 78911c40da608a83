/** What is read of the logs by those who deliver: in their own order, all families. */

import type { CreatedSpan, LogRange } from '../../domain/webhook-store.ts';
import { type Db, question } from '../questions.ts';

type OfLog = { readonly organizationNumber: number };

export const listHeads = question()((db) =>
  db.selectFrom('LogHead').select(['organizationNumber as organizationNumber', 'seq as seq']),
);

export const listEntries = question<OfLog & LogRange & { readonly firstMs: number }>()((db, given, { within }) =>
  within(logOf(db, given), given.firstMs).where('seq', '>', given.afterSeq).limit(given.limit),
);

export const listEnvelopes = question<OfLog & CreatedSpan & { readonly seqs: readonly number[] }>()(
  (db, given, { within, isAmong }) =>
    within(logOf(db, given), given.firstMs, given.lastMs).where(isAmong('seq', given.seqs)),
);

function logOf(db: Db, { organizationNumber }: OfLog) {
  return db
    .selectFrom('Event')
    .where('organizationNumber', '=', organizationNumber)
    .select(['seq as seq', 'envelope as envelope'])
    .orderBy('seq');
}
