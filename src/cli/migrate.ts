/** Brings the schema of the database up to date before a server does it on its start. */

import { readConfig } from '../config.ts';
import { applyMigrations, pendingMigrations, type SqlMigration } from '../storage/migrate.ts';

type Environment = { readonly [name: string]: string | undefined };

/** Rejects with one line for the operator. */
export async function migrate(environment: Environment, isDryRun: boolean): Promise<void> {
  const { databaseUrl, databaseMayForget } = readConfig(environment);
  const pending = await pendingMigrations(databaseUrl);
  if (pending.length === 0) {
    process.stdout.write('up to date\n');
  } else if (isDryRun) {
    for (const migration of pending) process.stdout.write(textOf(migration));
  } else {
    await applyMigrations(databaseUrl, databaseMayForget);
    for (const { name } of pending) process.stdout.write(`applied ${name}\n`);
  }
}

function textOf({ name, statements }: SqlMigration): string {
  return [`-- pending: ${name}`, ...statements.map((statement) => `${statement};`), ''].join('\n');
}
