/** The databases of a PostgreSQL server that is known by its address. */

import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A database nobody is connected to. Through the log it is copied without waiting for checkpoints, whose files a disk has to write. */
export type Template = { readonly name: string; readonly strategy: 'WAL_LOG' | 'FILE_COPY' };

export type Databases = {
  /** The address of a database. */
  url(database: string): string;
  /** Answers the address of a new database, empty or a copy of the template. */
  createDatabase(template?: Template): Promise<string>;
  /** By its address; whoever is connected is cut off. */
  dropDatabase(url: string): Promise<void>;
};

const EMPTY: Template = { name: 'template1', strategy: 'WAL_LOG' };

/** `address` is that of any database on the server; its user may create databases. */
export function createDatabases(address: string): Databases {
  const url = (database: string) => new URL(`/${database}`, address).href;
  const manage = (sql: string) => query(url('postgres'), sql);
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

/** Runs SQL on a connection of its own and answers the rows. */
export async function query(url: string, sql: string): Promise<readonly pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url });
  // A server that goes away is told by the query; without a listener it would end the process as well.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
