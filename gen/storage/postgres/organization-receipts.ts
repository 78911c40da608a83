// Compiled from src/storage/organization/questions-receipts.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import type * as source from '../../../src/storage/organization/questions-receipts.ts';

export const complete: Compiled<typeof source.complete> = {
  name: 'organization-receipts.complete',
  text: "update \"idempotency_receipts\" set \"answer\" = $1 where (\"organization_id\" = $2 and \"key_id\" = $3 and \"operation\" = $4 and \"value\" = $5)",
  cells: (given) => [given.answer ?? null, given.organizationId, given.keyId, given.operation, given.value],
};

export const findReceipt: Compiled<typeof source.findReceipt> = {
  name: 'organization-receipts.findReceipt',
  text: "select \"idempotency_receipts\".\"fingerprint\" as \"fingerprint\", \"idempotency_receipts\".\"claimed_at\" as \"claimedAtMs\", \"idempotency_receipts\".\"answer\" as \"answer\" from \"idempotency_receipts\" where (\"organization_id\" = $1 and \"key_id\" = $2 and \"operation\" = $3 and \"value\" = $4)",
  cells: (given) => [given.organizationId, given.keyId, given.operation, given.value],
  row: (row) => row,
};

export const holdClaim: Compiled<typeof source.holdClaim> = {
  name: 'organization-receipts.holdClaim',
  text: "select \"idempotency_receipts\".\"organization_id\" as \"organizationId\", \"idempotency_receipts\".\"key_id\" as \"keyId\", \"idempotency_receipts\".\"operation\" as \"operation\", \"idempotency_receipts\".\"value\" as \"value\", \"idempotency_receipts\".\"fingerprint\" as \"fingerprint\", \"idempotency_receipts\".\"claimed_at\" as \"claimedAtMs\", \"idempotency_receipts\".\"answer\" as \"answer\" from \"idempotency_receipts\" where (\"organization_id\" = $1 and \"key_id\" = $2 and \"operation\" = $3 and \"value\" = $4 and \"fingerprint\" = $5) and \"answer\" is null for update",
  cells: (given) => [given.organizationId, given.keyId, given.operation, given.value, given.fingerprint],
  row: (row) => row,
};

export const insertClaim: Compiled<typeof source.insertClaim> = {
  name: 'organization-receipts.insertClaim',
  text: "insert into \"idempotency_receipts\" (\"organization_id\", \"key_id\", \"operation\", \"value\", \"fingerprint\", \"claimed_at\", \"answer\") values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
  cells: (given) => [given.organizationId, given.keyId, given.operation, given.value, given.fingerprint, given.claimedAtMs, given.answer ?? null],
};

export const release: Compiled<typeof source.release> = {
  name: 'organization-receipts.release',
  text: "delete from \"idempotency_receipts\" where (\"organization_id\" = $1 and \"key_id\" = $2 and \"operation\" = $3 and \"value\" = $4) and \"answer\" is null",
  cells: (given) => [given.organizationId, given.keyId, given.operation, given.value],
};

export const sweep: Compiled<typeof source.sweep> = {
  name: 'organization-receipts.sweep',
  text: "delete from \"idempotency_receipts\" where (\"organization_id\", \"key_id\", \"operation\", \"value\") in (select \"organization_id\", \"key_id\", \"operation\", \"value\" from \"idempotency_receipts\" where \"claimed_at\" < $1 order by \"claimed_at\" limit $2 for update skip locked)",
  cells: (given) => [given.beforeMs, given.limit],
};

export const takeOver: Compiled<typeof source.takeOver> = {
  name: 'organization-receipts.takeOver',
  text: "update \"idempotency_receipts\" set \"fingerprint\" = $1, \"claimed_at\" = $2, \"answer\" = $3 where (\"organization_id\" = $4 and \"key_id\" = $5 and \"operation\" = $6 and \"value\" = $7 and \"claimed_at\" = $8)",
  cells: (given) => [given.fingerprint, given.claimedAtMs, given.answer ?? null, given.organizationId, given.keyId, given.operation, given.value, given.knownAtMs],
};
