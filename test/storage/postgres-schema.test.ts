import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { pendingMigrations, updateSchema, withCurrentSchema } from '../../src/storage/engine/postgres/schema.ts';
import { REFERENCES } from '../../src/storage/entities/beyond-mapper.ts';
import { POSTGRES_TABLES } from '../../src/storage/entities/entities.ts';
import type { KnownSchemas } from '../../src/storage/migrations/check-schema.ts';
import { POSTGRES_SCHEMAS } from '../../src/storage/migrations/postgres.ts';
import { openStore } from '../../src/storage/open.ts';
import { createDatabases, query } from '../support/postgres-databases.ts';
import { until } from '../support/temp.ts';
import { makeFirstOf } from './postgres-first.ts';
import { quietLog } from './quiet-log.ts';
import { askMigrator, differencesOf, withMigration, withMore } from './schema-comparison.ts';

const LATER = {
  name: 'postgres-9999-later',
  script: 'CREATE TABLE later (x integer); INSERT INTO later VALUES (1)',
};
const WITH_LATER = withMigration(POSTGRES_SCHEMAS, LATER);
const MIGRATIONS = POSTGRES_SCHEMAS.migrations;
const NAMES = MIGRATIONS.map(({ name }) => name);
const VERSIONS = 'SELECT * FROM schema_versions ORDER BY number';

