import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { describeSchema } from '../../src/storage/engine/postgres/describe-schema.ts';
import { pendingMigrations, updateSchema } from '../../src/storage/engine/postgres/schema.ts';
import { fingerprintOf, type KnownSchemas } from '../../src/storage/migrations/check-schema.ts';
import { POSTGRES_SCHEMAS } from '../../src/storage/migrations/postgres.ts';
import { openStore } from '../../src/storage/open.ts';
import { runCli } from '../cli/run-cli.ts';
import { createDatabases, query } from '../support/postgres-databases.ts';
import { until } from '../support/temp.ts';
import { sampleAppend } from './conformance/samples.ts';
import { makeFirstOf } from './postgres-first.ts';
import { quietLog } from './quiet-log.ts';
import { withMigration } from './schema-comparison.ts';

const LATER = { name: 'postgres-9999-later', script: 'CREATE TABLE later (x integer); INSERT INTO later VALUES (1)' };
const WITH_LATER = withMigration(POSTGRES_SCHEMAS, LATER);
const VERSIONS = 'SELECT * FROM schema_versions ORDER BY number';
const SECRET = 'x'.repeat(32);

let url: string;
const { address, template } = inject('postgres');
beforeEach(async () => {
  url = await createDatabases(address).createDatabase();
});
afterEach(() => createDatabases(url).dropDatabase(url));

const update = (known: KnownSchemas = POSTGRES_SCHEMAS) => updateSchema({ url, inspect: async () => undefined, known });
const makeFirst = () => makeFirstOf(url);
const open = () => openStore({ url, queueMaxBytes: 1024 * 1024, log: quietLog });

describe('indexes that are built later', () => {
  const INDEXED = {
    name: 'postgres-9999-indexed',
    script: 'CREATE TABLE large AS SELECT i FROM generate_series(1, 10) AS i',
    laterIndexes: {
      large_by_number: 'CREATE UNIQUE INDEX CONCURRENTLY large_by_number ON large (i)',
      large_backwards: 'CREATE INDEX CONCURRENTLY large_backwards ON large (i DESC)',
    },
  };
  const KNOWN = withMigration(POSTGRES_SCHEMAS, INDEXED);
  const built = () =>
    query(
      url,
      `SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index
       WHERE indrelid = 'large'::regclass ORDER BY 1 DESC`,
    );
  const ALL_BUILT = [
    { name: 'large_by_number', valid: true },
    { name: 'large_backwards', valid: true },
  ];

  it('are there once the migration has ended', async () => {
    await Promise.all([update(KNOWN), update(KNOWN)]);
    expect(await built()).toEqual(ALL_BUILT);
    expect(await pendingMigrations(url, KNOWN)).toEqual([]);
  });

  it('are finished by the next process, whatever step the last one was killed at', async () => {
    const double = { ...INDEXED, script: `${INDEXED.script}; INSERT INTO large VALUES (1)` };
    const known = withMigration(POSTGRES_SCHEMAS, double);
    // The index is built and found to have duplicates: it stays behind as invalid, as after a kill.
    await expect(update(known)).rejects.toThrow(/could not create unique index/);
    expect(await built()).toEqual([{ name: 'large_by_number', valid: false }]);
    expect((await pendingMigrations(url, known)).map(({ name }) => name)).toEqual([double.name]);
    await query(url, 'DELETE FROM large WHERE ctid IN (SELECT max(ctid) FROM large WHERE i = 1)');
    await update(known);
    expect(await built()).toEqual(ALL_BUILT);
    expect(await pendingMigrations(url, known)).toEqual([]);
    await query(url, 'DROP INDEX large_backwards');
    await expect(update(known)).rejects.toThrow(/changed by hand: it lacks index large\.large_backwards/);
  });
});

/** Databases that do not fit, and what a start says of them. */
const UNFIT: readonly (readonly [string, string, RegExp])[] = [
  [
    'a missing index',
    'DROP INDEX api_keys_by_owner',
    /changed by hand: it lacks index api_keys\.api_keys_by_owner USING btree/,
  ],
  ['an extra column', 'ALTER TABLE members ADD COLUMN nickname text', /it has column members\.nickname text; undo/],
  ['a foreign table', 'CREATE TABLE notes (a int PRIMARY KEY, b text)', /by hand: it has table notes; undo/],
  ['a half-run migration', 'DROP TABLE backfills', /it lacks table backfills; undo the change or restore a backup/],
  ['a missing trigger', 'DROP TRIGGER count_auth_change ON teams', /it lacks trigger teams\.count_auth_change/],
  [
    'another function',
    `CREATE OR REPLACE FUNCTION clock_ms() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'`,
    /clock_ms/,
  ],
  [
    'a migration of a newer version',
    "INSERT INTO mikro_orm_migrations (name) VALUES ('postgres-9998-tomorrow')",
    /written by a newer version of Spandrel, which has the migration postgres-9998-tomorrow; start that version/,
  ],
  [
    'a migration that had another text',
    "UPDATE schema_versions SET text_hash = 'other' WHERE number = 2",
    /written by an unreleased build, whose migration postgres-0002-schema-versions is not the one of this build/,
  ],
];

