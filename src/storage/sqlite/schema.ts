/** Finds out what a database file is before anything is written to it, and brings it up to date. */

import { existsSync } from 'node:fs';
import type { SqlMigration } from '../orm/migrations/sql-migration.ts';
import { APPLICATION_ID, SQLITE_MIGRATIONS } from '../orm/migrations/sqlite.ts';
import { StartError } from '../start-error.ts';
import { type Database, openReadHandle, openWriteHandle } from './connection.ts';
import { sqliteCode } from './failures.ts';

const MIGRATIONS_TABLE = 'mikro_orm_migrations';

/** Opens the database for writing, with the current schema. `migrate` runs what is missing. Throws StartError. */
export async function openDatabase(file: string, migrate: (db: Database) => Promise<void>): Promise<Database> {
  const db = openChecked(file);
  try {
    if (pendingOn(db).length > 0) await migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw asStartError(file, error, 'writing');
  }
}

/** The migrations that a database lacks, oldest first. Changes nothing: a file that is missing stays so. Throws StartError. */
export function pendingMigrations(file: string): readonly SqlMigration[] {
  if (!existsSync(file)) return SQLITE_MIGRATIONS;
  try {
    const db = openReadHandle(file);
    try {
      refuseForeign(db, file);
      return pendingOn(db);
    } finally {
      db.close();
    }
  } catch (error) {
    throw asStartError(file, error, 'reading');
  }
}

function openChecked(file: string): Database {
  try {
    return openWriteHandle(file, (db) => refuseForeign(db, file));
  } catch (error) {
    throw asStartError(file, error, 'writing');
  }
}

function refuseForeign(db: Database, file: string): void {
  const tables = readNames(
    db,
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  );
  const isOurs = db.pragma('application_id', { simple: true }) === APPLICATION_ID;
  // A start that was killed half-way may leave the table of migrations alone.
  if (!isOurs && tables.some((name) => name !== MIGRATIONS_TABLE)) {
    throw new StartError(`the file ${file} is the database of another program; choose another file`);
  }
  const known = new Set(SQLITE_MIGRATIONS.map((migration) => migration.name));
  if (appliedMigrations(db).some((name) => !known.has(name))) {
    throw new StartError(`the database ${file} was written by a newer version of Spandrel; start that version`);
  }
}

function pendingOn(db: Database): readonly SqlMigration[] {
  const applied = new Set(appliedMigrations(db));
  return SQLITE_MIGRATIONS.filter((migration) => !applied.has(migration.name));
}

function appliedMigrations(db: Database): readonly string[] {
  const exists = readNames(db, `SELECT name FROM sqlite_schema WHERE name = '${MIGRATIONS_TABLE}'`).length > 0;
  return exists ? readNames(db, `SELECT name FROM ${MIGRATIONS_TABLE}`) : [];
}

function readNames(db: Database, sql: string): readonly string[] {
  return db.prepare<[], string>(sql).pluck().all();
}

function asStartError(file: string, error: unknown, purpose: 'reading' | 'writing'): unknown {
  const code = sqliteCode(error);
  if (code === '') return error;
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return new StartError(`the file ${file} is no SQLite database, or a damaged one`, { cause: error });
  }
  const reason = error instanceof Error ? error.message : code;
  return new StartError(`the database ${file} cannot be opened for ${purpose}: ${reason}`, { cause: error });
}