/** Objects the mapper cannot describe and would remove. */
const NOT_DESCRIBED: readonly { readonly statement: RegExp; readonly reason: string }[] = [
  {
    statement: /^alter table "(\w+)" drop constraint "\1_\w+_foreign"$/,
    reason: 'foreign keys are made of relations between objects alone; those of beyond-mapper.ts are compared below',
  },
  {
    statement: /^drop trigger if exists "(count|texts)_\w+" on "\w+"$/,
    reason:
      'a trigger it knows has one function of its own, fires for whole rows, not for certain columns, and sees no table of them',
  },
  {
    statement: /^drop function if exists "\w+_(count|texts)_\w+_fn"\(\)$/,
    reason: 'the function that such a trigger would have; there is none of this name',
  },
  {
    statement: /^drop function if exists "(bucket_of|clock_ms|create_month|moved_place)"\(/,
    reason: 'functions that are not a trigger are not among the routines it knows',
  },
];

let url: string;
beforeEach(async () => {
  url = await createDatabases(inject('postgres').address).createDatabase();
});
afterEach(() => createDatabases(url).dropDatabase(url));

const update = (known: KnownSchemas = POSTGRES_SCHEMAS) => updateSchema({ url, inspect: async () => undefined, known });
const makeFirst = () => makeFirstOf(url);

describe('the tables of PostgreSQL', () => {
  beforeEach(() => update());

  it('are as described: the mapper finds nothing to change but what cannot be described', async () => {
    const found = await differencesOf(url, POSTGRES_TABLES);
    const isDescribed = (each: string) => !NOT_DESCRIBED.some(({ statement }) => statement.test(each.trim()));
    expect(found.filter(isDescribed)).toEqual([]);
    for (const { statement, reason } of NOT_DESCRIBED) {
      expect(
        found.some((each) => statement.test(each.trim())),
        reason,
      ).toBe(true);
    }
  });

  it('are found to lack a column and an index that are described and in no migration', async () => {
    const known = new Set(await differencesOf(url, POSTGRES_TABLES));
    const found = await differencesOf(url, withMore(POSTGRES_TABLES));
    expect(found.filter((each) => !known.has(each)).map((each) => each.trim())).toEqual([
      'alter table "members" add "nickname" text null',
      'create index "members_by_nickname" on "members" ("organization_id", "nickname")',
    ]);
  });

  it('refer to each other as is said', async () => {
    const rows = await query(
      url,
      `SELECT conrelid::regclass::text AS "table", ${columnsSql('conrelid', 'conkey')} AS columns,
         confrelid::regclass::text AS "to", ${columnsSql('confrelid', 'confkey')} AS "toColumns",
         confdeltype = 'c' AS "isDeletedWithIt"
       FROM pg_constraint WHERE contype = 'f' ORDER BY 1`,
    );
    expect(rows).toEqual(REFERENCES);
  });
});

function columnsSql(table: string, numbers: string): string {
  return `(SELECT array_agg(attname::text ORDER BY place) FROM unnest(${numbers}) WITH ORDINALITY AS key (number, place)
    JOIN pg_attribute ON attrelid = ${table} AND attnum = key.number)`;
}

it('are complete: the mapper would change nothing', async () => {
  const store = await openStore({ url, queueMaxBytes: 1024 * 1024, log: quietLog });
  await store.management.version('nobody');
  await store.close();
  const named = await query(url, `SELECT datname FROM pg_database WHERE datname = 'spandrel'`);
  expect(named).toEqual([]);
});

describe('the migrations of PostgreSQL', () => {
  it('are recorded so that the mapper’s own Migrator has nothing left to do', async () => {
    await update();
    expect(await askMigrator(url, MIGRATIONS)).toEqual({ executed: NAMES, pending: [] });
    expect(await askMigrator(url, WITH_LATER.migrations)).toEqual({ executed: NAMES, pending: [LATER.name] });
  });

  it('all run in a new database, and in an older one those that came since, none twice', async () => {
    expect(await pendingMigrations(url, WITH_LATER)).toEqual(WITH_LATER.migrations);
    await update();
    expect((await pendingMigrations(url, WITH_LATER)).map(({ name }) => name)).toEqual([LATER.name]);
    await Promise.all([update(WITH_LATER), update(WITH_LATER)]);
    expect(await query(url, 'SELECT x FROM later')).toEqual([{ x: 1 }]);
    expect(await pendingMigrations(url, WITH_LATER)).toEqual([]);
    await expect(update()).rejects.toThrow(/newer version of Spandrel, which has the migration postgres-9999-later/);
  });

  it('upgrade a database of the first one to the very tables of a new one', async () => {
    await makeFirst();
    expect((await pendingMigrations(url)).map(({ name }) => name)).toEqual(NAMES.slice(1));
    await update();
    const upgraded = await query(url, VERSIONS);
    await query(url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await update();
    expect(await query(url, VERSIONS)).toEqual(upgraded);
    expect(upgraded.map((row) => row.name)).toEqual(NAMES);
  });

  it('are each all there or not at all, and one that fails leaves no lock', async () => {
    const broken = {
      name: 'postgres-9999-broken',
      script: 'CREATE TABLE later (); INSERT INTO nowhere VALUES (1)',
    };
    const withBroken = withMigration(POSTGRES_SCHEMAS, broken);
    for (let start = 0; start < 2; start += 1) {
      await expect(update(withBroken)).rejects.toThrow(/relation "nowhere" does not exist/);
    }
    expect(await query(url, `SELECT to_regclass('later') IS NULL AS none`)).toEqual([{ none: true }]);
    expect((await pendingMigrations(url, WITH_LATER)).map(({ name }) => name)).toEqual([LATER.name]);
    await update();
  });

  it('may last longer than role and database let requests last', async () => {
    const name = new URL(url).pathname.slice(1);
    for (const setting of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) {
      await query(url, `ALTER DATABASE ${name} SET ${setting} = 50`);
    }
    await update(withMigration(POSTGRES_SCHEMAS, { ...LATER, script: `${LATER.script}; SELECT pg_sleep(0.2)` }));
    expect(await query(url, 'SELECT x FROM later')).toEqual([{ x: 1 }]);
  });

  it('wait while another process starts, and let it start while they wait', async () => {
    const started: string[] = [];
    let go = () => {};
    const open = new Promise<void>((resolve) => {
      go = resolve;
    });
    await update();
    const starting = withCurrentSchema({ url, inspect: async () => undefined }, async () => {
      started.push('begun');
      await open;
      started.push('connected');
    });
    await until(async () => started.length > 0);
    const upgrading = update(WITH_LATER).then(() => started.push('upgraded'));
    await until(async () => (await query(url, WAITING)).length > 0);
    go();
    await Promise.all([starting, upgrading]);
    expect(started).toEqual(['begun', 'connected', 'upgraded']);
  });
});

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
  AND query LIKE 'SELECT pg_try_advisory_lock(%'`;
