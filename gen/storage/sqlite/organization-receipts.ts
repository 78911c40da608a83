// Compiled from src/storage/organization/questions-receipts.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import type * as source from '../../../src/storage/organization/questions-receipts.ts';

export const complete: Compiled<typeof source.complete> = {
  name: 'organization-receipts.complete',
  text: "update \"idempotency_receipts\" set \"answer\" = ? where (\"organization_id\" = ? and \"key_id\" = ? and \"operation\" = ? and \"value\" = ?)",
  cells: (given) => [given.answer ?? null, given.organizationId, given.keyId, given.operation, given.value],
};

export const findReceipt: Compiled<typeof source.findReceipt> = {
  name: 'organization-receipts.findReceipt',
  text: "select \"idempotency_receipts\".\"fingerprint\" as \"fingerprint\", \"idempotency_receipts\".\"claimed_at\" as \"claimedAtMs\", \"idempotency_receipts\".\"answer\" as \"answer\" from \"idempotency_receipts\" where (\"organization_id\" = ? and \"key_id\" = ? and \"operation\" = ? and \"value\" = ?)",
  cells: (given) => [given.organizationId, given.keyId, given.operation, given.value],
  row: (row: any) => ({
    fingerprint: row[0],
    claimedAtMs: row[1],
    answer: row[2],
  }),
};

export const holdClaim: Compiled<typeof source.holdClaim> = {
  name: 'organization-receipts.holdClaim',
  text: "select \"idempotency_receipts\".\"organization_id\" as \"organizationId\", \"idempotency_receipts\".\"key_id\" as \"keyId\", \"idempotency_receipts\".\"operation\" as \"operation\", \"idempotency_receipts\".\"value\" as \"value\", \"idempotency_receipts\".\"fingerprint\" as \"fingerprint\", \"idempotency_receipts\".\"claimed_at\" as \"claimedAtMs\", \"idempotency_receipts\".\"answer\" as \"answer\" from \"idempotency_receipts\" where (\"organization_id\" = ? and \"key_id\" = ? and \"operation\" = ? and \"value\" = ? and \"fingerprint\" = ?) and \"answer\" is null",
  cells: (given) => [given.organizationId, given.keyId, given.operation, given.value, given.fingerprint],
  row: (row: any) => ({
    organizationId: row[0],
    keyId: row[1],
    operation: row[2],
    value: row[3],
    fingerprint: row[4],
    claimedAtMs: row[5],
    answer: row[6],
  }),
};

export const insertClaim: Compiled<typeof source.insertClaim> = {
  name: 'organization-receipts.insertClaim',
  text: "insert into \"idempotency_receipts\" (\"organization_id\", \"key_id\", \"operation\", \"value\", \"fingerprint\", \"claimed_at\", \"answer\") values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
  cells: (given) => [given.organizationId, given.keyId, given.operation, given.value, given.fingerprint, given.claimedAtMs, given.answer ?? null],
};

export const release: Compiled<typeof source.release> = {
  name: 'organization-receipts.release',
  text: "delete from \"idempotency_receipts\" where (\"organization_id\" = ? and \"key_id\" = ? and \"operation\" = ? and \"value\" = ?) and \"answer\" is null",
  cells: (given) => [given.organizationId, given.keyId, given.operation, given.value],
};

export const sweep: Compiled<typeof source.sweep> = {
  name: 'organization-receipts.sweep',
  text: "delete from \"idempotency_receipts\" where (\"organization_id\", \"key_id\", \"operation\", \"value\") in (select \"organization_id\", \"key_id\", \"operation\", \"value\" from \"idempotency_receipts\" where \"claimed_at\" < ? order by \"claimed_at\" limit ?)",
  cells: (given) => [given.beforeMs, given.limit],
};

export const takeOver: Compiled<typeof source.takeOver> = {
  name: 'organization-receipts.takeOver',
  text: "update \"idempotency_receipts\" set \"fingerprint\" = ?, \"claimed_at\" = ?, \"answer\" = ? where (\"organization_id\" = ? and \"key_id\" = ? and \"operation\" = ? and \"value\" = ? and \"claimed_at\" = ?)",
  cells: (given) => [given.fingerprint, given.claimedAtMs, given.answer ?? null, given.organizationId, given.keyId, given.operation, given.value, given.knownAtMs],
};
