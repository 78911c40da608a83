/** Where a server under test keeps its data. The project of the test run decides which kind of database that is. */

import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { inject } from 'vitest';
import { createDatabases, query, type Template } from './postgres-databases.ts';
import { memoryFolder, temporaryFolder } from './temp.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The project's own. */
    store: 'sqlite' | 'memory' | 'postgres';
    /** A SQLite database with the schema and nothing in it, which the setup of the project "sqlite" made. */
    emptyFile: string;
    /** What the setup of the project "postgres" started. */
    postgres: { readonly address: string; readonly template: Template };
  }
}

export const TEST_SECRET = '0123456789abcdef0123456789abcdef';

/** One database; servers that are started in it one after another find what the one before left. */
export type Place = {
  readonly url: string;
  /** The settings that lead a server here. */
  readonly environment: { readonly [name: string]: string };
  /** The bytes of every file of the database, as Latin-1. */
  contents(): Promise<readonly string[]>;
  /** Throws when the database itself finds something damaged. */
  checkIntegrity(): Promise<void>;
  remove(): Promise<void>;
};

const PLACES = { sqlite: createFilePlace, memory: createMemoryPlace, postgres: createPostgresPlace };

/** An empty place of the project's kind. */
export async function createPlace(): Promise<Place> {
  return await PLACES[inject('store')]();
}

/** Names no secret: a server writes its own beside the file. */
function createFilePlace(): Place {
  const folder = temporaryFolder(memoryFolder() ?? undefined);
  const file = join(folder.path, 'spandrel.db');
  copyFileSync(inject('emptyFile'), file);
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
    remove: async () => folder.remove(),
  };
}

function createMemoryPlace(): Place {
  const url = 'sqlite::memory:';
  return {
    url,
    environment: { SPANDREL_DATABASE_URL: url, SPANDREL_SECRET: TEST_SECRET },
    contents: async () => [],
    checkIntegrity: async () => undefined,
    remove: async () => undefined,
  };
}

const READ_FILES = `
  SELECT pg_read_binary_file('base/' || oid || '/' || file) AS bytes
  FROM pg_database, pg_ls_dir('base/' || oid) AS file
  WHERE datname = current_database()`;

/** Every index against its own order, and every row against its index. */
const CHECK_INDEXES = `
  SELECT bt_index_check(pg_class.oid, true)
  FROM pg_class JOIN pg_am ON pg_am.oid = relam
  WHERE relkind = 'i' AND amname = 'btree' AND relpersistence = 'p'`;

export async function createPostgresPlace(): Promise<Place> {
  const { address, template } = inject('postgres');
  const databases = createDatabases(address);
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
    remove: () => databases.dropDatabase(url),
  };
}
