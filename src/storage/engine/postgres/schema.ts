/** Checks a database before anything is written to it, and brings its schema up to date. */

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { StartError } from '../../errors.ts';
import { checkSchema, type FoundSchema, type KnownSchemas, type Version } from '../../migrations/check-schema.ts';
import type { Migration } from '../../migrations/migration.ts';
import { LIST_APPLIED, MIGRATIONS_TABLE } from '../../migrations/migrations-table.ts';
import { POSTGRES_SCHEMAS } from '../../migrations/postgres.ts';
import { connectionOf } from './address.ts';
import { applyMigration, buildLaterIndexes } from './apply-migration.ts';
import { describeSchema } from './describe-schema.ts';
import { reasonOf, refuseUnfit } from './fitness.ts';
import { refuseTransactionPooling } from './pooler.ts';
import { refuseOlderProcesses } from './processes.ts';

// Held by a process while it changes the schema, and shared by processes that start: the check of the schema and the
// first connections belong together.
const SCHEMA_LOCK = 0x5350_5343;
const CONNECT_TIMEOUT_MS = 10_000;
// Waiting inside the database would hold a snapshot, for which CREATE INDEX CONCURRENTLY waits.
const LOCK_POLL_MS = 100;

type SchemaDeps = {
  readonly url: string;
  /** May throw before anything is changed. */
  readonly inspect: (client: pg.ClientBase) => Promise<void>;
  readonly known?: KnownSchemas;
};

/**
 * Applies missing migrations, then runs `start`, during which no other process can change the schema. Throws StartError
 * with one line for the operator.
 */
export async function withCurrentSchema<T>(
  { url, inspect, known = POSTGRES_SCHEMAS }: SchemaDeps,
  start: () => Promise<T>,
): Promise<T> {
  let isCurrent = false;
  return await withClient(
    url,
    async (client) => {
      await inspect(client);
      while (!isCurrent) {
        await lock(client, 'pg_try_advisory_lock_shared');
        const { pending, unfinished } = await check(client, known);
        isCurrent = pending.length === 0 && unfinished === null;
        if (!isCurrent) await migrate(client, known);
      }
      return await start();
    },
    () => isCurrent,
  );
}

/** Applies missing migrations. Throws StartError. */
export async function updateSchema(deps: SchemaDeps): Promise<void> {
  await withCurrentSchema(deps, async () => undefined);
}

/** The migrations that the database lacks, oldest first, with one whose indexes are not built yet. Throws StartError. */
export async function pendingMigrations(url: string, known = POSTGRES_SCHEMAS): Promise<readonly Migration[]> {
  return await withClient(url, (client) => pendingOn(client, known));
}

/** The same over a client. */
export async function pendingOn(client: pg.Client, known = POSTGRES_SCHEMAS): Promise<readonly Migration[]> {
  const { pending, unfinished } = await check(client, known);
  return unfinished === null ? pending : [unfinished, ...pending];
}

async function migrate(client: pg.Client, known: KnownSchemas): Promise<void> {
  await client.query('SELECT pg_advisory_unlock_shared($1)', [SCHEMA_LOCK]);
  await lock(client, 'pg_try_advisory_lock');
  try {
    // Another process may have migrated meanwhile.
    const { pending, unfinished } = await check(client, known);
    if (unfinished !== null) await buildLaterIndexes(client, unfinished);
    await refuseOlderProcesses(client, pending, known.migrations);
    for (const migration of pending) await applyMigration(client, migration, known.migrations);
  } finally {
    // A pooler would keep the connection, and the lock with it.
    await client.query('SELECT pg_advisory_unlock($1)', [SCHEMA_LOCK]);
  }
}

async function lock(client: pg.Client, attempt: string): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>(`SELECT ${attempt}($1) AS locked`, [SCHEMA_LOCK]);
    if (rows[0]?.locked === true) return;
    await pause(LOCK_POLL_MS);
  }
}

async function check(client: pg.Client, known: KnownSchemas) {
  return checkSchema('the database', await readSchema(client), known);
}

/** In one snapshot: another process may migrate meanwhile. */
async function readSchema(client: pg.Client): Promise<FoundSchema> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const found = await readParts(client);
  await client.query('COMMIT');
  return found;
}

async function readParts(client: pg.Client): Promise<FoundSchema> {
  const applied = (await hasTable(client, MIGRATIONS_TABLE))
    ? await client.query<{ name: string }>(LIST_APPLIED)
    : null;
  return {
    applied: (applied?.rows ?? []).map(({ name }) => name),
    versions: (await hasTable(client, 'schema_versions')) ? (await client.query<Version>(LIST_VERSIONS)).rows : [],
    description: await describeSchema(client),
  };
}

const LIST_VERSIONS = `SELECT number, name, text_hash AS "textHash", serves_from AS "servesFrom", is_complete AS "isComplete",
  CASE number WHEN max(number) OVER () THEN description ELSE '' END AS description FROM schema_versions ORDER BY number`;

async function hasTable(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query(
    'SELECT 1 FROM pg_tables WHERE tablename = $1 AND schemaname = current_schema()',
    [name],
  );
  return rows.length > 0;
}

const LIMITS = ['lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout'];

/** Limits of the role or the database are made for requests: a migration or a copy may take longer. */
export async function liftLimits(client: pg.Client): Promise<void> {
  // First and alone, because it may be too short for the next statement.
  await client.query('SET statement_timeout = 0');
  // Some versions lack some of them.
  await client.query(`SELECT set_config(name, '0', false) FROM pg_settings WHERE name = ANY ($1)`, [LIMITS]);
}

/**
 * Runs `body` with a client of a database that can serve. Errors are of the database, unless `isDone` says that they come
 * from what the caller does with it.
 */
export async function withClient<T>(
  url: string,
  body: (client: pg.Client) => Promise<T>,
  isDone: () => boolean = () => false,
): Promise<T> {
  try {
    const client = new pg.Client({
      ...connectionOf(url),
      application_name: 'spandrel migrate',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    // A connection lost while idle fails the next statement.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await liftLimits(client);
      await refuseTransactionPooling(client, url);
      await refuseUnfit(client);
      return await body(client);
    } finally {
      await client.end();
    }
  } catch (error) {
    if (error instanceof StartError || isDone()) throw error;
    throw new StartError(`the database cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}
