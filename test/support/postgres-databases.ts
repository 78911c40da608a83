/** Creates and drops databases of a PostgreSQL server. */

import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A database without connections. WAL_LOG copies it without waiting for checkpoints, whose files a disk must write. */
export type Template = { readonly name: string; readonly strategy: 'WAL_LOG' | 'FILE_COPY' };

export type Databases = {
  /** The address of a database. */
  url(database: string): string;
  /** Creates a database, empty or a copy; resolves to its address. */
  createDatabase(template?: Template): Promise<string>;
  /** By its address; cuts its connections. */
  dropDatabase(url: string): Promise<void>;
};

const EMPTY: Template = { name: 'template1', strategy: 'WAL_LOG' };

type RunSql = (url: string, sql: string) => Promise<unknown>;

/** `address` is of any database, whose user may create others. `run` executes the statements that do so. */
export function createDatabases(address: string, run: RunSql = query): Databases {
  const url = (database: string) => new URL(`/${database}`, address).href;
  const manage = (sql: string) => run(url('postgres'), sql);
  return {
    url,
    async createDatabase(template = EMPTY) {
      const name = `test_${randomBytes(8).toString('hex')}`;
      await manage(`CREATE DATABASE ${name} TEMPLATE ${template.name} STRATEGY ${template.strategy}`);
      return url(name);
    },
    async dropDatabase(dropped) {
      const name = new URL(dropped).pathname.slice(1);
      await manage(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
    },
  };
}

/** Runs SQL like `query`, but on one connection that stays open. The address MUST be the same in every call. */
export function createPersistentQuery(): RunSql {
  let connected: Promise<pg.Client> | null = null;
  const connect = async (url: string) => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    client.once('end', () => {
      connected = null;
    });
    await client.connect();
    return client;
  };
  return async (url, sql) => {
    connected ??= connect(url).catch((error) => {
      connected = null;
      throw error;
    });
    return await (await connected).query(sql);
  };
}

/** Runs SQL on a new connection and returns the rows. */
export async function query(url: string, sql: string): Promise<readonly pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url });
  // The query reports a lost server; without a listener the error would also end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
