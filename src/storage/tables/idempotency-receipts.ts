import { defineEntity } from '@mikro-orm/core';
import { bytes, id, instant } from './kinds.ts';

/** Idempotency keys, and what was answered to them. */
export const IdempotencyReceipt = defineEntity({
  name: 'IdempotencyReceipt',
  tableName: 'idempotency_receipts',
  properties: {
    organizationId: id().primary(),
    keyId: id().primary(),
    operation: id().primary(),
    value: id().primary(),
    fingerprint: bytes(),
    claimedAtMs: instant('claimed_at'),
    // Null as long as the effect is on its way: then it is a claim.
    answer: bytes().strictNullable(),
  },
  indexes: [{ name: 'idempotency_receipts_by_time', properties: ['claimedAtMs'] }],
});
