/** How far a copy has come, in a table of the target that exists only until the copy is finished. */

import type pg from 'pg';
import { COPY_PROGRESS_TABLE } from '../postgres/schema.ts';
import { StartError } from '../start-error.ts';
import type { SourceValue } from './cells.ts';

export type Progress = {
  /** The table that is being copied; those before it are complete. Null before the first row. */
  readonly table: string | null;
  /** Of the last row that was copied. */
  readonly key: readonly SourceValue[] | null;
  /** Of that table. */
  readonly rows: number;
};

type Row = {
  readonly source: string;
  readonly table: string | null;
  readonly key: string | null;
  readonly rows: number;
};

/** Answers where to go on; begins the copy when it is new. Throws StartError for an unfinished copy of another source. */
export async function beginProgress(client: pg.Client, fingerprint: string): Promise<Progress> {
  await client.query('BEGIN');
  await client.query(`CREATE TABLE IF NOT EXISTS ${COPY_PROGRESS_TABLE}
    (source text NOT NULL, table_name text, last_key text, row_count bigint NOT NULL)`);
  await client.query(
    `INSERT INTO ${COPY_PROGRESS_TABLE} (source, row_count)
     SELECT $1, 0 WHERE NOT EXISTS (SELECT 1 FROM ${COPY_PROGRESS_TABLE})`,
    [fingerprint],
  );
  await client.query('COMMIT');
  const { rows } = await client.query<Row>(
    `SELECT source, table_name AS table, last_key AS key, row_count::float8 AS rows FROM ${COPY_PROGRESS_TABLE}`,
  );
  const [row] = rows;
  if (row?.source !== fingerprint) {
    throw new StartError(
      'the target holds an unfinished copy of another database, or of this one as it was before; empty it first',
    );
  }
  return { table: row.table, key: row.key === null ? null : readKey(row.key), rows: row.rows };
}

/** As stored: table_name, last_key, row_count. */
export function progressValues({ table, key, rows }: Progress): [string | null, string | null, number] {
  return [table, key === null ? null : JSON.stringify(key.map(toJson)), rows];
}

/** Bytes and text are told apart, because SQLite does so too when it compares. */
function toJson(value: SourceValue): number | string | { readonly hex: string } | null {
  return Buffer.isBuffer(value) ? { hex: value.toString('hex') } : value;
}

function readKey(json: string): readonly SourceValue[] {
  const values: readonly ReturnType<typeof toJson>[] = JSON.parse(json);
  return values.map((value) => (typeof value === 'object' && value !== null ? Buffer.from(value.hex, 'hex') : value));
}
