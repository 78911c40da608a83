/** Reads what `spandrel doctor` wants to know of a PostgreSQL database, beside servers that may use it. */

import type pg from 'pg';
import {
  type DatabaseFacts,
  type InstallationRow,
  READ_INSTALLATION,
  READ_PROVIDERS,
  type StoredProvider,
  toInstalled,
} from '../../database-facts.ts';
import { refuseHalfCopied, refuseUnsafeCommits } from './fitness.ts';
import { pendingOn, withClient } from './schema.ts';

/** Throws StartError for a database that no server would use. */
export async function inspectDatabase(url: string, mayLoseWrites: boolean): Promise<DatabaseFacts> {
  return await withClient(url, async (client) => {
    if (!mayLoseWrites) await refuseUnsafeCommits(client);
    await refuseHalfCopied(client);
    const pending = (await pendingOn(client)).map(({ name }) => name);
    const installed = pending.length > 0 ? null : await readInstalled(client);
    return { ...(await readSettings(client)), pending, installed };
  });
}

/** A limit below zero is none. */
const READ_SETTINGS = `SELECT current_setting('server_version') AS version,
  extract(epoch FROM clock_timestamp()) * 1000 AS "clockMs",
  current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer AS "ofServer",
  (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user) AS "ofUser",
  (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()) AS "ofDatabase"`;

type SettingsRow = {
  readonly version: string;
  readonly clockMs: string;
  readonly ofServer: number;
  readonly ofUser: number | null;
  readonly ofDatabase: number | null;
};

const NO_SETTINGS =
  'the query of the settings of the database returned no row: let the address lead to PostgreSQL itself, past what answers in its place';

async function readSettings(client: pg.ClientBase) {
  const { rows } = await client.query<SettingsRow>(READ_SETTINGS);
  const [row] = rows;
  if (row === undefined) throw new Error(NO_SETTINGS);
  const limits = [row.ofServer, row.ofUser, row.ofDatabase].filter((limit) => limit !== null);
  return {
    about: `PostgreSQL ${row.version}`,
    clockMs: Number(row.clockMs),
    connectionsMax: Math.min(...limits),
  };
}

async function readInstalled(client: pg.ClientBase) {
  const installation = await client.query<InstallationRow>(READ_INSTALLATION);
  const providers = await client.query<StoredProvider>(READ_PROVIDERS);
  return toInstalled(installation.rows[0], providers.rows);
}
