/** Runs statements that the database plans each time, by their values. */

import type pg from 'pg';
import { toFault } from './failures.ts';
import type { Pool } from './pool.ts';

/** `settings` hold for the statement alone. */
export type RunPlanned = <Row>(settings: string, statement: string) => Promise<readonly Row[]>;

/** The values are in the text: the connections have statements with parameters planned once for all values. */
export function createRunPlanned(pool: Pool): RunPlanned {
  return async (settings, statement) => {
    try {
      const results: unknown = await pool.withConnection((client) => client.query(`${settings}; ${statement}`));
      return (results as pg.QueryResult<never>[]).at(-1)?.rows ?? [];
    } catch (error) {
      throw toFault(error);
    }
  };
}

/** An array in the text of a statement. */
export function listOf(values: Iterable<number | boolean | null>, type: string): string {
  return `'{${[...values].map(String).join(',')}}'::${type}[]`;
}
