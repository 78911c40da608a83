/** The database of a server under test. The project of the test run determines its kind. */

import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { inject } from 'vitest';
import { createDatabases, createPersistentQuery, query, type Template } from './postgres-databases.ts';
import { memoryFolder, temporaryFolder } from './temp.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The project's own. */
    store: 'sqlite' | 'memory' | 'postgres';
    /** An empty SQLite database with the schema, made by the setup of the project "sqlite". */
    emptyFile: string;
    /** Set by the setup of the project "postgres". */
    postgres: { readonly address: string; readonly template: Template };
  }
}

export const TEST_SECRET = '0123456789abcdef0123456789abcdef';

/** One database; servers started on it one after another find the earlier data. */
export type TestDatabase = {
  readonly url: string;
  /** The settings of a server for this database. */
  readonly environment: { readonly [name: string]: string };
  /** The bytes of every file of the database, as Latin-1. */
  contents(): Promise<readonly string[]>;
  /** Runs a statement that changes rows. SQLite: only while no server has the file open. */
  execute(statement: string): Promise<void>;
  /** Throws when the database reports damage. */
  checkIntegrity(): Promise<void>;
  remove(): Promise<void>;
};

const FACTORIES = {
  sqlite: () => createFileDatabase(),
  memory: createMemoryDatabase,
  postgres: createPostgresTestDatabase,
};

/** Creates a database of the kind of the project. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return await FACTORIES[inject('store')]();
}

/** Creates one with the content of another: the bytes of a SQLite file, or a PostgreSQL script for an empty database. */
export async function restoreTestDatabase(content: Buffer): Promise<TestDatabase> {
  if (inject('store') === 'sqlite') return createFileDatabase((file) => writeFileSync(file, content));
  const database = await createPostgresTestDatabase();
  await query(database.url, `DROP SCHEMA public CASCADE; CREATE SCHEMA public; ${content}`);
  return database;
}

function createFileDatabase(create = (file: string) => copyFileSync(inject('emptyFile'), file)): TestDatabase {
  const folder = temporaryFolder(memoryFolder() ?? undefined);
  create(fileIn(folder.path));
  return databaseIn(folder);
}

const fileIn = (folder: string) => join(folder, 'spandrel.db');

/** The SQLite file of a folder, `spandrel.db`. Sets no secret: a server creates one beside the file. */
export function databaseIn(folder: { readonly path: string; remove(): void }): TestDatabase {
  const file = fileIn(folder.path);
  const url = `sqlite:${file}`;
  return {
    url,
    environment: { SPANDREL_DATABASE_URL: url },
    async contents() {
      const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
      return files.map((each) => readFileSync(join(each.parentPath, each.name), 'latin1'));
    },
    async checkIntegrity() {
      const database = new Database(file, { readonly: true });
      const found = database.pragma('integrity_check', { simple: true });
      database.close();
      if (found !== 'ok') throw new Error(`SQLite found damage: ${found}`);
    },
    async execute(statement) {
      const database = new Database(file);
      database.exec(statement);
      database.close();
    },
    remove: async () => folder.remove(),
  };
}

export function createMemoryDatabase(): TestDatabase {
  const url = 'sqlite::memory:';
  return {
    url,
    environment: { SPANDREL_DATABASE_URL: url, SPANDREL_SECRET: TEST_SECRET },
    contents: async () => [],
    execute: () => Promise.reject(new Error('a database in memory belongs to its server alone')),
    checkIntegrity: async () => undefined,
    remove: async () => undefined,
  };
}

const READ_FILES = `
  SELECT pg_read_binary_file('base/' || oid || '/' || file) AS bytes
  FROM pg_database, pg_ls_dir('base/' || oid) AS file
  WHERE datname = current_database()`;

/** Checks the order of every index, and that it holds every row. */
const CHECK_INDEXES = `
  SELECT bt_index_check(pg_class.oid, true)
  FROM pg_class JOIN pg_am ON pg_am.oid = relam
  WHERE relkind = 'i' AND amname = 'btree' AND relpersistence = 'p'`;

/** Creates and drops the databases of this worker. */
const runOnServer = createPersistentQuery();

export async function createPostgresTestDatabase(): Promise<TestDatabase> {
  const { address, template } = inject('postgres');
  const databases = createDatabases(address, runOnServer);
  const url = await databases.createDatabase(template);
  return {
    url,
    environment: { SPANDREL_DATABASE_URL: url, SPANDREL_SECRET: TEST_SECRET },
    async contents() {
      await query(url, 'CHECKPOINT');
      return (await query(url, READ_FILES)).map(({ bytes }) => bytes.toString('latin1'));
    },
    async checkIntegrity() {
      await query(url, 'CREATE EXTENSION IF NOT EXISTS amcheck');
      await query(url, CHECK_INDEXES);
    },
    async execute(statement) {
      await query(url, statement);
    },
    remove: () => databases.dropDatabase(url),
  };
}
