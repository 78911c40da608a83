/** Checks a database file before anything is written to it, and brings its schema up to date. */

import { existsSync } from 'node:fs';
import {
  type DatabaseFacts,
  type InstallationRow,
  READ_INSTALLATION,
  READ_PROVIDERS,
  type StoredProvider,
  toInstalled,
} from '../../database-facts.ts';
import { codeOf, StartError } from '../../errors.ts';
import {
  checkSchema,
  type FoundSchema,
  fingerprintOf,
  type KnownSchemas,
  type Version,
  versionAfter,
} from '../../migrations/check-schema.ts';
import type { Migration } from '../../migrations/migration.ts';
import { LIST_APPLIED, MIGRATIONS_TABLE, NOTE_APPLIED } from '../../migrations/migrations-table.ts';
import { APPLICATION_ID, SQLITE_SCHEMAS } from '../../migrations/sqlite.ts';
import { type Database, openWriteHandle, withReadHandle } from './connection.ts';
import { describeSchema } from './describe-schema.ts';
import { describeFailure } from './failures.ts';

// The same table as the object mapper's own Migrator creates.
const CREATE_MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
  id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  name text NOT NULL,
  executed_at datetime NOT NULL DEFAULT (strftime('%s', 'now') * 1000)
)`;

const OTHER_TABLE = `SELECT 1 FROM sqlite_schema
  WHERE type = 'table' AND name <> ? AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

/** Opens the database for writing and applies missing migrations. Throws StartError. */
export function openDatabase(file: string, known = SQLITE_SCHEMAS): Database {
  let pending: readonly Migration[] = [];
  const db = openChecked(file, (opened) => {
    pending = pendingOn(opened, file, known);
  });
  try {
    if (pending.length > 0) db.transaction(() => apply(db, known, pending)).immediate();
    return db;
  } catch (error) {
    db.close();
    throw asStartError(file, error, 'writing');
  }
}

/** The missing migrations, oldest first. Changes nothing and creates no file. Throws StartError. */
export function pendingMigrations(file: string, known = SQLITE_SCHEMAS): readonly Migration[] {
  if (!existsSync(file)) return known.migrations;
  try {
    return withReadHandle(file, (db) => pendingOn(db, file, known));
  } catch (error) {
    throw asStartError(file, error, 'reading');
  }
}

/** What `spandrel doctor` reads, beside a server that may use the file. Throws StartError for a file that no server would open. */
export function inspectFile(file: string): DatabaseFacts {
  const pending = pendingMigrations(file).map(({ name }) => name);
  const facts = { about: 'SQLite', pending, clockMs: null, connectionsMax: null, installed: null };
  if (!existsSync(file)) return facts;
  try {
    return withReadHandle(file, (db) => {
      const about = `SQLite ${db.prepare<[], string>('SELECT sqlite_version()').pluck().get()}`;
      if (pending.length > 0) return { ...facts, about };
      const row = db.prepare<[], InstallationRow>(READ_INSTALLATION).get();
      const providers = db.prepare<[], StoredProvider>(READ_PROVIDERS).all();
      return { ...facts, about, installed: toInstalled(row, providers) };
    });
  } catch (error) {
    throw asStartError(file, error, 'reading');
  }
}

function apply(db: Database, { migrations }: KnownSchemas, pending: readonly Migration[]): void {
  db.exec(CREATE_MIGRATIONS_TABLE);
  const record = db.prepare<[string]>(`${NOTE_APPLIED} (?)`);
  const versions = readVersions(db);
  let before = versions.at(-1)?.servesFrom ?? 1;
  const added = migrations.slice(versions.length).map((migration) => {
    if (pending.includes(migration)) {
      db.exec(migration.script);
      record.run(migration.name);
    }
    const number = migrations.indexOf(migration) + 1;
    const version = versionAfter(migration, { number, before, description: [] });
    before = version.servesFrom;
    return version;
  });
  const store = db.prepare(`INSERT INTO schema_versions
    (number, name, text_hash, description, fingerprint, serves_from, is_complete)
    VALUES (@number, @name, @textHash, @description, @fingerprint, @servesFrom, 1)`);
  for (const { isComplete: _, ...version } of added) store.run(version);
  // Migrations that come together are one transaction, so that only the newest is ever compared with the tables.
  const description = describeSchema(db);
  db.prepare(
    `UPDATE schema_versions SET (description, fingerprint) =
       (iif(number = @newest, @description, ''), iif(number = @newest, @fingerprint, ''))`,
  ).run({
    newest: migrations.length,
    description: description.join('\n'),
    fingerprint: fingerprintOf(description),
  });
}

function openChecked(file: string, inspect: (db: Database) => void): Database {
  try {
    return openWriteHandle(file, inspect);
  } catch (error) {
    throw asStartError(file, error, 'writing');
  }
}

function pendingOn(db: Database, file: string, known: KnownSchemas): readonly Migration[] {
  const isOwn = db.pragma('application_id', { simple: true }) === APPLICATION_ID;
  // A start that was killed may leave only the table of migrations.
  if (!isOwn && db.prepare<[string]>(OTHER_TABLE).get(MIGRATIONS_TABLE) !== undefined) {
    throw new StartError(`the file ${file} is the database of another program; choose another file`);
  }
  return checkSchema(`the database ${file}`, readSchema(db), known).pending;
}

function readSchema(db: Database): FoundSchema {
  return {
    applied: hasTable(db, MIGRATIONS_TABLE) ? db.prepare<[], string>(LIST_APPLIED).pluck().all() : [],
    versions: readVersions(db),
    description: describeSchema(db),
  };
}

function readVersions(db: Database): readonly Version[] {
  if (!hasTable(db, 'schema_versions')) return [];
  return db
    .prepare<[], Omit<Version, 'isComplete'>>(
      `SELECT number, name, text_hash AS textHash, serves_from AS servesFrom,
         iif(number = max(number) OVER (), description, '') AS description
       FROM schema_versions ORDER BY number`,
    )
    .all()
    .map((version) => ({ ...version, isComplete: true }));
}

function hasTable(db: Database, name: string): boolean {
  return db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(name) !== undefined;
}

function asStartError(file: string, error: unknown, purpose: 'reading' | 'writing'): unknown {
  const code = codeOf(error);
  if (code === '') return error;
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return new StartError(`the file ${file} is not a SQLite database, or it is damaged: put a backup in its place`, {
      cause: error,
    });
  }
  return new StartError(`the database ${file} cannot be opened for ${purpose}: ${describeFailure(error, file)}`, {
    cause: error,
  });
}
