/** Mints a key for an administrator directly in the database, for when every key that could do it is lost. */

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { checkSecret } from '../domain/bootstrap.ts';
import { recoverAdministrator } from '../domain/recovery.ts';
import { deriveRootKeys } from '../domain/secrets.ts';
import { readSecret } from '../secret-file.ts';
import { databaseFile, isPostgres, openStore } from '../storage/open.ts';

type Environment = { readonly [name: string]: string | undefined };

/** Resolves with the token. Rejects with one line for the operator. */
export async function mintAdminKey(environment: Environment, email: string): Promise<string> {
  const config = readConfig(environment);
  const rootKeys = deriveRootKeys(findSecret(config));
  const store = await openStore({
    url: config.databaseUrl,
    queueMaxBytes: config.limits.ingestQueueMaxBytes,
    connectionsMax: config.databaseConnectionsMax,
    mayForget: config.databaseMayForget,
    log: { warn: tell, error: tell },
  });
  try {
    await checkSecret({ store: store.installation, rootKeys });
    const [keyPrefix = 'sk-lw-'] = config.keyPrefixes;
    const deps = { store: store.management, rootKeys, keyPrefix, random: randomBytes };
    const token = await recoverAdministrator(deps, email, Date.now());
    if (token === null) throw new Error(`no active member with the role ADMIN has the e-mail ${email}`);
    return token;
  } finally {
    await store.close();
  }
}

/** Nothing is created here: a new secret, or a new database, could not belong to what is to be recovered. */
function findSecret({ databaseUrl, secret }: Config): string {
  const file = databaseFile(databaseUrl);
  if (file === null && !isPostgres(databaseUrl)) throw new Error('a database in memory holds nothing to recover');
  if (file !== null && !existsSync(file)) throw new Error(`there is no database ${file}`);
  if (secret !== null) return secret;
  if (file === null) throw new Error('SPANDREL_SECRET must be set for this database');
  return readSecret(dirname(file));
}

function tell(_fields: object, message: string): void {
  process.stderr.write(`spandrel: ${message}\n`);
}
