/** Opens the database for commands that no API key can be used for. */

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Config, readConfig } from '../config/config.ts';
import { readSecrets } from '../config/secret-file.ts';
import type { RandomBytes } from '../domain/clock.ts';
import { openRootKeys, type RootSecrets } from '../domain/organization/secret-rotation.ts';
import type { RootKeys } from '../domain/secrets.ts';
import type { Store } from '../domain/store.ts';
import { databaseFile, isPostgres, openStore } from '../storage/open.ts';
import type { CommandIo } from './io.ts';

type OpenDatabase = {
  readonly store: Store;
  readonly rootKeys: RootKeys;
  readonly secrets: RootSecrets;
  /** Where the secrets are files; null: they are settings. */
  readonly secretFolder: string | null;
  readonly keyPrefixes: readonly string[];
  readonly random: RandomBytes;
};

/** Runs `act` on the database of the environment, and closes it. Rejects with one line for the operator. */
export async function withDatabase<R>(
  { environment, stderr }: CommandIo,
  act: (database: OpenDatabase) => Promise<R>,
): Promise<R> {
  const config = readConfig(environment);
  const printLine = (_fields: object, message: string) => void stderr.write(`spandrel: ${message}\n`);
  const found = findSecrets(config);
  const store = await openStore({
    url: config.databaseUrl,
    telemetryUrl: config.telemetryUrl,
    queueMaxBytes: config.limits.requests.bodyBytes,
    connectionsMax: config.databaseConnectionsMax,
    mayLoseWrites: config.databaseMayLoseWrites,
    writer: 'here',
    log: { warn: printLine, error: printLine },
  });
  try {
    const rootKeys = openRootKeys(found.secrets, await store.installation.readSecret());
    return await act({ store, rootKeys, ...found, keyPrefixes: config.keyPrefixes, random: randomBytes });
  } finally {
    await store.close();
  }
}

/** The secret of an existing database. Creates neither a secret nor a database. */
function findSecrets({ databaseUrl, secrets }: Config): Pick<OpenDatabase, 'secrets' | 'secretFolder'> {
  const file = databaseFile(databaseUrl);
  if (file === null && !isPostgres(databaseUrl))
    throw new Error(
      'a database in memory is gone with its server; set SPANDREL_DATABASE_URL to the one the server uses',
    );
  if (file !== null && !existsSync(file))
    throw new Error(`there is no database at ${file}; set SPANDREL_DATABASE_URL to the one the server uses`);
  if (secrets !== null) return { secrets, secretFolder: null };
  if (file === null) throw new Error('SPANDREL_SECRET must be set for this database');
  const secretFolder = dirname(file);
  return { secrets: readSecrets(secretFolder), secretFolder };
}
