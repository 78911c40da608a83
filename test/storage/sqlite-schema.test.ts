import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeSchema } from '../../src/storage/engine/sqlite/describe-schema.ts';
import { openDatabase, pendingMigrations } from '../../src/storage/engine/sqlite/schema.ts';
import { REFERENCES, WITHOUT_ROWID } from '../../src/storage/entities/beyond-mapper.ts';
import { SQLITE_TABLES } from '../../src/storage/entities/entities.ts';
import { fingerprintOf } from '../../src/storage/migrations/check-schema.ts';
import { MIGRATIONS_TABLE } from '../../src/storage/migrations/migrations-table.ts';
import { SQLITE_SCHEMAS } from '../../src/storage/migrations/sqlite.ts';
import { runCli } from '../cli/run-cli.ts';
import { temporaryFolder } from '../support/temp.ts';
import { askMigrator, differencesOf, type Tables, withMigration, withMore } from './schema-comparison.ts';

const LATER = { name: 'sqlite-9999-later', script: 'CREATE TABLE later (x); INSERT INTO later VALUES (1)' };
const WITH_LATER = withMigration(SQLITE_SCHEMAS, LATER);
const MIGRATIONS = SQLITE_SCHEMAS.migrations;
const NAMES = MIGRATIONS.map(({ name }) => name);

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'spandrel.db');
});
afterEach(() => folder.remove());

function read<Row>(sql: string, from = file): Row[] {
  const db = new Database(from, { readonly: true });
  try {
    return db.prepare<[], Row>(sql).all();
  } finally {
    db.close();
  }
}

function execute(sql: string): void {
  const db = new Database(file);
  db.exec(sql);
  db.close();
}

/** A database as builds left it that knew only the first migration. */
function openFirst(path: string): void {
  const db = new Database(path);
  db.exec(`CREATE TABLE ${MIGRATIONS_TABLE} (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, name text NOT NULL);
    ${MIGRATIONS[0]?.script}; INSERT INTO ${MIGRATIONS_TABLE} (name) VALUES ('${NAMES[0]}')`);
  db.close();
}

const tableNames = () =>
  read<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).map((row) => row.name);

/** The mapper would remove triggers, which the tables are not described with. */
const TRIGGER = /^drop trigger if exists `(spans|evaluations)_texts_removed`$/;

async function findDifferences(tables: Tables): Promise<readonly string[]> {
  const found = (await differencesOf(`sqlite:${file}`, tables)).map((each) => each.trim());
  return found.filter((each) => !TRIGGER.test(each));
}

describe('the tables of SQLite', () => {
  beforeEach(() => void openDatabase(file).close());

  it('are as described: the mapper finds nothing to change', async () => {
    expect(await findDifferences(SQLITE_TABLES)).toEqual([]);
  });

  it('are found to lack a column and an index that are described and in no migration', async () => {
    expect(await findDifferences(withMore(SQLITE_TABLES))).toEqual([
      'alter table `members` add column `nickname` text null',
      'create index `members_by_nickname` on `members` (`organization_id`, `nickname`)',
    ]);
  });

  it('are kept by their keys where that is said', () => {
    const kept = read<{ name: string }>('SELECT name FROM pragma_table_list WHERE wr = 1 ORDER BY name');
    expect(kept.map(({ name }) => name)).toEqual(WITHOUT_ROWID);
  });

  it('refer to each other as is said', () => {
    const rows = read<{ source: string; seq: number; target: string; from: string; to: string; on_delete: string }>(
      `SELECT tables.name AS source, keys.seq, keys."table" AS target, keys."from", keys."to", keys.on_delete
       FROM pragma_table_list AS tables JOIN pragma_foreign_key_list(tables.name) AS keys ORDER BY source, keys.seq`,
    );
    const said = REFERENCES.flatMap(({ table, columns, to, toColumns, isDeletedWithIt }) =>
      columns.map((from, seq) => ({
        source: table,
        seq,
        target: to,
        from,
        to: toColumns[seq],
        on_delete: isDeletedWithIt ? 'CASCADE' : 'NO ACTION',
      })),
    );
    expect(rows).toEqual(said);
  });
});

