/** A server's folder after a first start and clean stop, and servers over such folders in the process of the test. */

import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { readOrCreateSecret } from '../../src/config/secret-file.ts';
import { startApp, type TestApp, type TestAppOptions } from './app.ts';
import { ADMIN_KEY, PROJECT_KEY } from './server.ts';
import { temporaryFolder } from './temp.ts';
import { databaseIn } from './test-database.ts';

export type Installation = {
  /** Puts the database and the secret into a folder, as `spandrel.db` and `secret`. */
  copyTo(folder: string): void;
};

/** The keys that every spawned server has. */
export const KNOWN_KEYS = { SPANDREL_BOOTSTRAP_PROJECT_KEY: PROJECT_KEY, SPANDREL_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY };

/** One for all tests of a file, with the keys that every spawned server has. */
export function useInstallation(): Installation {
  const origin = temporaryFolder();
  beforeAll(async () => {
    const app = await startIn(origin.path, { writer: 'in its thread' });
    await app.close();
  });
  afterAll(() => origin.remove());
  return { copyTo: (folder) => cpSync(origin.path, folder, { recursive: true }) };
}

/**
 * Starts a server over a folder in this process, which takes a tenth of the time that a process takes to load. Only a
 * writer in its thread locks the database against others.
 */
export function startIn(folder: string, options: TestAppOptions = {}): Promise<TestApp> {
  const { environment = {}, ...others } = options;
  const { current, previous } = readOrCreateSecret(folder, randomBytes);
  return startApp({
    ...others,
    environment: {
      ...KNOWN_KEYS,
      SPANDREL_SECRET: current,
      ...(previous === null ? {} : { SPANDREL_SECRET_PREVIOUS: previous }),
      ...environment,
    },
    database: databaseIn({ path: folder, remove: () => undefined }),
  });
}
