/** The schema of a database by its address: what it lacks, and adding that. */

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SqlMigration } from './migrations/sql-migration.ts';
import { databaseFile, isPostgres } from './open.ts';
import { StartError } from './start-error.ts';

export type { SqlMigration } from './migrations/sql-migration.ts';

/** The migrations that the database lacks, oldest first. Changes nothing. Throws StartError. */
export async function pendingMigrations(url: string): Promise<readonly SqlMigration[]> {
  if (isPostgres(url)) return await (await import('./engine/postgres/schema.ts')).pendingMigrations(url);
  const file = fileOf(url);
  return (await import('./engine/sqlite/schema.ts')).pendingMigrations(file);
}

/**
 * Applies what the database lacks; of several processes at once one does it. Throws StartError, also for a database that
 * may lose what it has acknowledged, unless that is accepted.
 */
export async function applyMigrations(url: string, mayForget = false): Promise<void> {
  await (isPostgres(url) ? migratePostgres(url, mayForget) : migrateFile(fileOf(url)));
}

function fileOf(url: string): string {
  const file = databaseFile(url);
  if (file === null)
    throw new StartError('a database in memory is new whenever it is opened: there is none to migrate');
  return file;
}

async function migrateFile(file: string): Promise<void> {
  const [{ openDatabase }, { takeLock }] = await Promise.all([
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

async function migratePostgres(url: string, mayForget: boolean): Promise<void> {
  const { refuseForgetful, updateSchema } = await import('./engine/postgres/schema.ts');
  await updateSchema({ url, inspect: mayForget ? async () => undefined : refuseForgetful });
}
