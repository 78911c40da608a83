/** Checks a database file before anything is written to it, and brings its schema up to date. */

import { existsSync } from 'node:fs';
import { codeOf, messageOf, StartError } from '../../errors.ts';
import {
  findPending,
  findRunning,
  LIST_APPLIED,
  MIGRATIONS_TABLE,
  NOTE_APPLIED,
  type SqlMigration,
} from '../../migrations/sql-migration.ts';
import { APPLICATION_ID, SQLITE_MIGRATIONS } from '../../migrations/sqlite.ts';
import { type Database, openWriteHandle, withReadHandle } from './connection.ts';

// The same table as the object mapper's own Migrator creates.
const CREATE_MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
  id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  name text NOT NULL,
  executed_at datetime NOT NULL DEFAULT (strftime('%s', 'now') * 1000)
)`;

/** Opens the database for writing and applies missing migrations. Throws StartError. */
export function openDatabase(file: string, known = SQLITE_MIGRATIONS): Database {
  const db = openChecked(file, known);
  try {
    const pending = pendingOn(db, known);
    if (pending.length > 0) db.transaction(() => apply(db, known, pending)).immediate();
    return db;
  } catch (error) {
    db.close();
    throw asStartError(file, error, 'writing');
  }
}

/** The missing migrations, oldest first. Changes nothing and creates no file. Throws StartError. */
export function pendingMigrations(file: string, known = SQLITE_MIGRATIONS): readonly SqlMigration[] {
  if (!existsSync(file)) return known;
  try {
    return withReadHandle(file, (db) => {
      refuseForeign(db, file, known);
      return pendingOn(db, known);
    });
  } catch (error) {
    throw asStartError(file, error, 'reading');
  }
}

function apply(db: Database, known: readonly SqlMigration[], pending: readonly SqlMigration[]): void {
  db.exec(CREATE_MIGRATIONS_TABLE);
  const record = db.prepare<[string]>(`${NOTE_APPLIED} (?)`);
  for (const { statements } of findRunning(known, pending)) {
    for (const statement of statements) db.exec(statement);
  }
  for (const { name } of pending) record.run(name);
}

function openChecked(file: string, known: readonly SqlMigration[]): Database {
  try {
    return openWriteHandle(file, (db) => refuseForeign(db, file, known));
  } catch (error) {
    throw asStartError(file, error, 'writing');
  }
}

function refuseForeign(db: Database, file: string, known: readonly SqlMigration[]): void {
  const tables = readNames(
    db,
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  );
  const isOwn = db.pragma('application_id', { simple: true }) === APPLICATION_ID;
  // A start that was killed may leave only the table of migrations.
  if (!isOwn && tables.some((name) => name !== MIGRATIONS_TABLE)) {
    throw new StartError(`the file ${file} is the database of another program; choose another file`);
  }
  if (findPending(known, appliedMigrations(db)) === null) {
    throw new StartError(`the database ${file} was written by a newer version of Spandrel; start that version`);
  }
}

function pendingOn(db: Database, known: readonly SqlMigration[]): readonly SqlMigration[] {
  return findPending(known, appliedMigrations(db)) ?? [];
}

function appliedMigrations(db: Database): readonly string[] {
  const exists = readNames(db, `SELECT name FROM sqlite_schema WHERE name = '${MIGRATIONS_TABLE}'`).length > 0;
  return exists ? readNames(db, LIST_APPLIED) : [];
}

function readNames(db: Database, sql: string): readonly string[] {
  return db.prepare<[], string>(sql).pluck().all();
}

function asStartError(file: string, error: unknown, purpose: 'reading' | 'writing'): unknown {
  const code = codeOf(error);
  if (code === '') return error;
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return new StartError(`the file ${file} is no SQLite database, or a damaged one`, { cause: error });
  }
  return new StartError(`the database ${file} cannot be opened for ${purpose}: ${messageOf(error)}`, { cause: error });
}
