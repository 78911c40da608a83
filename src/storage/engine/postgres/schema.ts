/** Checks a database before anything is written to it, and brings its schema up to date. */

import pg from 'pg';
import { codeOf, messageOf, StartError } from '../../errors.ts';
import { POSTGRES_MIGRATIONS } from '../../migrations/postgres.ts';
import {
  findPending,
  findRunning,
  LIST_APPLIED,
  MIGRATIONS_TABLE,
  NOTE_APPLIED,
  type SqlMigration,
} from '../../migrations/sql-migration.ts';

/** Exists from the first batch of a copy to its end. */
export const COPY_PROGRESS_TABLE = 'copy_progress';
const VERSION_MIN = 150_000;
// Locked while the schema changes: of several processes that start at once, one migrates and the others wait.
const SCHEMA_LOCK = 0x5350_5343;
const CONNECT_TIMEOUT_MS = 10_000;

type SchemaDeps = {
  readonly url: string;
  /** May throw before anything is changed. */
  readonly inspect: (client: pg.ClientBase) => Promise<void>;
  readonly known?: readonly SqlMigration[];
};

/** Applies missing migrations. Throws StartError with one line for the operator. */
export async function updateSchema({ url, inspect, known = POSTGRES_MIGRATIONS }: SchemaDeps): Promise<void> {
  await withClient(url, async (client) => {
    await inspect(client);
    if ((await pendingOn(client, known)).length === 0) return;
    await client.query('SELECT pg_advisory_lock($1)', [SCHEMA_LOCK]);
    try {
      // Another process may have migrated meanwhile.
      const pending = await pendingOn(client, known);
      if (pending.length > 0) await client.query(scriptOf(known, pending));
    } finally {
      // A pooler would keep the connection, and the lock with it.
      await client.query('SELECT pg_advisory_unlock($1)', [SCHEMA_LOCK]);
    }
  });
}

/** Sent as one script, and so as one transaction. */
function scriptOf(known: readonly SqlMigration[], pending: readonly SqlMigration[]): string {
  const changes = findRunning(known, pending).flatMap(({ statements }) => statements);
  const names = pending.map(({ name }) => `(${pg.escapeLiteral(name)})`);
  const record = `${NOTE_APPLIED} ${names.join(', ')}`;
  return [CREATE_MIGRATIONS_TABLE, ...changes, record].join(';\n');
}

// The same table as the object mapper's own Migrator creates.
const CREATE_MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
  id serial PRIMARY KEY,
  name varchar(255) NOT NULL,
  executed_at timestamptz(6) NOT NULL DEFAULT current_timestamp(6)
)`;

/** The migrations that the database lacks, oldest first. Throws StartError. */
export async function pendingMigrations(url: string, known = POSTGRES_MIGRATIONS): Promise<readonly SqlMigration[]> {
  return await withClient(url, (client) => pendingOn(client, known));
}

async function withClient<T>(url: string, body: (client: pg.Client) => Promise<T>): Promise<T> {
  try {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'spandrel migrate',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    // A connection lost while idle fails the next statement.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await refuseUnfit(client);
      return await body(client);
    } finally {
      await client.end();
    }
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`the database cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

/** The reason and, where known, a hint. Contains no part of the address: there may be a password in it. */
export function reasonOf(error: unknown): string {
  const hint = HINTS.get(codeOf(error));
  const reason = messageOf(error);
  return hint === undefined ? reason : `${reason} (${hint})`;
}

const ENCODE = 'in the address, special characters of a user or password are written as %XX';
const HINTS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens there; is the database running, and are host and port right?'],
  ['ENOTFOUND', `there is no such host; ${ENCODE}`],
  ['ERR_INVALID_URL', ENCODE],
  ['28P01', `user or password are wrong; ${ENCODE}`],
  ['3D000', 'create the database first'],
  ['42501', 'the user needs CREATE on the schema'],
  ['42P07', 'the schema holds tables of another program; use a database of its own'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'name the certificate of the authority with sslrootcert'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'name the certificate of the authority with sslrootcert'],
]);

async function refuseUnfit(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string }>(
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding`,
  );
  const { version = 0, encoding = '' } = rows[0] ?? {};
  if (version < VERSION_MIN) throw new StartError(`the database is older than PostgreSQL ${VERSION_MIN / 10_000}`);
  // Other encodings would refuse some characters, and only once they are sent.
  if (encoding !== 'UTF8') {
    throw new StartError(`the database keeps text as ${encoding}; use one that was created with ENCODING 'UTF8'`);
  }
}

/** Throws StartError for a database with an unfinished copy. */
export async function refuseHalfCopied(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ begun: boolean }>(
    `SELECT to_regclass('${COPY_PROGRESS_TABLE}') IS NOT NULL AS begun`,
  );
  if (rows[0]?.begun !== true) return;
  throw new StartError('a copy into this database was begun and not ended; run the same spandrel copy again');
}

/** Throws StartError for a database that may lose acknowledged writes. */
export async function refuseUnsafeCommits(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ fsync: string; synchronousCommit: string }>(
    `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS "synchronousCommit"`,
  );
  const [row] = rows;
  const wrong = row?.fsync === 'off' ? 'fsync' : row?.synchronousCommit === 'off' ? 'synchronous_commit' : null;
  if (wrong === null) return;
  throw new StartError(
    `the database runs with ${wrong}=off and may lose what it has acknowledged; turn it on, or set SPANDREL_DATABASE_UNSAFE=on to accept that`,
  );
}

async function pendingOn(client: pg.Client, known: readonly SqlMigration[]): Promise<readonly SqlMigration[]> {
  const { rows: tables } = await client.query(
    `SELECT 1 FROM pg_tables WHERE tablename = $1 AND schemaname = ANY(current_schemas(false))`,
    [MIGRATIONS_TABLE],
  );
  if (tables.length === 0) return known;
  const { rows } = await client.query<{ name: string }>(LIST_APPLIED);
  const pending = findPending(
    known,
    rows.map(({ name }) => name),
  );
  if (pending === null) {
    throw new StartError('the database belongs to a newer version of Spandrel, or to another program; start that one');
  }
  return pending;
}
