/** Copies a database file that is in use, as of one instant. */

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartError } from '../../errors.ts';
import { withReadHandle } from './connection.ts';
import { describeFailure } from './failures.ts';

/**
 * Copies within one read transaction, while writers go on; SQLite's page-wise backup would start over after each of
 * their commits. The target appears under its name once the copy is whole and on disk. Throws StartError.
 */
export function backupFile(source: string, target: string): void {
  if (existsSync(target)) throw new StartError(`the file ${target} exists already; choose another name`);
  if (!existsSync(source))
    throw new StartError(`there is no database at ${source}; set SPANDREL_DATABASE_URL to the one the server uses`);
  const draft = `${target}.part`;
  try {
    rmSync(draft, { force: true });
    copyInto(source, draft);
    check(draft);
    syncFile(draft);
    renameSync(draft, target);
    syncFile(dirname(target));
  } catch (error) {
    rmSync(draft, { force: true });
    if (error instanceof StartError) throw error;
    throw new StartError(`the backup failed: ${describeFailure(error, target)}`, { cause: error });
  }
}

function copyInto(source: string, draft: string): void {
  // Created here first, with rights for its owner alone.
  closeSync(openSync(draft, 'wx', 0o600));
  withReadHandle(source, (db) => db.prepare('VACUUM INTO ?').run(draft));
}

function check(draft: string): void {
  const found = withReadHandle(draft, (db) => db.pragma('quick_check(1)', { simple: true }));
  if (found !== 'ok')
    throw new StartError(
      `the copy is damaged, and so may be the database: ${String(found)}; keep all older copies, to restore one of them if the server reports damage, too`,
    );
}

function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
