/** Whether a commit that is told is one that lasts. */

import type pg from 'pg';
import { StartError } from '../start-error.ts';

type Row = { readonly fsync: string; readonly synchronousCommit: string };

/** Throws StartError for a database that may lose what it has acknowledged. */
export async function refuseForgetful(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<Row>(
    `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS "synchronousCommit"`,
  );
  const [row] = rows;
  const wrong = row?.fsync === 'off' ? 'fsync' : row?.synchronousCommit === 'off' ? 'synchronous_commit' : null;
  if (wrong === null) return;
  throw new StartError(
    `the database runs with ${wrong}=off and may lose what it has acknowledged; turn it on, or set SPANDREL_DATABASE_UNSAFE=on to accept that`,
  );
}
