/** What is asked and stored of idempotency keys. */

import type { ReceiptName } from '../../domain/management.ts';
import { find, insertNew, pick, update } from '../plain-questions.ts';
import { change, question, type Row } from '../questions.ts';

const NAME = ['organizationId', 'keyId', 'operation', 'value'] as const;

export const findReceipt = find('IdempotencyReceipt', NAME, ...NAME);

/** A claim that is not complete. */
export const holdClaim = question<ReceiptName & { readonly fingerprint: Buffer }>()((db, given, { find, hold }) =>
  hold(
    find(db, 'IdempotencyReceipt', { ...pick(given, ...NAME), fingerprint: given.fingerprint }).where(
      'answer',
      'is',
      null,
    ),
  ),
);

export const insertClaim = insertNew('IdempotencyReceipt');

/** Of several who try at once one succeeds: the others find another instant in the row. */
export const takeOver = change<Row<'IdempotencyReceipt'> & { readonly knownAtMs: number }>(
  (db, given, { row, update }) =>
    update(db, 'IdempotencyReceipt', { ...pick(given, ...NAME), claimedAtMs: given.knownAtMs }).set(
      row('IdempotencyReceipt', given, ...NAME),
    ),
);

export const complete = update('IdempotencyReceipt', NAME, ['answer']);

/** What has an answer stays. */
export const release = change<ReceiptName>((db, given, { remove }) =>
  remove(db, 'IdempotencyReceipt', pick(given, ...NAME)).where('answer', 'is', null),
);

/** Rows that another process is removing are left to it. */
export const sweep = change<{ readonly beforeMs: number; readonly limit: number }>((db, given, { holdFree }) =>
  db.deleteFrom('IdempotencyReceipt').where(({ eb, refTuple, selectFrom }) => {
    const forgotten = selectFrom('IdempotencyReceipt').where('claimedAtMs', '<', given.beforeMs).select(NAME);
    const some = holdFree(forgotten.orderBy('claimedAtMs').limit(given.limit));
    return eb(refTuple(...NAME), 'in', some.$asTuple(...NAME));
  }),
);
