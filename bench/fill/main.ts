/**
 * Fills the log of a database with thirteen months of events as the product writes them:
 * node bench/fill/main.ts --database sqlite:/tmp/filled/spandrel.db --events 10000000
 * With --traces 1000000 it stores that many traces of thirty days instead.
 * A new database gets its first organization, whose keys it prints; it reads the settings of the server.
 */

import { randomBytes } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { readConfig } from '../../src/config/config.ts';
import { readOrCreateSecret } from '../../src/config/secret-file.ts';
import { bootstrap } from '../../src/domain/organization/bootstrap.ts';
import { deriveRootKeys } from '../../src/domain/secrets.ts';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { checkFill } from './check.ts';
import { fillTraces } from './fill-traces.ts';
import { type FillPlan, planFill } from './plan.ts';
import { fillPostgres } from './postgres.ts';
import { quietLog } from './quiet-log.ts';
import type { Tenant } from './specimen.ts';
import { fillSqlite } from './sqlite.ts';
import { planTraces, type TracePlan } from './traces.ts';

const { values: options } = parseArgs({
  options: {
    database: { type: 'string' },
    events: { type: 'string', default: '10000000' },
    traces: { type: 'string' },
  },
});
const { database } = options;
const config = readConfig(database === undefined ? process.env : { ...process.env, SPANDREL_DATABASE_URL: database });
const url = config.databaseUrl;
const isFile = url.startsWith('sqlite:');
const startedAt = performance.now();
// A known id finds the project without its key.
const wishes = { ...config.bootstrap, projectId: config.bootstrap.projectId ?? 'project_filled' };

await createFirst();
if (options.traces === undefined) await fillWithEvents(planFill(readCount('events', options.events), Date.now()));
else await fillWithTraces(planTraces(readCount('traces', options.traces), Date.now()));

async function fillWithEvents(plan: FillPlan): Promise<void> {
  const tenant = await (isFile ? fillSqlite(url, plan) : fillPostgres(url, plan));
  const filledAt = performance.now();
  await check(tenant, plan);
  const { organizationId, projectId } = tenant;
  printFilled({ ...plan, organizationId, projectId }, filledAt);
}

async function fillWithTraces(plan: TracePlan): Promise<void> {
  const store = await open();
  try {
    const project = await store.keys.findProject(wishes.projectId);
    if (project === null) throw new Error('Traces are filled into a database without a project.');
    const { organizationId, organizationNumber, id: projectId, number: projectNumber } = project;
    const owner = { organizationId, organizationNumber, projectId, projectNumber };
    await fillTraces(store, { plan, owner, report: (what) => void process.stderr.write(`${what}\n`) });
    printFilled({ ...plan, organizationId, projectId }, performance.now());
  } finally {
    await store.close();
  }
}

function printFilled(filled: object, filledAt: number): void {
  const seconds = Math.round((filledAt - startedAt) / 1000);
  process.stdout.write(`${JSON.stringify({ msg: 'filled', ...filled, seconds })}\n`);
}

async function createFirst(): Promise<void> {
  const store = await open();
  try {
    const rootKeys = deriveRootKeys((config.secrets ?? secretBesideFile()).current);
    const deps = { store: store.installation, rootKeys, keyPrefixes: config.keyPrefixes, random: randomBytes };
    for (const [name, value] of (await bootstrap(deps, wishes, Date.now())) ?? []) {
      process.stdout.write(`${name}=${value}\n`);
    }
  } finally {
    await store.close();
  }
}

async function check(tenant: Tenant, plan: FillPlan): Promise<void> {
  const store = await open();
  try {
    await buildBlocks(store);
    await checkFill(store, { id: tenant.organizationId, number: tenant.organizationNumber }, plan);
  } finally {
    await store.close();
  }
}

/** As a server does in the background. */
async function buildBlocks({ upkeep }: Store): Promise<void> {
  for (const { step } of upkeep) while ((await step()) === 'more');
}

function open() {
  const { telemetryUrl } = config;
  return openStore({ url, telemetryUrl, queueMaxBytes: config.limits.requests.bodyBytes, log: quietLog });
}

function secretBesideFile() {
  if (!isFile) throw new Error('SPANDREL_SECRET must be set for this database.');
  return readOrCreateSecret(dirname(resolve(url.slice('sqlite:'.length))), randomBytes);
}

function readCount(name: string, text: string): number {
  const count = Number(text);
  if (!(Number.isInteger(count) && count > 0)) throw new Error(`--${name} must be a positive whole number.`);
  return count;
}
