/** A server's folder after a first start and clean stop; tests copy it instead of starting a server. */

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { spawnServer } from './server.ts';
import { temporaryFolder } from './temp.ts';

export type Installation = {
  /** Puts the database and the secret into a folder, as `spandrel.db` and `secret`. */
  copyTo(folder: string): void;
};

/** One for all tests of a file, with the keys that every spawned server has. */
export function useInstallation(): Installation {
  const origin = temporaryFolder();
  beforeAll(async () => {
    const server = await spawnServer({ SPANDREL_DATABASE_URL: `sqlite:${join(origin.path, 'spandrel.db')}` });
    await server.stop('SIGTERM');
  });
  afterAll(() => origin.remove());
  return { copyTo: (folder) => cpSync(origin.path, folder, { recursive: true }) };
}
