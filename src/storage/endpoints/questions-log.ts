/** What is read of the logs by those who deliver: in their own order, all families. */

import type { CreatedSpan, LogRange } from '../../domain/webhook-store.ts';
import { question, type Words } from '../questions.ts';

type OfLog = { readonly organizationNumber: number };

export const listHeads = question()((db) =>
  db.selectFrom('LogHead').select(['organizationNumber as organizationNumber', 'seq as seq']),
);

export const listEntries = question<OfLog & LogRange & { readonly firstMs: number }>()(
  (db, given, { within, envelopesOf }) =>
    within(logOf(envelopesOf(db), given), given.firstMs)
      .where('seq', '>', given.afterSeq)
      .limit(given.limit),
);

export const listEnvelopes = question<OfLog & CreatedSpan & { readonly seqs: readonly number[] }>()(
  (db, given, { within, isAmong, envelopesOf }) =>
    within(logOf(envelopesOf(db), given), given.firstMs, given.lastMs).where(isAmong('seq', given.seqs)),
);

function logOf(log: ReturnType<Words['envelopesOf']>, { organizationNumber }: OfLog) {
  return log
    .where('organizationNumber', '=', organizationNumber)
    .select(['seq as seq', 'envelope as envelope'])
    .orderBy('seq');
}
