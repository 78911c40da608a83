/** Writes old events by SQL, because the store would set their creation time to now. */

import Database from 'better-sqlite3';
import { query } from './postgres-databases.ts';
import type { TestDatabase } from './test-database.ts';

export type OldEvents = {
  readonly organizationNumber: number;
  readonly projectNumber: number;
  readonly count: number;
  /** Creation time of the first; each other one is 1 ms later. */
  readonly firstAtMs: number;
};

/** The id of the nth event, from 1. */
export function oldEventId(number: number): string {
  return `req_${number.toString(16).padStart(30, '0')}:completed`;
}

/** Call it while no server uses the database. */
export async function insertOldEvents(database: TestDatabase, old: OldEvents): Promise<void> {
  if (database.url.startsWith('sqlite:')) insertIntoFile(database.url.slice('sqlite:'.length), old);
  else await query(database.url, postgresSql(old));
}

const PADDING = 'x'.repeat(500);
/** The fields that rollups read. */
const SAID =
  '"project_id":"p","virtual_key_id":"","principal_user_id":null,"end_user_id":null,"model":null,' +
  '"usage":null,"cost":null,"status":"success","labels":[]';

function insertIntoFile(file: string, old: OldEvents): void {
  const { organizationNumber: organization, projectNumber: project, count, firstAtMs } = old;
  const db = new Database(file);
  db.exec(`
    BEGIN;
    CREATE TEMP TABLE old AS
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
      SELECT n, 'req_' || printf('%030x', n) || ':completed' AS id, ${firstAtMs} + n - 1 AS created_at FROM numbers;
    INSERT INTO envelopes (organization_number, seq, envelope)
      SELECT ${organization}, n, ${envelopeSql("strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch')")} FROM old;
    INSERT INTO events (organization_number, created_at, id, type, seq)
      SELECT ${organization}, created_at, id, 1, n FROM old;
    INSERT INTO requests (sequence, organization_number, request_key, project_number, state, completed_by, completed_at,
        received_at)
      SELECT n, ${organization}, unhex(printf('%030x', n)), ${project}, 0, 0, created_at, created_at FROM old ORDER BY n;
    INSERT INTO request_keys (organization_number, request_key, sequence)
      SELECT organization_number, request_key, sequence FROM requests;
    UPDATE indexed_requests SET sequence = ${count};
    INSERT INTO log_heads (organization_number, seq, created_at, last_key_index)
      VALUES (${organization}, ${count}, ${firstAtMs + count}, 0);
    COMMIT;
    DROP TABLE old`);
  db.close();
}

function postgresSql(old: OldEvents): string {
  const { organizationNumber: organization, projectNumber: project, count, firstAtMs } = old;
  const last = new Date(firstAtMs + count);
  const month = (last.getUTCFullYear() - 1970) * 12 + last.getUTCMonth();
  return `
    SELECT create_month(${month - 1}), create_month(${month});
    CREATE TEMP TABLE old AS
      SELECT n, 'req_' || lpad(to_hex(n), 30, '0') AS key, ${firstAtMs} + n - 1 AS created_at
      FROM generate_series(1, ${count}) AS n;
    INSERT INTO events (organization_number, created_at, id, type, seq, envelope)
      SELECT ${organization}, created_at, key || ':completed', 1, n, ${envelopeSql(
        `to_char(to_timestamp(created_at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
        "key || ':completed'",
      )} FROM old;
    INSERT INTO request_keys (organization_number, request_key, changed_at)
      SELECT ${organization}, key, created_at FROM old;
    INSERT INTO requests (organization_number, request_key, changed_at, project_number, state, completed_by, received_at,
        completed_at)
      SELECT ${organization}, key, created_at, ${project}, 0, 0, created_at, created_at FROM old;
    INSERT INTO log_heads (organization_number, seq, created_at, last_key_index)
      VALUES (${organization}, ${count}, ${firstAtMs + count}, 0)`;
}

function envelopeSql(created: string, id = 'id'): string {
  return `'{"id":"' || ${id} || '","type":"gateway.request.completed","created":"' || ${created}
    || '","schema_version":"1","data":{"occurred_at":"' || ${created} || '",${SAID},"padding":"${PADDING}"}}'`;
}
