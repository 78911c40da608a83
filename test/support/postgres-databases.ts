/** The databases of a PostgreSQL server that is known by its address. */

import { randomBytes } from 'node:crypto';
import pg from 'pg';

export type Databases = {
  /** The address of a database. */
  url(database: string): string;
  /** Answers the address of a new database, empty or a copy of the template. */
  createDatabase(name?: string, template?: string): Promise<string>;
  /** By its address; whoever is connected is cut off. */
  dropDatabase(url: string): Promise<void>;
};

/** `address` is that of any database on the server; its user may create databases. */
export function createDatabases(address: string): Databases {
  const url = (database: string) => new URL(`/${database}`, address).href;
  const manage = (sql: string) => query(url('postgres'), sql);
  return {
    url,
    async createDatabase(name = `test_${randomBytes(8).toString('hex')}`, template = 'template1') {
      // Copying through the log takes half the time of copying files, which waits for two checkpoints.
      await manage(
        `CREATE DATABASE ${pg.escapeIdentifier(name)} TEMPLATE ${pg.escapeIdentifier(template)} STRATEGY WAL_LOG`,
      );
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
