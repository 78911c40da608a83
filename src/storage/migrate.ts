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

/** Applies what the database lacks; of several processes at once one does it. Throws StartError. */
export async function applyMigrations(url: string, warn: Warn): Promise<void> {
  await (isPostgres(url) ? migratePostgres(url, warn) : migrateFile(fileOf(url), warn));
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

async function migratePostgres(url: string, warn: Warn): Promise<void> {
  const [{ default: pg }, { updateSchema }, { openOrm }] = await Promise.all([
    import('pg'),
    import('./postgres/schema.ts'),
    import('./postgres/orm.ts'),
  ]);
  // Unlike a server, whoever migrates by hand waits as long as it takes.
  const pool = new pg.Pool({ connectionString: url, application_name: 'spandrel migrate', max: 1 });
  pool.on('error', () => undefined);
  try {
    await updateSchema({
      url,
      inspect: async () => undefined,
      migrate: async () => await (await openOrm(pool, warn)).migrate(),
    });
  } finally {
    await pool.end();
  }
}
