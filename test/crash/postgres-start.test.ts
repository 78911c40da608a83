import { afterEach, describe, expect, inject, it } from 'vitest';
import { runCli } from '../cli/run-cli.ts';
import { llmTrace } from '../support/fixtures.ts';
import { startCluster } from '../support/postgres.ts';
import { createDatabases, query } from '../support/postgres-databases.ts';
import { isFullTier, report } from '../support/scenario.ts';
import { type SpawnedServer, spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { TEST_SECRET } from '../support/test-database.ts';

const OTHER_SECRET = 'x'.repeat(32);
const PROCESSES = isFullTier ? 4 : 3;
const MINT = { SPANDREL_BOOTSTRAP_PROJECT_KEY: '', SPANDREL_BOOTSTRAP_ADMIN_KEY: '' };

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  // Close the servers before their databases.
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Creates a database without tables. */
async function createEmpty(): Promise<string> {
  const databases = createDatabases(inject('postgres').address);
  const url = await databases.createDatabase();
  cleanups.push(() => databases.dropDatabase(url));
  return url;
}

async function start(url: string, environment: { readonly [name: string]: string } = {}): Promise<SpawnedServer> {
  const server = await spawnServer({ SPANDREL_DATABASE_URL: url, SPANDREL_SECRET: TEST_SECRET, ...environment });
  cleanups.push(() => server.stop('SIGKILL'));
  return server;
}

/** Returns the lines of a refused start, which runs in this process because it ends before it serves. */
async function refusal(url: string, environment: { readonly [name: string]: string } = {}): Promise<string> {
  const database = { SPANDREL_DATABASE_URL: url, SPANDREL_SECRET: TEST_SECRET };
  const { code, stdout, stderr } = await runCli([], { ...database, SPANDREL_PORT: '0', ...environment });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  return stderr.trim();
}

function printedKeys({ output }: SpawnedServer): string[] {
  return output()
    .split('\n')
    .filter((line) => line.startsWith('export SPANDREL_'));
}

async function count(url: string, from: string): Promise<number> {
  const [row] = await query(url, `SELECT count(*)::integer AS count FROM ${from}`);
  return row?.count;
}

describe('several processes that start at once on an empty database', () => {
  it('all become ready, one of them lays the schema and makes the first organization', async () => {
    const url = await createEmpty();
    const servers = await Promise.all(Array.from({ length: PROCESSES }, () => start(url, MINT)));
    const lines = servers.flatMap(printedKeys);
    expect(lines.map((line) => line.split('=')[0])).toEqual([
      'export SPANDREL_ORGANIZATION_ID',
      'export SPANDREL_TEAM_ID',
      'export SPANDREL_PROJECT_ID',
      'export SPANDREL_ADMIN_USER_ID',
      'export SPANDREL_PROJECT_KEY',
      'export SPANDREL_ADMIN_KEY',
    ]);
    for (const server of servers) expect(server.output()).toContain('"store":"postgres","msg":"ready"');
    expect(await count(url, 'organizations')).toBe(1);
    expect(await count(url, 'installation')).toBe(1);
    expect(await count(url, '(SELECT DISTINCT name FROM mikro_orm_migrations) AS names')).toBe(
      await count(url, 'mikro_orm_migrations'),
    );
    const key = lines.find((line) => line.startsWith('export SPANDREL_PROJECT_KEY='))?.split('=')[1] ?? '';
    for (const { address } of servers) {
      expect((await fetch(`${address}/readyz`)).status).toBe(200);
      const body = llmTrace(Date.now());
      const headers = { 'x-auth-token': key };
      const answer = await callRest(address, { verb: 'POST', path: '/api/collector', body, headers });
      expect(answer.status, answer.text).toBe(200);
    }
    report({ id: 'start at once', seed: 0, n: PROCESSES, pass: true });
    expect(await refusal(url, { SPANDREL_SECRET: OTHER_SECRET })).toBe(
      'spandrel: SPANDREL_SECRET does not belong to this database',
    );
    expect(await count(url, 'events')).toBe(PROCESSES);
  });

  it('of two secrets one wins, and the server with the other ends with one line', async () => {
    const url = await createEmpty();
    const secrets = [TEST_SECRET, OTHER_SECRET, TEST_SECRET, OTHER_SECRET].slice(0, PROCESSES);
    const outcomes = await Promise.all(
      secrets.map((secret) =>
        start(url, { ...MINT, SPANDREL_SECRET: secret }).then(
          (server) => ({ secret, printed: printedKeys(server).length, refused: null }),
          (error: Error) => ({ secret, printed: 0, refused: error.message.trim() }),
        ),
      ),
    );
    const winners = outcomes.filter(({ refused }) => refused === null);
    const losers = outcomes.filter(({ refused }) => refused !== null);
    const [winning] = winners;
    // Only the servers with the secret of the first one start.
    expect(winners.map(({ secret }) => secret)).toEqual(secrets.filter((secret) => secret === winning?.secret));
    expect(losers).not.toEqual([]);
    expect(winners.map(({ printed }) => printed).filter((lines) => lines > 0)).toEqual([6]);
    expect(losers.map(({ refused }) => refused)).toEqual(
      Array(secrets.length - winners.length).fill(
        'the server ended with 1: spandrel: SPANDREL_SECRET does not belong to this database',
      ),
    );
  });
});

it('a database that cannot hold every character is refused before anything is made in it', async () => {
  const databases = createDatabases(inject('postgres').address);
  const url = databases.url('latin_1');
  cleanups.push(() => databases.dropDatabase(url));
  const locale = `LOCALE_PROVIDER libc LOCALE 'C'`;
  await query(databases.url('postgres'), `CREATE DATABASE latin_1 TEMPLATE template0 ENCODING 'LATIN1' ${locale}`);
  expect(await refusal(url)).toBe(
    "spandrel: the database keeps text as LATIN1; use one that was created with ENCODING 'UTF8'",
  );
  expect(await count(url, 'pg_tables WHERE schemaname = current_schema()')).toBe(0);
});

describe('a database that may lose what it has acknowledged', () => {
  it('is refused when it commits without waiting, unless that is accepted', async () => {
    const url = await createEmpty();
    await query(url, `ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET synchronous_commit = off`);
    expect(await refusal(url)).toBe(
      'spandrel: the database runs with synchronous_commit=off and may lose what it has acknowledged; turn it on, or set SPANDREL_DATABASE_UNSAFE=on to accept that',
    );
    expect(await count(url, 'pg_tables WHERE schemaname = current_schema()'), 'tables made meanwhile').toBe(0);
    const server = await start(url, { SPANDREL_DATABASE_UNSAFE: 'on' });
    expect((await fetch(`${server.address}/readyz`)).status).toBe(200);
  });

  it('is refused when it writes nothing through to the disk, unless that is accepted', async () => {
    const cluster = await startCluster({ settings: { fsync: 'off' } });
    cleanups.push(() => cluster.remove());
    const url = await cluster.createDatabase();
    expect(await refusal(url)).toMatch(/^spandrel: the database runs with fsync=off and may lose .*$/);
    const server = await start(url, { SPANDREL_DATABASE_UNSAFE: 'on' });
    expect((await fetch(`${server.address}/readyz`)).status).toBe(200);
  });
});
