/** Copies the database file of a running server. */

import { resolve } from 'node:path';
import { readConfig } from '../config/config.ts';
import { backupDatabase } from '../storage/open.ts';
import type { Environment } from './io.ts';

/** Resolves with what to print. Rejects with one line for the operator. */
export async function backup(environment: Environment, to: string): Promise<string> {
  const target = resolve(to);
  await backupDatabase(readConfig(environment).databaseUrl, target);
  return `backed up to ${target}\nKeep the root secret with it: SPANDREL_SECRET, or the file beside the database.\n`;
}
