import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, pendingMigrations } from '../../src/storage/engine/sqlite/schema.ts';
import { SQLITE_MIGRATIONS } from '../../src/storage/migrations/sqlite.ts';
import { REFERENCES, WITHOUT_ROWID } from '../../src/storage/tables/beyond-mapper.ts';
import { SQLITE_TABLES } from '../../src/storage/tables/tables.ts';
import { temporaryFolder } from '../support/temp.ts';
import { askMigrator, differencesOf, withMore } from './schema-comparison.ts';

const LATER = { name: 'sqlite-9999-later', statements: ['CREATE TABLE later (x)', 'INSERT INTO later VALUES (1)'] };
const WITH_LATER = [...SQLITE_MIGRATIONS, LATER];
const NAMES = SQLITE_MIGRATIONS.map(({ name }) => name);

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'spandrel.db');
});
afterEach(() => folder.remove());

function read<Row>(sql: string): Row[] {
  const db = new Database(file, { readonly: true });
  try {
    return db.prepare<[], Row>(sql).all();
  } finally {
    db.close();
  }
}

const tableNames = () =>
  read<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).map((row) => row.name);

describe('the tables of SQLite', () => {
  beforeEach(() => void openDatabase(file).close());

  it('are as described: the mapper finds nothing to change', async () => {
    expect(await differencesOf(`sqlite:${file}`, SQLITE_TABLES)).toEqual([]);
  });

  it('are found to lack a column and an index that are described and in no migration', async () => {
    expect(await differencesOf(`sqlite:${file}`, withMore(SQLITE_TABLES))).toEqual([
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
    expect(await askMigrator(`sqlite:${file}`, SQLITE_MIGRATIONS)).toEqual({ executed: NAMES, pending: [] });
    expect(await askMigrator(`sqlite:${file}`, WITH_LATER)).toEqual({ executed: NAMES, pending: [LATER.name] });
  });

  it('are followed by those that came since, and by nothing twice', () => {
    expect(pendingMigrations(file, WITH_LATER)).toEqual(WITH_LATER);
    expect(existsSync(file)).toBe(false);
    openDatabase(file).close();
    expect(pendingMigrations(file, WITH_LATER)).toEqual([LATER]);
    for (let start = 0; start < 2; start += 1) openDatabase(file, WITH_LATER).close();
    expect(read('SELECT x FROM later')).toEqual([{ x: 1 }]);
    expect(pendingMigrations(file, WITH_LATER)).toEqual([]);
    expect(() => openDatabase(file)).toThrow(/written by a newer version/);
    expect(() => pendingMigrations(file)).toThrow(/written by a newer version/);
  });

  it('are all noted in a new database, which is made as it is described today', () => {
    openDatabase(file, WITH_LATER).close();
    expect(pendingMigrations(file, WITH_LATER)).toEqual([]);
    expect(tableNames()).not.toContain('later');
  });

  it('are all there or none: one that fails takes the others of its start along', () => {
    const broken = {
      name: 'sqlite-9999-broken',
      statements: ['CREATE TABLE later (x)', 'INSERT INTO nowhere VALUES (1)'],
    };
    expect(() => openDatabase(file, [broken])).toThrow(/no such table: nowhere/);
    expect(tableNames()).toEqual([]);
    openDatabase(file).close();
    expect(() => openDatabase(file, [...SQLITE_MIGRATIONS, broken])).toThrow(/no such table: nowhere/);
    expect(tableNames()).not.toContain('later');
    expect(pendingMigrations(file, WITH_LATER)).toEqual([LATER]);
  });
});
