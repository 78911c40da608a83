/** What deciding about an organization needs: its version, when keys were used, and receipts of what was done. */

import { ID } from './postgres-0001-organization.ts';
import type { SqlMigration } from './sql-migration.ts';

const tables = [
  // Moves on with every change of what the organization manages.
  'ALTER TABLE organizations ADD COLUMN access_version bigint NOT NULL DEFAULT 0',
  'ALTER TABLE projects ADD COLUMN key_last_used_at bigint',
  'CREATE INDEX api_keys_by_owner ON api_keys (organization_id, user_id)',
  'CREATE INDEX audit_log_by_target ON audit_log (organization_id, target_id, created_at, id)',
  'CREATE INDEX audit_log_by_user ON audit_log (organization_id, actor_user_id, created_at, id)',
  'CREATE INDEX audit_log_by_key ON audit_log (organization_id, actor_key_id, created_at, id)',
  // Without an answer it is a claim: the effect is still on its way.
  `CREATE TABLE idempotency_receipts (
    organization_id ${ID} NOT NULL REFERENCES organizations (id),
    key_id ${ID} NOT NULL,
    operation ${ID} NOT NULL,
    value ${ID} NOT NULL,
    fingerprint bytea NOT NULL,
    claimed_at bigint NOT NULL,
    answer bytea,
    PRIMARY KEY (organization_id, key_id, operation, value)
  )`,
  'CREATE INDEX idempotency_receipts_by_time ON idempotency_receipts (claimed_at)',
];

// The version of an organization and when a project key was last used decide nothing about a request.
const triggers = [
  'DROP TRIGGER count_auth_change ON organizations',
  `CREATE TRIGGER count_auth_change AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF number, id ON organizations
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change()`,
  'DROP TRIGGER count_auth_change ON projects',
  `CREATE TRIGGER count_auth_change AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF
    number, id, organization_id, team_id, slug, emit_request_events, trace_retention_days, key_hash, key_imported,
    previous_key_hash, previous_key_until, previous_key_imported, archived_at ON projects
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change()`,
];

export const management: SqlMigration = {
  name: 'postgres-0002-management',
  statements: [...tables, ...triggers],
};
