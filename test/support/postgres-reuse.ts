/**
 * Reuses databases and the connections to them from test to test: emptying a database takes about a tenth of the time that
 * creating one takes, and a process of PostgreSQL starts for each connection.
 */

import pg from 'pg';
import { closePools, openPools, type Pools } from '../../src/storage/engine/postgres/pool.ts';
import { createPostgresTestDatabase, type TestDatabase } from './test-database.ts';

/** `pools` stay open when the store on them closes. */
export type ReusedTestDatabase = TestDatabase & { readonly pools: Pools };

type ReusedDatabase = {
  readonly database: TestDatabase;
  readonly pools: Pools;
  /** Empties the database. */
  readonly client: pg.Client;
  readonly fresh: Fresh;
};

/** The schema of a new database, and the SQL that restores its rows. */
type Fresh = { readonly signature: string; readonly reset: string };

/** A database with larger tables is dropped instead: deleting so many rows takes longer than a new database. */
const KEPT_MAX_BYTES = 1024 * 1024;
const LOCK_TIMEOUT_MS = 5_000;
const LOCK_NOT_AVAILABLE = '55P03';
const CONNECTIONS = 10;

/** The databases of one test file, which calls `end` after its last test. */
export function createReusedDatabases() {
  const idle: ReusedDatabase[] = [];
  return {
    /** Resolves to an empty database. `remove` gives it to the next test. */
    async take(): Promise<ReusedTestDatabase> {
      const reused = idle.pop() ?? (await createDatabase());
      return {
        ...reused.database,
        pools: reused.pools,
        remove: async () => {
          if (await empty(reused)) idle.push(reused);
          else await removeDatabase(reused);
        },
      };
    },
    async end(): Promise<void> {
      for (const database of idle.splice(0)) await removeDatabase(database);
    },
  };
}

async function createDatabase(): Promise<ReusedDatabase> {
  const database = await createPostgresTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => undefined);
  await client.connect();
  // Switches foreign keys and triggers off, so that tables can be emptied in any order.
  await client.query(`SET session_replication_role = replica; SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
  const pools = openPools({ url: database.url, connectionsMax: CONNECTIONS, mayLoseWrites: false });
  // Every store on the pools adds its own.
  for (const { connections } of Object.values(pools)) connections.setMaxListeners(0);
  return { database, pools, client, fresh: await describeFresh(client) };
}

async function removeDatabase({ database, pools, client }: ReusedDatabase): Promise<void> {
  await closePools(pools);
  await client.end();
  await database.remove();
}

/**
 * Resolves to false when the test changed more than rows, which cannot be undone here, or when one of its transactions
 * has not ended.
 */
async function empty({ client, fresh }: ReusedDatabase): Promise<boolean> {
  if ((await readSignature(client)) !== fresh.signature) return false;
  try {
    await client.query(fresh.reset);
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
  return true;
}

const TABLES = `pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`;

/** Changes with tables, columns, constraints, functions, settings and statistics; empty when the tables are too large to empty. */
const SIGNATURE = `
  SELECT CASE WHEN (SELECT sum(pg_relation_size(oid)) FROM ${TABLES}) < ${KEPT_MAX_BYTES} THEN concat_ws(' ',
    (SELECT md5(string_agg(concat_ws(' ', oid, relfilenode, relname, reloptions), ',' ORDER BY oid))
     FROM pg_class WHERE oid >= 16384 AND relnamespace = 'public'::regnamespace),
    (SELECT count(*) FROM pg_attribute WHERE attrelid >= 16384),
    (SELECT count(*) FROM pg_constraint WHERE oid >= 16384),
    (SELECT count(*) FROM pg_trigger WHERE oid >= 16384),
    (SELECT count(*) FROM pg_proc WHERE oid >= 16384),
    (SELECT count(*) FROM pg_namespace WHERE oid >= 16384),
    (SELECT count(*) FROM pg_statistic WHERE starelid >= 16384),
    (SELECT count(*) FROM pg_db_role_setting JOIN pg_database ON pg_database.oid = setdatabase
     WHERE datname = current_database())
  ) ELSE '' END AS signature`;

async function readSignature(client: pg.Client): Promise<string> {
  const { rows } = await client.query({ name: 'signature', text: SIGNATURE });
  return rows[0].signature;
}

async function describeFresh(client: pg.Client): Promise<Fresh> {
  const tables = (await client.query(`SELECT quote_ident(relname) AS name FROM ${TABLES}`)).rows;
  const sequences = (
    await client.query(
      `SELECT quote_ident(relname) AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'`,
    )
  ).rows;
  const steps: string[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query(`SELECT json_agg(held)::text AS held FROM ${name} AS held`);
    steps.push(`IF EXISTS (SELECT FROM ${name}) THEN DELETE FROM ${name}; END IF;`);
    if (rows[0].held !== null) {
      const held = pg.escapeLiteral(rows[0].held);
      steps.push(
        `INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${name}, ${held});`,
      );
    }
  }
  for (const { name } of sequences) {
    const { rows } = await client.query(`SELECT last_value, is_called FROM ${name}`);
    steps.push(`PERFORM setval('${name}', ${rows[0].last_value}, ${rows[0].is_called});`);
  }
  await client.query(`
    CREATE FUNCTION pg_temp.reset_all() RETURNS void LANGUAGE plpgsql AS $reset$ BEGIN ${steps.join('\n')} END $reset$`);
  return { signature: await readSignature(client), reset: 'SELECT pg_temp.reset_all()' };
}
