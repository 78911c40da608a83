/**
 * Fills the log of a database with thirteen months of events, as the product would have written them:
 * node bench/fill/main.ts --database sqlite:/tmp/filled/spandrel.db --events 10000000
 * A fresh database gets its first organization, and the keys of it are printed; the settings of the server count.
 */

import { randomBytes } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { readConfig } from '../../src/config.ts';
import { bootstrap } from '../../src/domain/bootstrap.ts';
import { deriveRootKeys } from '../../src/domain/secrets.ts';
import { readOrCreateSecret } from '../../src/secret-file.ts';
import { openStore } from '../../src/storage/open.ts';
import { checkFill } from './check.ts';
import { planFill } from './plan.ts';
import { fillPostgres } from './postgres.ts';
import { quietLog } from './quiet-log.ts';
import { fillSqlite } from './sqlite.ts';

const { values: options } = parseArgs({
  options: { database: { type: 'string' }, events: { type: 'string', default: '10000000' } },
});
const { database } = options;
const config = readConfig(database === undefined ? process.env : { ...process.env, SPANDREL_DATABASE_URL: database });
const url = config.databaseUrl;
const isFile = url.startsWith('sqlite:');
const startedAt = performance.now();
const plan = planFill(readCount(options.events), Date.now());

await createFirst();
const tenant = await (isFile ? fillSqlite(url, plan) : fillPostgres(url, plan));
const filledAt = performance.now();
await check();
const { organizationId, projectId } = tenant;
const seconds = Math.round((filledAt - startedAt) / 1000);
process.stdout.write(`${JSON.stringify({ msg: 'filled', ...plan, organizationId, projectId, seconds })}\n`);

async function createFirst(): Promise<void> {
  const store = await open();
  try {
    const rootKeys = deriveRootKeys(config.secret ?? secretBesideFile());
    const deps = { store: store.installation, rootKeys, keyPrefixes: config.keyPrefixes, random: randomBytes };
    for (const [name, value] of (await bootstrap(deps, config.bootstrap, Date.now())) ?? []) {
      process.stdout.write(`${name}=${value}\n`);
    }
  } finally {
    await store.close();
  }
}

async function check(): Promise<void> {
  const store = await open();
  try {
    await checkFill(store, { id: tenant.organizationId, number: tenant.organizationNumber }, plan);
  } finally {
    await store.close();
  }
}

function open() {
  return openStore({ url, queueMaxBytes: config.limits.ingestQueueMaxBytes, log: quietLog });
}

function secretBesideFile(): string {
  if (!isFile) throw new Error('SPANDREL_SECRET must be set for this database.');
  return readOrCreateSecret(dirname(resolve(url.slice('sqlite:'.length))), randomBytes);
}

function readCount(text: string): number {
  const count = Number(text);
  if (!(Number.isInteger(count) && count > 0)) throw new Error('--events must be a positive whole number.');
  return count;
}
