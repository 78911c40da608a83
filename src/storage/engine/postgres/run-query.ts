/** Runs compiled queries as prepared statements of a pool. */

import type { Query } from '../../statements/statement.ts';
import type { QueryRunner, RunQuery } from '../../transaction.ts';
import { toFault } from './failures.ts';
import type { Pool } from './pool.ts';

// PostgreSQL refuses this character in text, so no stored text has it.
const NUL = '\u0000';
const IDS_AT_ONCE = 250;
const ROWS_PER_PART = 2000;

export function createRunQuery(pool: Pool): RunQuery {
  return async ({ name, text, cells, row }, params) => {
    const values = searchableCells(cells(params));
    return values === null ? [] : (await pool.runStatement<never>({ name, text }, values)).map(row);
  };
}

export function createQueryRunner<Queries>(pool: Pool, queries: Queries): QueryRunner<Queries> {
  return {
    queries,
    runQuery: createRunQuery(pool),
    idsPerQuery: IDS_AT_ONCE,
    pointsPerQuery: IDS_AT_ONCE,
  };
}

type PartsOf<Params, Row> = {
  readonly query: Query<Params, Row>;
  readonly params: Params;
  readonly take: (row: Row) => void;
};

/** Reads very many rows through a cursor, page by page, so that other work runs in between. */
export async function queryInPages<Params, Row>(
  pool: Pool,
  { query, params, take }: PartsOf<Params, Row>,
): Promise<void> {
  const values = searchableCells(query.cells(params));
  if (values === null) return;
  try {
    await pool.withConnection(async (client) => {
      await client.query('BEGIN READ ONLY');
      await client.query({ text: `DECLARE parts CURSOR FOR ${query.text}`, values });
      for (;;) {
        const { rows } = await client.query<never>(`FETCH ${ROWS_PER_PART} FROM parts`);
        for (const row of rows) take(query.row(row));
        if (rows.length < ROWS_PER_PART) break;
      }
      await client.query('COMMIT');
    });
  } catch (error) {
    throw toFault(error);
  }
}

/** The parameters of a search without those that no row can have; null when nothing can match. */
export function searchableCells(cells: readonly unknown[]): unknown[] | null {
  if (cells.some(holdsNul)) return null;
  return cells.map((cell) => (Array.isArray(cell) ? cell.filter((one) => !holdsNul(one)) : cell));
}

function holdsNul(cell: unknown): boolean {
  return typeof cell === 'string' && cell.includes(NUL);
}

/** PostgreSQL refuses this character, and the answer of one receiver must not keep other results from being stored. */
export function dropNul(text: string | null): string | null {
  return text?.replaceAll(NUL, '') ?? null;
}
