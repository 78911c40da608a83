/** Every migration of the PostgreSQL schema, oldest first. */

import { SCHEMA } from '../../../gen/storage/postgres/schema.ts';
import type { SqlMigration } from './sql-migration.ts';

const FIRST_ROWS = [
  // Uncompressed: a compressed row would fit into a file that cannot grow any more.
  'ALTER TABLE write_probe ALTER COLUMN filler SET STORAGE EXTERNAL',
  'INSERT INTO webhook_changes (id, number) VALUES (1, 0)',
];

// Every process reads this number before it trusts its cache. Triggers count in the transaction of the change, so that
// no writer can omit it. The number is at least the clock in microseconds: a database that was restored or failed
// over must not reuse a number that stood for other rows.
const AUTH_GENERATION = [
  'INSERT INTO auth_generation (id, number) VALUES (1, 1)',
  `CREATE FUNCTION count_auth_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE auth_generation
    SET number = greatest(number + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
    WHERE id = 1;
    RETURN NULL;
  END $$`,
  ...['teams', 'members', 'role_bindings', 'api_key_bindings'].map(
    (table) => `CREATE TRIGGER count_auth_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${table}
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change()`,
  ),
  // The version of an organization and the last use of a key decide nothing about a request.
  `CREATE TRIGGER count_auth_change AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF number, id, price_version ON organizations
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change()`,
  `CREATE TRIGGER count_auth_change AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF
    number, id, organization_id, team_id, slug, emit_request_events, trace_retention_days, key_hash, key_imported,
    previous_key_hash, previous_key_until, previous_key_imported, archived_at ON projects
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change()`,
  `CREATE TRIGGER count_auth_change AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF
    id, organization_id, key_type, user_id, permission_mode, secret_hash, imported, previous_secret_hash,
    previous_secret_until, expires_at, revoked_at ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION count_auth_change()`,
];

// Locked while tables are created: two processes may find the same one missing.
const MONTHS_LOCK = 0x5350_4d4f;

const MONTHS = [
  // `month` counts from January 1970.
  `CREATE FUNCTION create_month(month integer) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    first_day date := make_date(1970 + month / 12, month % 12 + 1, 1);
    suffix text := to_char(first_day, 'YYYY_MM');
    first_at bigint := extract(epoch FROM first_day)::bigint * 1000;
    next_at bigint := extract(epoch FROM first_day + interval '1 month')::bigint * 1000;
    first_sequence bigint := month::bigint << 40;
    next_sequence bigint := (month + 1)::bigint << 40;
  BEGIN
    PERFORM pg_advisory_xact_lock(${MONTHS_LOCK});
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF spans FOR VALUES FROM (%s) TO (%s)',
      'spans_' || suffix, first_sequence, next_sequence);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF evaluations FOR VALUES FROM (%s) TO (%s)',
      'evaluations_' || suffix, first_sequence, next_sequence);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF requests FOR VALUES FROM (%s) TO (%s)',
      'requests_' || suffix, first_at, next_at);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF events FOR VALUES FROM (%s) TO (%s)',
      'events_' || suffix, first_at, next_at);
  END $$`,
];

// Used by appends.
const APPEND = [
  'CREATE SEQUENCE trace_numbers INCREMENT BY 1000',
  `CREATE FUNCTION clock_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'`,
];

export const POSTGRES_MIGRATIONS: readonly SqlMigration[] = [
  { name: 'postgres-0001-initial', statements: [...SCHEMA, ...FIRST_ROWS, ...AUTH_GENERATION, ...MONTHS, ...APPEND] },
  {
    name: 'postgres-0002-shares',
    statements: [
      'ALTER TABLE spans ADD COLUMN call_row bigint',
      'ALTER TABLE spans ADD COLUMN total_input bigint',
      'ALTER TABLE spans ADD COLUMN total_output bigint',
      'ALTER TABLE spans ADD COLUMN share_rates text',
      'ALTER TABLE spans ADD COLUMN shared_request_id text',
      'create table "usage_nodes" ("project_number" int not null, "trace_sequence" bigint not null, "span_id" text collate "C" not null, "node" text not null, primary key ("project_number", "trace_sequence", "span_id")) with (fillfactor = 70)',
    ],
  },
];
