/** Copies the database file of a running server. */

import { resolve } from 'node:path';
import { readConfig } from '../config.ts';
import { backupDatabase } from '../storage/open.ts';

type Environment = { readonly [name: string]: string | undefined };

/** Rejects with one line for the operator. */
export async function backup(environment: Environment, to: string): Promise<void> {
  const target = resolve(to);
  await backupDatabase(readConfig(environment).databaseUrl, target);
  process.stdout.write(
    `backed up to ${target}\nKeep the root secret with it: SPANDREL_SECRET, or the file beside the database.\n`,
  );
}
