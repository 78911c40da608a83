/** Brings the schema of the database up to date before a server does it on its start. */

import { readConfig } from '../config/config.ts';
import { applyMigrations, type Migration, pendingMigrations, textOf } from '../storage/open.ts';
import type { Environment } from './io.ts';

/** Resolves with what to print. Rejects with one line for the operator. */
export async function migrate(environment: Environment, isDryRun: boolean): Promise<string> {
  const { databaseUrl, databaseMayLoseWrites } = readConfig(environment);
  const pending = await pendingMigrations(databaseUrl);
  if (pending.length === 0) return 'up to date\n';
  if (isDryRun) return pending.map(scriptOf).join('');
  await applyMigrations(databaseUrl, databaseMayLoseWrites);
  return pending.map(({ name }) => `applied ${name}\n`).join('');
}

function scriptOf(migration: Migration): string {
  return `-- pending: ${migration.name}\n${textOf(migration)}`;
}
