/** What is asked and written of the blocks of the log that spend is summed up from. */

import { sql } from 'kysely';
import { find, insert, insertNew, ofRows, remove, update } from '../plain-questions.ts';
import { change, question } from '../questions.ts';

type OfLog = { readonly organizationNumber: number };

/** How far logs are, and how far they are in blocks: of some organizations behind one. */
export const listHeads = question<{ readonly after: number; readonly limit: number }>()((db, { after, limit }) =>
  db
    .selectFrom('LogHead')
    .leftJoin('SpendHead', 'SpendHead.organizationNumber', 'LogHead.organizationNumber')
    .where('LogHead.organizationNumber', '>', after)
    .select(['LogHead.organizationNumber as organizationNumber', 'LogHead.seq as seq', 'SpendHead.seq as mark'])
    .orderBy('LogHead.organizationNumber')
    .limit(limit),
);

export const findHead = find('SpendHead', ['organizationNumber']);
export const findLogHead = find('LogHead', ['organizationNumber']);

export const holdHead = question<OfLog>()((db, { organizationNumber }, { find: rows, hold }) =>
  hold(rows(db, 'SpendHead', { organizationNumber })),
);

export const insertHead = insertNew('SpendHead');

export const updateHead = update('SpendHead', ['organizationNumber'], ['seq', 'leasedUntilMs']);

type OfPlaces = OfLog & { readonly afterSeq: number; readonly toSeq: number; readonly limit: number };

/** What the log says from place to place. */
export const listEnvelopes = question<OfPlaces>()((db, { organizationNumber, afterSeq, toSeq, limit }, words) =>
  words
    .envelopesOf(db)
    .where('organizationNumber', '=', organizationNumber)
    .where('seq', '>', afterSeq)
    .where('seq', '<=', toSeq)
    .select(['seq as seq', 'envelope as envelope'])
    .orderBy('seq')
    .limit(limit),
);

type OfRange = OfLog & {
  readonly afterSeq: number;
  readonly toSeq: number;
  readonly createdFromMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
};

/** Blocks that may have requests of a range, in the order of the log. */
export const listBlocks = question<OfRange>()((db, given) =>
  db
    .selectFrom('SpendBlock')
    .where('organizationNumber', '=', given.organizationNumber)
    .where('firstSeq', '>', given.afterSeq)
    .where('firstSeq', '<=', given.toSeq)
    .where('createdToMs', '>=', given.createdFromMs)
    .where('occurredToMs', '>=', given.fromMs)
    .where('occurredFromMs', '<=', given.toMs)
    .select(['firstSeq as firstSeq', 'lastSeq as lastSeq', 'gone as gone'])
    .orderBy('firstSeq')
    .limit(given.limit),
);

/** The block that a place is in, if it is in any. */
export const findBlockOf = question<OfLog & { readonly seq: number }>()((db, { organizationNumber, seq }) =>
  db
    .selectFrom('SpendBlock')
    .where('organizationNumber', '=', organizationNumber)
    .where('firstSeq', '<=', seq)
    .select(['firstSeq as firstSeq', 'lastSeq as lastSeq', 'gone as gone'])
    .orderBy('firstSeq', 'desc')
    .limit(sql.lit(1)),
);

export const insertBlocks = ofRows(insert('SpendBlock'));
export const insertParts = ofRows(insert('SpendPart'));
export const updateGone = ofRows(update('SpendBlock', ['organizationNumber', 'firstSeq'], ['gone']));

type OfParts = OfLog & { readonly blocks: readonly number[]; readonly parts: readonly number[] };

export const listParts = question<OfParts>()((db, { organizationNumber, blocks, parts }, { isAmong }) =>
  db
    .selectFrom('SpendPart')
    .where('organizationNumber', '=', organizationNumber)
    .where(isAmong('firstSeq', blocks))
    .where(isAmong('part', parts))
    .select(['firstSeq as firstSeq', 'part as part', 'content as content']),
);

/** Blocks all of whose events are past their term, oldest first. */
export const listOldBlocks = question<{ readonly beforeMs: number; readonly limit: number }>()(
  (db, { beforeMs, limit }) =>
    db
      .selectFrom('SpendBlock')
      .where('createdToMs', '<', beforeMs)
      .select(['organizationNumber as organizationNumber', 'firstSeq as firstSeq'])
      .orderBy('createdToMs')
      .limit(limit),
);

type OfBlock = OfLog & { readonly firstSeq: number };

export const removeParts = change<OfBlock>((db, { organizationNumber, firstSeq }) =>
  db.deleteFrom('SpendPart').where('organizationNumber', '=', organizationNumber).where('firstSeq', '=', firstSeq),
);

export const removeBlock = remove('SpendBlock', ['organizationNumber', 'firstSeq']);
