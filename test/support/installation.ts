/** A server's folder after its first start and a clean end, for tests of what comes then: a copy takes no time. */

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { spawnServer } from './server.ts';
import { temporaryFolder } from './temp.ts';

export type Installation = {
  /** Puts the database and the secret into a folder, as `spandrel.db` and `secret`. */
  copyTo(folder: string): void;
};

/** For all tests of a file; the keys are those that every spawned server is given. */
export function useInstallation(): Installation {
  const origin = temporaryFolder();
  beforeAll(async () => {
    const server = await spawnServer({ SPANDREL_DATABASE_URL: `sqlite:${join(origin.path, 'spandrel.db')}` });
    await server.stop('SIGTERM');
  });
  afterAll(() => origin.remove());
  return { copyTo: (folder) => cpSync(origin.path, folder, { recursive: true }) };
}