describe('the migrations of SQLite', () => {
  it('are recorded so that the mapper’s own Migrator has nothing left to do', async () => {
    openDatabase(file).close();
    expect(await askMigrator(`sqlite:${file}`, MIGRATIONS)).toEqual({ executed: NAMES, pending: [] });
    expect(await askMigrator(`sqlite:${file}`, WITH_LATER.migrations)).toEqual({
      executed: NAMES,
      pending: [LATER.name],
    });
  });

  it('all run in a new database, and in an older one those that came since, none twice', () => {
    const other = join(folder.path, 'new.db');
    expect(pendingMigrations(file, WITH_LATER)).toEqual(WITH_LATER.migrations);
    expect(existsSync(file)).toBe(false);
    openDatabase(file).close();
    expect(pendingMigrations(file, WITH_LATER).map(({ name }) => name)).toEqual([LATER.name]);
    for (const each of [file, file, other]) openDatabase(each, WITH_LATER).close();
    for (const each of [file, other]) {
      expect(pendingMigrations(each, WITH_LATER)).toEqual([]);
      expect(read('SELECT x FROM later', each)).toEqual([{ x: 1 }]);
    }
    expect(read('SELECT * FROM schema_versions', file)).toEqual(read('SELECT * FROM schema_versions', other));
  });

  it('upgrade a database of the first one, which recorded nothing of its schema', () => {
    openFirst(file);
    expect(pendingMigrations(file).map(({ name }) => name)).toEqual(NAMES.slice(1));
    openDatabase(file).close();
    const other = join(folder.path, 'new.db');
    openDatabase(other).close();
    expect(read('SELECT * FROM schema_versions', file)).toEqual(read('SELECT * FROM schema_versions', other));
  });

  it('are all there or none: one that fails takes the others of its start along', () => {
    const broken = {
      name: 'sqlite-9999-broken',
      script: 'CREATE TABLE later (x); INSERT INTO nowhere VALUES (1)',
    };
    expect(() => openDatabase(file, withMigration(SQLITE_SCHEMAS, broken))).toThrow(/no such table: nowhere/);
    expect(tableNames()).toEqual([]);
    openDatabase(file).close();
    expect(() => openDatabase(file, withMigration(SQLITE_SCHEMAS, broken))).toThrow(/no such table: nowhere/);
    expect(tableNames()).not.toContain('later');
    expect(pendingMigrations(file, WITH_LATER).map(({ name }) => name)).toEqual([LATER.name]);
  });
});

/** Databases that do not fit, and what a start says of them. */
const UNFIT: readonly (readonly [string, string, RegExp])[] = [
  [
    'a missing index',
    'DROP INDEX members_by_email',
    /changed by hand: it lacks index members\.members_by_email unique/,
  ],
  ['an extra column', 'ALTER TABLE members ADD COLUMN nickname text', /it has column members\.nickname text; undo/],
  ['a foreign table', 'CREATE TABLE notes (a, b); CREATE INDEX i ON notes (a)', /by hand: it has table notes; undo/],
  ['a half-run migration', 'DROP TABLE backfills', /it lacks table backfills; undo the change or restore a backup$/],
  [
    'a migration of a newer version',
    "INSERT INTO mikro_orm_migrations (name) VALUES ('sqlite-9998-tomorrow')",
    /written by a newer version of Spandrel, which has the migration sqlite-9998-tomorrow; start that version/,
  ],
  [
    'a migration that had another text',
    "UPDATE schema_versions SET text_hash = 'other' WHERE number = 2",
    /written by an unreleased build, whose migration sqlite-0002-schema-versions is not the one of this build/,
  ],
  [
    'a record that is missing',
    'DELETE FROM schema_versions WHERE number = 2',
    /written by an unreleased build, whose migration sqlite-00/,
  ],
];

describe('a database of another schema', () => {
  it.each(UNFIT)('is refused in one line and stays as it is: %s', async (_, change, line) => {
    openDatabase(file).close();
    execute(change);
    const before = readFileSync(file);
    for (const open of [pendingMigrations, openDatabase]) expect(() => open(file)).toThrow(line);
    for (const args of [['migrate', '--dry-run'], ['migrate'], ['serve']]) {
      const { code, stdout, stderr } = await runCli(args, { SPANDREL_DATABASE_URL: `sqlite:${file}` });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^spandrel: [^\n]+\n$/);
    }
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('without a record is named after the build that wrote it, or called changed or older', () => {
    openFirst(file);
    execute('ALTER TABLE members ADD COLUMN nickname text; DROP TABLE monitors');
    expect(() => openDatabase(file)).toThrow(
      /were changed by hand, or it was written by an older build: it lacks table monitors; it has column members\.nickname text; undo the change or restore a backup \(databases of builds since 24 November 2026/,
    );
    const db = new Database(file, { readonly: true });
    const fingerprint = fingerprintOf(describeSchema(db));
    db.close();
    const known = { ...SQLITE_SCHEMAS, unsupported: new Map([[fingerprint, 'abc of 1 November']]) };
    expect(() => openDatabase(file, known)).toThrow(
      /was written by the older build abc of 1 November, which had other tables; databases of builds since/,
    );
  });
});
