/** Reuses databases from test to test: emptying one takes about a tenth of the time that creating one takes. */

import pg from 'pg';
import { createPostgresPlace, type Place } from './place.ts';

type Database = {
  readonly place: Place;
  readonly client: pg.Client;
  readonly fresh: Fresh;
};

/** The schema of a new database, and the SQL that restores its rows. */
type Fresh = { readonly signature: string; readonly reset: string };

/** A database with larger tables is dropped instead: deleting so many rows takes longer than a new database. */
const KEPT_MAX_BYTES = 1024 * 1024;

/** The databases of one test file, which calls `end` after its last test. */
export function createReusedPlaces() {
  const idle: Database[] = [];
  return {
    /** Resolves to an empty place. `remove` gives its database to the next test. */
    async take(): Promise<Place> {
      const database = idle.pop() ?? (await createDatabase());
      return {
        ...database.place,
        remove: async () => {
          if (await empty(database)) idle.push(database);
          else await removeDatabase(database);
        },
      };
    },
    async end(): Promise<void> {
      for (const database of idle.splice(0)) await removeDatabase(database);
    },
  };
}

async function createDatabase(): Promise<Database> {
  const place = await createPostgresPlace();
  const client = new pg.Client({ connectionString: place.url });
  client.on('error', () => undefined);
  await client.connect();
  // Switches foreign keys and triggers off, so that tables can be emptied in any order.
  await client.query('SET session_replication_role = replica');
  return { place, client, fresh: await describeFresh(client) };
}

async function removeDatabase({ place, client }: Database): Promise<void> {
  await client.end();
  await place.remove();
}

/** Resolves to false when the test changed more than rows, which cannot be undone here. */
async function empty({ client, fresh }: Database): Promise<boolean> {
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  if ((await readSignature(client)) !== fresh.signature) return false;
  await client.query(fresh.reset);
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
