/** Moves a database from SQLite to PostgreSQL. */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyDatabase } from '../storage/copy/copy.ts';
import { databaseFile } from '../storage/open.ts';
import { createCopyProgress } from './copy-progress.ts';
import type { Output } from './io.ts';

type CopyOptions = { readonly from: string; readonly to: string };

/** Resolves with what to print. Rejects with one line for the operator. */
export async function copy({ from, to }: CopyOptions, progressTo: Output): Promise<string> {
  const progress = createCopyProgress(progressTo, () => performance.now());
  try {
    const rows = await copyDatabase({ from, to, report: progress.report });
    return `copied and verified ${rows} rows\n${secretHint(from)}\n`;
  } finally {
    progress.end();
  }
}

/** Names the place of the secret, never the secret itself. Existing keys work only with the secret they were created under. */
function secretHint(from: string): string {
  const file = join(dirname(databaseFile(from) ?? ''), 'secret');
  return existsSync(file)
    ? `start the new server with SPANDREL_SECRET set to the content of ${file}`
    : 'start the new server with the SPANDREL_SECRET of the old one';
}
