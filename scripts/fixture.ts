/**
 * Makes the next fixture: a database of today's schema for each store, filled through a running server, and what that
 * server answers. Every later build must upgrade and read it: see test/storage/fixtures.
 *
 *     npm run fixture -- <short name>
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { backupDatabase } from '../src/storage/open.ts';
import {
  FIXTURES,
  type FixtureStore,
  listFixtures,
  type NewFixture,
  writeFixture,
} from '../test/support/database-fixtures.ts';
import { startCluster } from '../test/support/postgres.ts';
import { query } from '../test/support/postgres-databases.ts';
import { temporaryFolder } from '../test/support/temp.ts';
import { fill } from './fixture/fill.ts';
import { dumpPostgres } from './fixture/postgres-dump.ts';

const PACKED_MAX_BYTES = 300 * 1024;
/**
 * Probes leave nothing behind, backfills begin only where a migration finds rows of an earlier build, and appends soon free
 * texts that are unused.
 */
const EMPTY_TABLES: readonly string[] = [
  ...['write_probe', 'backfills', 'unused_texts', 'search_pending'],
  // Answers and sessions are kept for a while only.
  ...['cached_answers', 'cached_bytes', 'sessions'],
  // Texts are moved where there is a ClickHouse.
  ...['removed_texts', 'text_moves', 'text_owner'],
];
const ROOT = new URL('..', import.meta.url).pathname;

const [name = ''] = process.argv.slice(2);
if (!/^[a-z0-9-]+$/.test(name)) throw new Error('usage: npm run fixture -- <short name of letters, digits and ->');

const number = String(listFixtures().length + 1).padStart(4, '0');
const folder = join(FIXTURES, `${number}-${name}`);
const secret = `the root secret of the fixture ${number}, which guards nothing`;
const madeBy = {
  version: String(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version),
  commit: execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim(),
};
mkdirSync(folder);
try {
  writeFileSync(join(folder, 'secret'), `${secret}\n`);
  keep('sqlite', await makeSqlite());
  keep('postgres', await makePostgres());
} catch (error) {
  rmSync(folder, { recursive: true });
  throw error;
}

function keep(store: FixtureStore, made: NewFixture): void {
  const packedBytes = writeFixture(folder, store, made);
  const line = `${store}: ${made.database.length} bytes, packed ${packedBytes}, ${made.facts.facts.length} facts\n`;
  if (packedBytes > PACKED_MAX_BYTES) throw new Error(`too large for the repository: ${line}`);
  process.stdout.write(line);
}

async function makeSqlite(): Promise<NewFixture> {
  const temporary = temporaryFolder();
  try {
    const url = `sqlite:${join(temporary.path, 'spandrel.db')}`;
    const copy = join(temporary.path, 'copy.db');
    const facts = await fill({ url, secret, madeBy });
    await backupDatabase(url, copy);
    refuseEmpty(emptyTables(copy));
    return { database: readFileSync(copy), facts };
  } finally {
    temporary.remove();
  }
}

async function makePostgres(): Promise<NewFixture> {
  const cluster = await startCluster();
  try {
    const url = await cluster.createDatabase({ name: 'template0', strategy: 'WAL_LOG' });
    const facts = await fill({ url, secret, madeBy });
    refuseEmpty(await emptyPostgresTables(url));
    const script = await dumpPostgres(url);
    const restored = await cluster.createDatabase({ name: 'template0', strategy: 'WAL_LOG' });
    await query(restored, script);
    if ((await dumpPostgres(restored)) !== script) throw new Error('the restored dump differs from the database');
    return { database: Buffer.from(script), facts };
  } finally {
    await cluster.remove();
  }
}

/** A new table needs data, or no later build would prove that it reads such rows. */
function refuseEmpty(tables: readonly string[]): void {
  const missing = tables.filter((table) => !EMPTY_TABLES.includes(table));
  if (missing.length > 0) throw new Error(`no rows in ${missing.join(', ')}: teach scripts/fixture to make some`);
}

function emptyTables(file: string): readonly string[] {
  const db = new Database(file, { readonly: true });
  const names = db
    .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'`)
    .pluck()
    .all();
  const empty = names.filter((table) => db.prepare(`SELECT 1 FROM "${table}" LIMIT 1`).get() === undefined);
  db.close();
  return empty;
}

async function emptyPostgresTables(url: string): Promise<readonly string[]> {
  const tables = await query(
    url,
    `SELECT relname AS table FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
  );
  const empty: string[] = [];
  for (const { table } of tables) {
    if ((await query(url, `SELECT FROM "${table}" LIMIT 1`)).length === 0) empty.push(table);
  }
  return empty;
}
