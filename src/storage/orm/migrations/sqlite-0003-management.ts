/** What deciding about an organization needs: its version, when keys were used, and receipts of what was done. */

import type { SqlMigration } from './sql-migration.ts';

export const management: SqlMigration = {
  name: 'sqlite-0003-management',
  statements: [
    // Moves on with every change of what the organization manages.
    'ALTER TABLE organizations ADD COLUMN access_version INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE projects ADD COLUMN key_last_used_at INTEGER',
    'CREATE INDEX api_keys_by_owner ON api_keys (organization_id, user_id)',
    'CREATE INDEX audit_log_by_target ON audit_log (organization_id, target_id, created_at, id)',
    'CREATE INDEX audit_log_by_user ON audit_log (organization_id, actor_user_id, created_at, id)',
    'CREATE INDEX audit_log_by_key ON audit_log (organization_id, actor_key_id, created_at, id)',
    // Without an answer it is a claim: the effect is still on its way.
    `CREATE TABLE idempotency_receipts (
      organization_id TEXT NOT NULL REFERENCES organizations (id),
      key_id TEXT NOT NULL,
      operation TEXT NOT NULL,
      value TEXT NOT NULL,
      fingerprint BLOB NOT NULL,
      claimed_at INTEGER NOT NULL,
      answer BLOB,
      PRIMARY KEY (organization_id, key_id, operation, value)
    )`,
    'CREATE INDEX idempotency_receipts_by_time ON idempotency_receipts (claimed_at)',
  ],
};
