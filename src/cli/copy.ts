/** Moves a database from SQLite to PostgreSQL. */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyDatabase } from '../storage/copy/copy.ts';
import { databaseFile } from '../storage/open.ts';
import { createCopyProgress } from './copy-progress.ts';
import type { Output } from './io.ts';

type CopyWish = { readonly from: string; readonly to: string };

/** Resolves with what to print. Rejects with one line for the operator. */
export async function copy({ from, to }: CopyWish, progressTo: Output): Promise<string> {
  const progress = createCopyProgress(progressTo, () => performance.now());
  try {
    const rows = await copyDatabase({ from, to, report: progress.report });
    return `copied and verified ${rows} rows\n${secretHint(from)}\n`;
  } finally {
    progress.end();
  }
}

/** Where the secret is, never what it is: keys that were given out work only under the secret they were made with. */
function secretHint(from: string): string {
  const file = join(dirname(databaseFile(from) ?? ''), 'secret');
  return existsSync(file)
    ? `start the new server with SPANDREL_SECRET set to the content of ${file}`
    : 'start the new server with the SPANDREL_SECRET of the old one';
}
