import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { POSTGRES_TABLES, SQLITE_TABLES } from '../../src/storage/tables/tables.ts';

/** What is said about all tables. */
const ABOUT_ALL = ['beyond-mapper', 'kinds', 'managed', 'tables'];

it('every table is described in the file of its name, and every description belongs to a store', () => {
  const files = readdirSync(new URL('../../src/storage/tables', import.meta.url)).map((name) =>
    name.replace(/\.ts$/, ''),
  );
  const tables = new Set([...SQLITE_TABLES, ...POSTGRES_TABLES].map((table) => table.meta.tableName));
  expect(files.filter((name) => !ABOUT_ALL.includes(name)).sort()).toEqual(
    [...tables].map((name) => name.replaceAll('_', '-')).sort(),
  );
});