/** Instead of the empty one: all migrations take longer than a copy of what they make. */
const takeMigrated = async () => {
  const databases = createDatabases(address);
  await databases.dropDatabase(url);
  url = await databases.createDatabase(template);
};

describe('a database of another schema', () => {
  it.each(UNFIT)('is refused in one line: %s', async (_, change, line) => {
    await takeMigrated();
    await query(url, change);
    const before = await query(url, VERSIONS);
    await expect(pendingMigrations(url)).rejects.toThrow(line);
    for (const args of [['migrate', '--dry-run'], ['migrate'], ['serve']]) {
      const { code, stdout, stderr } = await runCli(args, { SPANDREL_DATABASE_URL: url, SPANDREL_SECRET: SECRET });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(line);
      expect(stderr).toMatch(/^spandrel: [^\n]+\n$/);
    }
    expect(await query(url, VERSIONS)).toEqual(before);
  });

  it('is one of another program, if it has no migration of ours and tables', async () => {
    await query(url, 'CREATE TABLE recipes (name text)');
    await expect(update()).rejects.toThrow(/holds tables of another program \(recipes\); use a database of its own/);
  });

  it('without a record is named after the build that wrote it, or called changed or older', async () => {
    await makeFirst();
    await query(url, 'ALTER TABLE members ADD COLUMN nickname text; DROP TABLE monitors');
    await expect(update()).rejects.toThrow(
      /were changed by hand, or it was written by an older build: it lacks table monitors; it has column members\.nickname text; undo the change or restore a backup \(databases of builds since 24 November 2026/,
    );
    const client = new pg.Client(url);
    await client.connect();
    const fingerprint = fingerprintOf(await describeSchema(client));
    await client.end();
    const known = { ...POSTGRES_SCHEMAS, unsupported: new Map([[fingerprint, 'abc of 1 November']]) };
    await expect(update(known)).rejects.toThrow(/was written by the older build abc of 1 November/);
  });
});

describe('an upgrade that processes of before cannot follow', () => {
  const STOPPING = withMigration(POSTGRES_SCHEMAS, { ...LATER, olderProcesses: 'must be stopped' });
  it('is refused while one of them is connected, and done once all have ended', async () => {
    await takeMigrated();
    const store = await open();
    await store.ready();
    await expect(update(STOPPING)).rejects.toThrow(
      /processes of an older build still use \(connections: .*spandrel\/\d+ ingest/,
    );
    expect(await query(url, `SELECT to_regclass('later') IS NULL AS none`)).toEqual([{ none: true }]);
    await store.close();
    await update(STOPPING);
    expect(await query(url, 'SELECT x FROM later')).toEqual([{ x: 1 }]);
  });

  it('knows processes of builds that did not name their schema', async () => {
    await makeFirst();
    const client = new pg.Client({ connectionString: url, application_name: 'spandrel listen' });
    await client.connect();
    await expect(update(STOPPING)).rejects.toThrow(/\(connections: 1 spandrel listen\); stop all of them/);
    await client.end();
  });

  it('takes a process out of service that was away meanwhile', async () => {
    await takeMigrated();
    const store = await open();
    await store.ready();
    await query(url, `UPDATE schema_versions SET serves_from = serves_from + 100`);
    await expect(store.ready()).rejects.toMatchObject({ kind: 'unavailable' });
    await query(url, `UPDATE schema_versions SET serves_from = serves_from - 100`);
    await store.ready();
    await query(url, `DELETE FROM schema_versions WHERE number > 1`);
    await expect(store.ready()).rejects.toMatchObject({ kind: 'unavailable' });
    await store.close();
  });
});

describe('an upgrade that processes of before can follow', () => {
  it('leaves them in service, with connections old and new', async () => {
    await takeMigrated();
    const store = await open();
    await update(WITH_LATER);
    await query(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    await until(() =>
      store.ready().then(
        () => true,
        () => false,
      ),
    );
    await store.traces.append(sampleAppend());
    await store.close();
  });
});
