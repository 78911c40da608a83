/** What is asked and stored of idempotency keys. */

import type { ReceiptName } from '../../domain/management.ts';
import { change, insertNew, question, type Row } from '../questions.ts';

const NAME = ['organizationId', 'keyId', 'operation', 'value'] as const;

export const findReceipt = question<ReceiptName>()((db, given, { find }) =>
  find(db, 'IdempotencyReceipt', nameOf(given), ...NAME),
);

/** A claim that is not complete. */
export const holdClaim = question<ReceiptName & { readonly fingerprint: Buffer }>()((db, given, { find, hold }) =>
  hold(
    find(db, 'IdempotencyReceipt', { ...nameOf(given), fingerprint: given.fingerprint }).where('answer', 'is', null),
  ),
);

export const insertClaim = insertNew('IdempotencyReceipt');

/** Of several who try at once one succeeds: the others find another instant in the row. */
export const takeOver = change<Row<'IdempotencyReceipt'> & { readonly knownAtMs: number }>(
  (db, given, { row, update }) =>
    update(db, 'IdempotencyReceipt', { ...nameOf(given), claimedAtMs: given.knownAtMs }).set(
      row('IdempotencyReceipt', given, ...NAME),
    ),
);

export const complete = change<ReceiptName & { readonly answer: Buffer }>((db, given, { update }) =>
  update(db, 'IdempotencyReceipt', nameOf(given)).set({ answer: given.answer }),
);

/** What has an answer stays. */
export const release = change<ReceiptName>((db, given, { remove }) =>
  remove(db, 'IdempotencyReceipt', nameOf(given)).where('answer', 'is', null),
);

/** Rows that another process is removing are left to it. */
export const sweep = change<{ readonly beforeMs: number; readonly limit: number }>((db, given, { holdFree }) =>
  db.deleteFrom('IdempotencyReceipt').where(({ eb, refTuple, selectFrom }) => {
    const forgotten = selectFrom('IdempotencyReceipt').where('claimedAtMs', '<', given.beforeMs).select(NAME);
    const some = holdFree(forgotten.orderBy('claimedAtMs').limit(given.limit));
    return eb(refTuple(...NAME), 'in', some.$asTuple(...NAME));
  }),
);

function nameOf({ organizationId, keyId, operation, value }: ReceiptName): ReceiptName {
  return { organizationId, keyId, operation, value };
}
