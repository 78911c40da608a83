import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { pendingMigrations, updateSchema } from '../../src/storage/engine/postgres/schema.ts';
import { POSTGRES_MIGRATIONS } from '../../src/storage/migrations/postgres.ts';
import { openStore } from '../../src/storage/open.ts';
import { FILL_FACTORS, PARTITIONED_BY, REFERENCES } from '../../src/storage/tables/beyond-mapper.ts';
import { POSTGRES_TABLES } from '../../src/storage/tables/tables.ts';
import { createDatabases, query } from '../support/postgres-databases.ts';
import { quietLog } from './quiet-log.ts';
import { askMigrator, differencesOf, withMore } from './schema-comparison.ts';

const LATER = {
  name: 'postgres-9999-later',
  statements: ['CREATE TABLE later (x integer)', 'INSERT INTO later VALUES (1)'],
};
const WITH_LATER = [...POSTGRES_MIGRATIONS, LATER];
const NAMES = POSTGRES_MIGRATIONS.map(({ name }) => name);

/** Objects the mapper cannot describe and would remove. */
const NOT_DESCRIBED: readonly { readonly statement: RegExp; readonly reason: string }[] = [
  {
    statement: /^alter table "(\w+)" drop constraint "\1_\w+_foreign"$/,
    reason: 'foreign keys are made of relations between objects alone; those of beyond-mapper.ts are compared below',
  },
  {
    statement: /^drop trigger if exists "count_auth_change" on "\w+"$/,
    reason: 'a trigger it knows has one function of its own and fires for whole rows, not for certain columns',
  },
  {
    statement: /^drop function if exists "\w+_count_auth_change_fn"\(\)$/,
    reason: 'the function that such a trigger would have; there is none of this name',
  },
  {
    statement: /^drop function if exists "(clock_ms|create_month)"\(/,
    reason: 'functions that are no trigger are not among the routines it knows',
  },
];

let url: string;
beforeEach(async () => {
  url = await createDatabases(inject('postgres').address).createDatabase();
});
afterEach(() => createDatabases(url).dropDatabase(url));

const update = (known = POSTGRES_MIGRATIONS) => updateSchema({ url, inspect: async () => undefined, known });

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

  it('are partitioned and filled where that is said', async () => {
    const partitioned = await query(
      url,
      `SELECT relname AS name, attname AS column FROM pg_partitioned_table JOIN pg_class ON pg_class.oid = partrelid
       JOIN pg_attribute ON attrelid = partrelid AND attnum = partattrs[0] WHERE partstrat = 'r' AND partnatts = 1`,
    );
    expect(Object.fromEntries(partitioned.map((row) => [row.name, row.column]))).toEqual(PARTITIONED_BY);
    const filled = await query(
      url,
      `SELECT relname AS name, option_value::integer AS percent FROM pg_class, pg_options_to_table(reloptions)
       WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND option_name = 'fillfactor'`,
    );
    expect(Object.fromEntries(filled.map((row) => [row.name, row.percent]))).toEqual(FILL_FACTORS);
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
    expect(await askMigrator(url, POSTGRES_MIGRATIONS)).toEqual({ executed: NAMES, pending: [] });
    expect(await askMigrator(url, WITH_LATER)).toEqual({ executed: NAMES, pending: [LATER.name] });
  });

  it('are followed by those that came since, and by nothing twice', async () => {
    expect(await pendingMigrations(url, WITH_LATER)).toEqual(WITH_LATER);
    await update();
    expect(await pendingMigrations(url, WITH_LATER)).toEqual([LATER]);
    await Promise.all([update(WITH_LATER), update(WITH_LATER)]);
    expect(await query(url, 'SELECT x FROM later')).toEqual([{ x: 1 }]);
    expect(await pendingMigrations(url, WITH_LATER)).toEqual([]);
    await expect(update()).rejects.toThrow(/belongs to a newer version/);
    await expect(pendingMigrations(url)).rejects.toThrow(/belongs to a newer version/);
  });

  it('are all noted in a new database, which is made as it is described today', async () => {
    await update(WITH_LATER);
    expect(await pendingMigrations(url, WITH_LATER)).toEqual([]);
    expect(await query(url, `SELECT to_regclass('later') IS NULL AS isNone`)).toEqual([{ isnone: true }]);
  });

  it('are all there or none: one that fails takes the others of its start along, and leaves no lock', async () => {
    const broken = {
      name: 'postgres-9999-broken',
      statements: ['CREATE TABLE later ()', 'INSERT INTO nowhere VALUES (1)'],
    };
    await expect(update([broken])).rejects.toThrow(/relation "nowhere" does not exist/);
    expect(await query(url, `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)).toEqual([]);
    await update();
    await expect(update([...POSTGRES_MIGRATIONS, broken])).rejects.toThrow(/relation "nowhere" does not exist/);
    expect(await pendingMigrations(url, WITH_LATER)).toEqual([LATER]);
  });
});
