/** Which processes use a database, by the names of their connections. */

import type pg from 'pg';
import { StartError } from '../../errors.ts';
import { servesFromAfter } from '../../migrations/check-schema.ts';
import type { Migration } from '../../migrations/migration.ts';
import { POSTGRES_SCHEMA_NUMBER } from '../../migrations/postgres.ts';
import { storageFault } from './failures.ts';

/** The name of a connection of a server: it tells which schema the process knows. */
export function connectionName(purpose: string): string {
  return `spandrel/${POSTGRES_SCHEMA_NUMBER} ${purpose}`;
}

// Builds before the second migration named no schema.
const SERVER = /^spandrel(?:\/(\d+))? (?!migrate|copy)/;

/** Throws StartError while a process is connected that could not use the tables after these migrations. */
export async function refuseOlderProcesses(
  client: pg.ClientBase,
  pending: readonly Migration[],
  all: readonly Migration[],
): Promise<void> {
  const servesFrom = pending.reduce(
    (before, migration) => servesFromAfter(migration, all.indexOf(migration) + 1, before),
    1,
  );
  const older = await listOlderProcesses(client, servesFrom);
  if (older.length === 0) return;
  throw new StartError(
    `the upgrade changes tables that processes of an older build still use (connections: ${older.join(', ')}); stop all of them, then start this one again`,
  );
}

/** The connections of processes that know only schemas before a number: how many, and their name. */
export async function listOlderProcesses(client: pg.ClientBase, schemaNumber: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; connections: number }>(
    `SELECT application_name AS name, count(*)::integer AS connections FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'spandrel%' GROUP BY 1 ORDER BY 1`,
  );
  return rows
    .filter(({ name }) => {
      const [match, number] = SERVER.exec(name) ?? [];
      return match !== undefined && Number(number ?? 1) < schemaNumber;
    })
    .map(({ name, connections }) => `${connections} ${name}`);
}

/** Reads the schema that the tables have now: another process may have changed them since this one started. */
export const CURRENT_SCHEMA = {
  name: 'current-schema',
  text: `SELECT number, serves_from AS "servesFrom" FROM schema_versions ORDER BY number DESC LIMIT 1`,
};

export type CurrentSchema = { readonly number: number; readonly servesFrom: number };

/** Throws unless this process may use tables of that schema. */
export function refuseOtherSchema([row]: readonly CurrentSchema[]): void {
  if (row !== undefined && row.servesFrom <= POSTGRES_SCHEMA_NUMBER && row.number >= POSTGRES_SCHEMA_NUMBER) return;
  const number = row?.number ?? 0;
  const advice =
    number < POSTGRES_SCHEMA_NUMBER
      ? 'restart this process, which migrates them'
      : 'start the version that migrated them in place of this one';
  throw storageFault(
    new Error(`the tables have schema ${number}, and this process needs ${POSTGRES_SCHEMA_NUMBER}; ${advice}`),
  );
}
