/** The PostgreSQL side of a copy. */

import pg from 'pg';
import { connectionOf, settleEncryption } from '../engine/postgres/address.ts';
import { COPY_PROGRESS_TABLE, reasonOf } from '../engine/postgres/fitness.ts';
import { liftLimits } from '../engine/postgres/schema.ts';
import { codeOf, StartError } from '../errors.ts';
import { applyMigrations } from '../open.ts';
import type { LastNumbers } from './source.ts';
import type { TableCopy } from './tables.ts';

export type Target = ReturnType<typeof createTarget>;

/** Stored in a table of the target that exists until the copy is finished. */
type Progress = {
  /** The table being copied; those before it are complete. Null before the first row. */
  readonly table: string | null;
  /** Rows of that table. */
  readonly rows: number;
};

const CONNECT_TIMEOUT_MS = 10_000;
// Whatever the database's defaults: printed values are compared.
const SESSION = 'SET bytea_output = hex; SET extra_float_digits = 1';
// Locked during the copy: two at once would store everything twice.
const COPY_LOCK = 0x5350_4350;
// The database may take a moment to notice that a process was killed.
const LOCK_TIMEOUT_MS = 5_000;
const ROWS_AT_ONCE = 1_000;

/**
 * Migrates an empty database. Throws StartError for one that holds anything but an unfinished copy of the same source.
 */
export async function openTarget(address: string, fingerprint: string): Promise<Target> {
  const url = await settleEncryption(address);
  const client = await connect(url);
  try {
    await takeLock(client);
    await refuseOccupied(client);
    await applyMigrations(url);
    return createTarget(client, await beginProgress(client, fingerprint));
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function connect(url: string): Promise<pg.Client> {
  try {
    const client = new pg.Client({
      ...connectionOf(url),
      application_name: 'spandrel copy',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    // A connection lost while idle fails the next statement.
    client.on('error', () => undefined);
    await client.connect();
    await liftLimits(client);
    await client.query(SESSION);
    return client;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`the target cannot be reached: ${reasonOf(error)}`, { cause: error });
  }
}

async function takeLock(client: pg.Client): Promise<void> {
  try {
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query('SELECT pg_advisory_lock($1)', [COPY_LOCK]);
    await client.query('SET lock_timeout = 0');
  } catch (error) {
    if (codeOf(error) !== '55P03') throw error;
    throw new StartError('another process is copying into the target; wait for it to end', { cause: error });
  }
}

/** Runs before any change, migrations included. */
async function refuseOccupied(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ begun: boolean; used: boolean }>(
    `SELECT to_regclass('${COPY_PROGRESS_TABLE}') IS NOT NULL AS begun, to_regclass('organizations') IS NOT NULL AS used`,
  );
  if (rows[0]?.begun === true || rows[0]?.used !== true) return;
  const { rows: organizations } = await client.query('SELECT 1 FROM organizations LIMIT 1');
  if (organizations.length > 0)
    throw new StartError('the target is not empty: it has an organization; name an empty database');
}

/** Returns where to continue; begins a new copy. Throws StartError for an unfinished copy of another source. */
async function beginProgress(client: pg.Client, fingerprint: string): Promise<Progress> {
  await client.query(`CREATE TABLE IF NOT EXISTS ${COPY_PROGRESS_TABLE}
    (source text NOT NULL, table_name text, row_count bigint NOT NULL)`);
  await client.query(
    `INSERT INTO ${COPY_PROGRESS_TABLE} (source, row_count)
     SELECT $1, 0 WHERE NOT EXISTS (SELECT 1 FROM ${COPY_PROGRESS_TABLE})`,
    [fingerprint],
  );
  const { rows } = await client.query<Progress & { readonly source: string }>(
    `SELECT source, table_name AS table, row_count::float8 AS rows FROM ${COPY_PROGRESS_TABLE}`,
  );
  const [row] = rows;
  if (row?.source === fingerprint) return row;
  throw new StartError(
    'the target holds an unfinished copy of another database, or of this one as it was before; empty it first',
  );
}

function createTarget(client: pg.Client, progress: Progress) {
  const giveNumbersAfter = (sequence: string, last: number) =>
    client.query('SELECT setval($1, greatest($2::bigint, 1), $2 > 0)', [sequence, last]);

  return {
    /** How far the copy had come when it was interrupted. */
    progress,
    /** Creates partitions for these months, and sets sequences past the numbers that rows bring along. */
    async prepare(months: readonly number[], { traces, changes, rows }: LastNumbers): Promise<void> {
      for (const month of months) await client.query('SELECT create_month($1)', [month]);
      for (const { table, last } of rows) await giveNumbersAfter(`${table}_number_seq`, last);
      await giveNumbersAfter('trace_numbers', traces);
      await client.query('UPDATE webhook_changes SET number = $1', [changes]);
    },
    /** Stores rows, given as JSON, together with the progress: both or nothing. */
    async insert({ name, columns }: TableCopy, rows: readonly string[], rowsThen: number): Promise<void> {
      const names = columns.map((column) => column.name).join(', ');
      // One statement, and so one transaction. An existing row is left for the verification to compare.
      const text = `
        WITH stored AS (
          INSERT INTO ${name} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${name}, $1)
          ON CONFLICT DO NOTHING
        )
        UPDATE ${COPY_PROGRESS_TABLE} SET table_name = $2, row_count = $3`;
      await client.query({ name: `copy ${name}`, text, values: [`[${rows.join(',')}]`, name, rowsThen] });
    },
    /** All rows of the table as JSON, in any order. */
    async *rows({ name, columns }: TableCopy): AsyncGenerator<string, void> {
      const names = columns.map((column) => column.name).join(', ');
      await client.query(`BEGIN READ ONLY;
        DECLARE copied CURSOR FOR SELECT row_to_json(row)::text AS json FROM (SELECT ${names} FROM ${name}) AS row`);
      for (;;) {
        const { rows } = await client.query<{ json: string }>(`FETCH ${ROWS_AT_ONCE} FROM copied`);
        for (const { json } of rows) yield normalise(json);
        if (rows.length < ROWS_AT_ONCE) break;
      }
      await client.query('COMMIT');
    },
    /** Removes all traces of the copy. */
    async finish(): Promise<void> {
      // Without statistics the first queries would use plans for empty tables.
      await client.query('ANALYZE');
      await client.query(`DROP TABLE ${COPY_PROGRESS_TABLE}`);
    },
    close: () => client.end(),
  };
}

/** Converts to the form of the source: PostgreSQL writes some numbers with another exponent, and flags as booleans. */
function normalise(json: string): string {
  return JSON.stringify(JSON.parse(json), (_, value: unknown) => (typeof value === 'boolean' ? Number(value) : value));
}
