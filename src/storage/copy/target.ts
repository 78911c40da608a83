/** The PostgreSQL side of a copy. */

import pg from 'pg';
import { applyMigrations } from '../migrate.ts';
import { postgresCode } from '../postgres/failures.ts';
import { COPY_PROGRESS_TABLE, reasonOf } from '../postgres/schema.ts';
import { StartError } from '../start-error.ts';
import { type Cell, type Column, isColumnType, normaliseCell } from './cells.ts';
import { beginProgress, type Progress, progressValues } from './progress.ts';
import type { LastNumbers } from './source.ts';

export type Target = {
  /** How far the copy had come when it was interrupted. */
  readonly progress: Progress;
  /** Makes room for rows of these months, and keeps the numbers that rows bring along from being given again. */
  prepare(months: readonly number[], lastNumbers: LastNumbers): Promise<void>;
  columns(table: string): Promise<readonly Column[]>;
  /** Stores the rows and how far the copy has come with them, both or nothing. */
  insert(batch: TargetBatch): Promise<void>;
  /** Calls `take`, which must not throw, with every row of the table, in any order. */
  readRows(table: string, columns: readonly Column[], take: (cells: readonly Cell[]) => void): Promise<void>;
  /** Nothing tells any more that this is a copy. */
  finish(): Promise<void>;
  close(): Promise<void>;
};

export type TargetBatch = {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  readonly progress: Progress & { readonly table: string };
};

export type TargetOptions = { readonly url: string; readonly fingerprint: string };

const CONNECT_TIMEOUT_MS = 10_000;
// Whatever the database is set to: verifying a large table is one long statement, and what is printed is compared.
const SESSION = 'SET statement_timeout = 0; SET bytea_output = hex; SET extra_float_digits = 1';
// Held as long as the copy runs: two at once would store everything twice.
const COPY_LOCK = 0x5350_4350;
// The database may take a moment to notice that a process was killed.
const LOCK_TIMEOUT_MS = 5_000;

/** Brings an empty database up to date. Throws StartError for one with anything but an unfinished copy of the source in it. */
export async function openTarget({ url, fingerprint }: TargetOptions): Promise<Target> {
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
      connectionString: url,
      application_name: 'spandrel copy',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    // What is lost while it is idle shows with the next statement.
    client.on('error', () => undefined);
    await client.connect();
    await client.query(SESSION);
    return client;
  } catch (error) {
    throw new StartError(`the target cannot be reached: ${reasonOf(error)}`, { cause: error });
  }
}

async function takeLock(client: pg.Client): Promise<void> {
  try {
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query('SELECT pg_advisory_lock($1)', [COPY_LOCK]);
    await client.query('SET lock_timeout = 0');
  } catch (error) {
    if (postgresCode(error) !== '55P03') throw error;
    throw new StartError('another process is copying into the target; wait for it to end', { cause: error });
  }
}

/** Before anything is changed, migrations included. */
async function refuseOccupied(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ begun: boolean; used: boolean }>(
    `SELECT to_regclass('${COPY_PROGRESS_TABLE}') IS NOT NULL AS begun, to_regclass('organizations') IS NOT NULL AS used`,
  );
  if (rows[0]?.begun === true || rows[0]?.used !== true) return;
  const { rows: organizations } = await client.query('SELECT 1 FROM organizations LIMIT 1');
  if (organizations.length > 0) throw new StartError('the target is not empty: it has an organization');
}

function createTarget(client: pg.Client, progress: Progress): Target {
  return {
    progress,
    async prepare(months, lastNumbers) {
      for (const month of months) await client.query('SELECT create_month($1)', [month]);
      for (const [sequence, lastNumber] of Object.entries(sequencesOf(lastNumbers))) {
        await client.query('SELECT setval($1, greatest($2::bigint, 1), $2 > 0)', [sequence, lastNumber]);
      }
      await client.query('UPDATE webhook_changes SET number = $1', [lastNumbers.webhook_changes]);
    },
    async columns(table) {
      const { rows } = await client.query<{ name: string; type: string }>(COLUMNS, [table]);
      return rows.map(({ name, type }) => {
        if (!isColumnType(type)) throw new Error(`the column ${name} of ${table} is of the unknown type ${type}`);
        return { name, type };
      });
    },
    async insert({ columns, rows, progress: reached }) {
      const arrays = columns.map((_, index) => rows.map((cells) => cells[index] ?? null));
      await client.query({
        name: `copy ${reached.table}`,
        text: insertSql(reached.table, columns),
        values: [...arrays, ...progressValues(reached)],
      });
    },
    readRows: (table, columns, take) => readRows(client, { table, columns, take }),
    async finish() {
      // Otherwise the first questions would be answered by plans for empty tables.
      await client.query('ANALYZE');
      await client.query(`DROP TABLE ${COPY_PROGRESS_TABLE}`);
    },
    close: () => client.end(),
  };
}

/** By the names of the sequences. */
function sequencesOf(last: LastNumbers): { readonly [sequence: string]: number } {
  return {
    trace_numbers: last.traces,
    organizations_number_seq: last.organizations,
    projects_number_seq: last.projects,
    webhook_endpoints_number_seq: last.webhook_endpoints,
    webhook_replays_number_seq: last.webhook_replays,
    webhook_deliveries_number_seq: last.webhook_deliveries,
  };
}

const COLUMNS = `
  SELECT attname AS name, typname AS type
  FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
  WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

/** One statement, and so one transaction. A row that is there already is left to the verification. */
function insertSql(table: string, columns: readonly Column[]): string {
  const names = columns.map((column) => column.name).join(', ');
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ');
  const [name, key, rows] = [1, 2, 3].map((place) => `$${columns.length + place}`);
  return `
    WITH stored AS (INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays}) ON CONFLICT DO NOTHING)
    UPDATE ${COPY_PROGRESS_TABLE} SET table_name = ${name}, last_key = ${key}, row_count = ${rows}`;
}

type TargetReading = {
  readonly table: string;
  readonly columns: readonly Column[];
  readonly take: (cells: readonly Cell[]) => void;
};

/** Rows are handed on as they arrive, so that none of them waits in memory. */
function readRows(client: pg.Client, { table, columns, take }: TargetReading): Promise<void> {
  const config: pg.QueryArrayConfig = {
    text: `SELECT ${columns.map((column) => column.name).join(', ')} FROM ${table}`,
    rowMode: 'array',
    types: { getTypeParser: () => (text: string) => text },
  };
  const query = new pg.Query<Cell[]>(config);
  return new Promise((resolve, reject) => {
    query.on('row', (row) => take(columns.map((column, index) => normaliseCell(column, row[index] ?? null))));
    query.on('error', reject);
    query.on('end', () => resolve());
    client.query(query);
  });
}
