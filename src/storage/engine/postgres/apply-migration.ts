/** Applies one migration, so that a process that is killed at any step leaves a database the next one can go on with. */

import pg from 'pg';
import { fingerprintOf, type Version, versionAfter } from '../../migrations/check-schema.ts';
import type { Migration } from '../../migrations/migration.ts';
import { MIGRATIONS_TABLE, NOTE_APPLIED } from '../../migrations/migrations-table.ts';
import { describeSchema } from './describe-schema.ts';

// The same table as the object mapper's own Migrator creates.
const CREATE_MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
  id serial PRIMARY KEY,
  name varchar(255) NOT NULL,
  executed_at timestamptz(6) NOT NULL DEFAULT current_timestamp(6)
)`;

/** Runs the script in a transaction of its own, then builds the indexes that others may write beside. */
export async function applyMigration(
  client: pg.Client,
  migration: Migration,
  all: readonly Migration[],
): Promise<void> {
  await client.query('BEGIN');
  try {
    const before = await describeSchema(client);
    await client.query(CREATE_MIGRATIONS_TABLE);
    await client.query(migration.script);
    await client.query(`${NOTE_APPLIED} ($1)`, [migration.name]);
    await recordVersions(client, { migration, all, before });
    await client.query('COMMIT');
  } catch (error) {
    // A lost connection has rolled back already, and its own error says more.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
  await buildLaterIndexes(client, migration);
}

type Applied = {
  readonly migration: Migration;
  readonly all: readonly Migration[];
  /** The tables before it. */
  readonly before: readonly string[];
};

/** Until the second migration there is no table for records: it also records the first one. */
async function recordVersions(client: pg.Client, { migration, all, before }: Applied): Promise<void> {
  const number = all.indexOf(migration) + 1;
  if (number === 1) return;
  const { rows } = await client.query<Pick<Version, 'servesFrom'>>(
    'SELECT serves_from AS "servesFrom" FROM schema_versions ORDER BY number DESC LIMIT 1',
  );
  let servesFrom = rows[0]?.servesFrom ?? 1;
  const [first] = all;
  if (rows.length === 0 && first !== undefined) {
    const version = versionAfter(first, { number: 1, before: servesFrom, description: before });
    await store(client, version);
    servesFrom = version.servesFrom;
  }
  const description = await describeSchema(client);
  await store(client, versionAfter(migration, { number, before: servesFrom, description }));
}

async function store(client: pg.Client, version: ReturnType<typeof versionAfter>): Promise<void> {
  const { number, name, textHash, description, fingerprint, servesFrom, isComplete } = version;
  await client.query(
    `INSERT INTO schema_versions (number, name, text_hash, description, fingerprint, serves_from, is_complete)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [number, name, textHash, description, fingerprint, servesFrom, isComplete],
  );
}

/** Goes on where an earlier process was killed: an index that it left half built is invalid, and is built again. */
export async function buildLaterIndexes(client: pg.Client, { name, laterIndexes }: Migration): Promise<void> {
  const indexes = Object.entries(laterIndexes);
  if (indexes.length === 0) return;
  for (const [index, statement] of indexes) {
    const { rows } = await client.query<{ valid: boolean }>(
      `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)`,
      [pg.escapeIdentifier(index)],
    );
    if (rows[0]?.valid === true) continue;
    if (rows.length > 0) await client.query(`DROP INDEX CONCURRENTLY ${pg.escapeIdentifier(index)}`);
    await client.query(statement);
  }
  const description = await describeSchema(client);
  await client.query(
    'UPDATE schema_versions SET is_complete = true, description = $1, fingerprint = $2 WHERE name = $3',
    [description.join('\n'), fingerprintOf(description), name],
  );
}
