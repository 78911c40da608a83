/** The schema of a database by its address: what it lacks, and adding that. */

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { databaseFile, isPostgres } from './open.ts';
import type { SqlMigration } from './orm/migrations/sql-migration.ts';
import { StartError } from './start-error.ts';

export type { SqlMigration } from './orm/migrations/sql-migration.ts';

/** Receives what the object mapper has to say. */
export type Warn = (message: string) => void;

/** The migrations that the database lacks, oldest first. Changes nothing. Throws StartError. */
export async function pendingMigrations(url: string): Promise<readonly SqlMigration[]> {
  if (isPostgres(url)) return await (await import('./postgres/schema.ts')).pendingMigrations(url);
  const file = fileOf(url);
  return (await import('./sqlite/schema.ts')).pendingMigrations(file);
}

/**
 * Applies what the database lacks; of several processes at once one does it. Throws StartError, also for a database that
 * may lose what it has acknowledged, unless that is accepted.
 */
export async function applyMigrations(url: string, warn: Warn, mayForget = false): Promise<void> {
  await (isPostgres(url) ? migratePostgres(url, warn, mayForget) : migrateFile(fileOf(url), warn));
}

function fileOf(url: string): string {
  const file = databaseFile(url);
  if (file === null)
    throw new StartError('a database in memory is new whenever it is opened: there is none to migrate');
  return file;
}

async function migrateFile(file: string, warn: Warn): Promise<void> {
  const [{ openDatabase }, { takeLock }, { openOrm }] = await Promise.all([
    import('./sqlite/schema.ts'),
    import('./sqlite/lock.ts'),
    import('./sqlite/orm.ts'),
  ]);
  mkdirSync(dirname(file), { recursive: true });
  const lock = takeLock(file);
  try {
    const db = await openDatabase(file, async (outdated) => await (await openOrm(outdated, warn)).migrate());
    db.close();
  } finally {
    lock.release();
  }
}

async function migratePostgres(url: string, warn: Warn, mayForget: boolean): Promise<void> {
  const [{ updateSchema }, { refuseForgetful }] = await Promise.all([
    import('./postgres/schema.ts'),
    import('./postgres/durability.ts'),
  ]);
  await updateSchema({ url, inspect: mayForget ? async () => undefined : refuseForgetful, warn });
}
