/** Finds and applies the migrations that a database lacks. */

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartError } from './errors.ts';
import type { SqlMigration } from './migrations/sql-migration.ts';
import { databaseFile, isPostgres } from './open.ts';

export type { SqlMigration } from './migrations/sql-migration.ts';

/** The migrations that the database lacks, oldest first. Changes nothing. Throws StartError. */
export async function pendingMigrations(url: string): Promise<readonly SqlMigration[]> {
  if (isPostgres(url)) return await (await import('./engine/postgres/schema.ts')).pendingMigrations(url);
  const file = fileOf(url);
  return (await import('./engine/sqlite/schema.ts')).pendingMigrations(file);
}

/**
 * Applies the missing migrations; of several processes at once, one does it. Throws StartError, also for a database
 * that may lose acknowledged writes, unless `mayLoseWrites` accepts that.
 */
export async function applyMigrations(url: string, mayLoseWrites = false): Promise<void> {
  await (isPostgres(url) ? migratePostgres(url, mayLoseWrites) : migrateFile(fileOf(url)));
}

function fileOf(url: string): string {
  const file = databaseFile(url);
  if (file === null)
    throw new StartError('a database in memory is new whenever it is opened: there is none to migrate');
  return file;
}

async function migrateFile(file: string): Promise<void> {
  const [{ openDatabase }, { acquireLock: takeLock }] = await Promise.all([
    import('./engine/sqlite/schema.ts'),
    import('./engine/sqlite/lock.ts'),
  ]);
  mkdirSync(dirname(file), { recursive: true });
  const lock = takeLock(file);
  try {
    openDatabase(file).close();
  } finally {
    lock.release();
  }
}

async function migratePostgres(url: string, mayLoseWrites: boolean): Promise<void> {
  const { refuseUnsafeCommits, updateSchema } = await import('./engine/postgres/schema.ts');
  await updateSchema({ url, inspect: mayLoseWrites ? async () => undefined : refuseUnsafeCommits });
}
