/** Queries of spend blocks. */

import { sql } from 'kysely';
import { find, insert, insertNew, ofRows, remove, rowsOf, select, update } from '../plain-queries.ts';
import { query } from '../queries.ts';

type OfLog = { readonly organizationNumber: number };

/** The ends of logs and of their blocks, by organization, after one of them. */
export const listHeads = query<{ readonly after: number; readonly limit: number }>()((db, { after, limit }) =>
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

export const lockHead = query<OfLog>()((db, { organizationNumber }, { find: rows, lock }) =>
  lock(rows(db, 'SpendHead', { organizationNumber })),
);

export const insertHead = insertNew('SpendHead');

export const updateHead = update('SpendHead', ['organizationNumber'], ['seq', 'leasedUntilMs']);

type OfSeqs = OfLog & { readonly afterSeq: number; readonly toSeq: number; readonly limit: number };

/** Events between two positions. */
export const listEnvelopes = query<OfSeqs>()((db, { organizationNumber, afterSeq, toSeq, limit }, dialect) =>
  dialect
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

/** Blocks that may contain requests of a range, by ascending position. */
export const listBlocks = query<OfRange>()((db, params) =>
  rowsOf(db, 'SpendBlock', { organizationNumber: params.organizationNumber })
    .where('firstSeq', '>', params.afterSeq)
    .where('firstSeq', '<=', params.toSeq)
    .where('createdToMs', '>=', params.createdFromMs)
    .where('occurredToMs', '>=', params.fromMs)
    .where('occurredFromMs', '<=', params.toMs)
    .select(['firstSeq as firstSeq', 'lastSeq as lastSeq', 'superseded as superseded'])
    .orderBy('firstSeq')
    .limit(params.limit),
);

/** The last block that begins at or before a position. */
export const findBlockOf = query<OfLog & { readonly seq: number }>()((db, { organizationNumber, seq }) =>
  rowsOf(db, 'SpendBlock', { organizationNumber })
    .where('firstSeq', '<=', seq)
    .select(['firstSeq as firstSeq', 'lastSeq as lastSeq', 'superseded as superseded'])
    .orderBy('firstSeq', 'desc')
    .limit(sql.lit(1)),
);

export const insertBlocks = ofRows(insert('SpendBlock'));
export const insertParts = ofRows(insert('SpendPart'));
export const updateSuperseded = ofRows(update('SpendBlock', ['organizationNumber', 'firstSeq'], ['superseded']));

export const listParts = select('SpendPart', ['organizationNumber'], ['firstSeq', 'part', 'content'], {
  firstSeq: 'blocks',
  part: 'parts',
});

/** Blocks of which every event has expired, the oldest first. */
export const listOldBlocks = query<{ readonly beforeMs: number; readonly limit: number }>()((db, { beforeMs, limit }) =>
  db
    .selectFrom('SpendBlock')
    .where('createdToMs', '<', beforeMs)
    .select(['organizationNumber as organizationNumber', 'firstSeq as firstSeq'])
    .orderBy('createdToMs')
    .limit(limit),
);

export const removeParts = remove('SpendPart', ['organizationNumber', 'firstSeq']);
export const removeBlock = remove('SpendBlock', ['organizationNumber', 'firstSeq']);
