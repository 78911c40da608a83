import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { llmTrace } from '../support/fixtures.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { temporaryFolder } from '../support/temp.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { runCli, runCliProcess } from './run-cli.ts';

const folders: { remove(): void }[] = [];
const servers: SpawnedServer[] = [];
const databases: TestDatabase[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop('SIGKILL');
  for (const database of databases.splice(0)) await database.remove();
  for (const folder of folders.splice(0)) folder.remove();
});

async function start(environment: { readonly [name: string]: string }): Promise<SpawnedServer> {
  // Answers hold links, which must not tell one server from the other.
  const server = await spawnServer({ SPANDREL_PUBLIC_URL: 'http://localhost', ...environment });
  servers.push(server);
  return server;
}

async function newTarget(): Promise<string> {
  const database = await createPostgresTestDatabase();
  databases.push(database);
  return database.url;
}

function newFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder.path;
}

async function expectRefused(from: string, to: string, reason: RegExp): Promise<void> {
  const { code, stdout, stderr } = await runCli(['copy', '--from', from, '--to', to]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(reason);
  expect(stderr).toMatch(/^spandrel: [^\n]+\n$/);
}

describe('copy', () => {
  it('moves a server to PostgreSQL, where keys and traces are the same', async () => {
    const folder = newFolder();
    const from = `sqlite:${join(folder, 'spandrel.db')}`;
    const to = await newTarget();
    const before = await start({ SPANDREL_DATABASE_URL: from });
    const body = llmTrace(Date.now());
    const headers = { 'x-auth-token': PROJECT_KEY };
    await callRest(before.address, { verb: 'POST', path: '/api/collector', body, headers });
    const read = async ({ address }: SpawnedServer) =>
      await callRest(address, { verb: 'GET', path: `/api/traces/${body.trace_id}`, headers });
    const answer = await read(before);
    await expectRefused(from, to, /another process is using the database/);
    await before.stop('SIGTERM');

    const { code, stdout, stderr } = await runCliProcess(['copy', '--from', from, '--to', to]);
    expect(code).toBe(0);
    expect(stderr).toContain('copy traces 1/1\n');
    expect(stderr).toContain('verify traces 1/1\n');
    expect(stdout).toContain(join(folder, 'secret'));
    const secret = readFileSync(join(folder, 'secret'), 'utf8');
    expect(stdout + stderr).not.toContain(secret);

    const after = await start({ SPANDREL_DATABASE_URL: to, SPANDREL_SECRET: secret });
    const { status, body: trace } = await read(after);
    expect(status).toBe(200);
    expect(trace).toEqual(answer.body);
    await expectRefused(from, to, /not empty/);
  });

  it.each([
    ['sqlite::memory:', 'postgres://h/d', /--from/],
    ['postgres://h/d', 'postgres://h/d', /--from/],
    ['sqlite:a.db', 'sqlite:b.db', /--to/],
    ['sqlite:/nowhere/spandrel.db', 'postgres://h/d', /there is no database/],
  ])('from %s to %s is refused in one line', async (from, to, reason) => {
    await expectRefused(from, to, reason);
  });

  it('is refused by a target that is not there, without the password', async () => {
    const folder = newFolder();
    const from = `sqlite:${join(folder, 'spandrel.db')}`;
    await runCli(['migrate'], { SPANDREL_DATABASE_URL: from });
    await expectRefused(
      from,
      'postgres://user:their-password@127.0.0.1:1/nothing',
      /^(?!.*their-password).*ECONNREFUSED/,
    );
  });
});
