import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { llmTrace } from '../support/fixtures.ts';
import { startIn } from '../support/installation.ts';
import { PROJECT_KEY } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { temporaryFolder } from '../support/temp.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { runCli, runCliProcess } from './run-cli.ts';

const folders: { remove(): void }[] = [];
const servers: TestApp[] = [];
const databases: TestDatabase[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  for (const database of databases.splice(0)) await database.remove();
  for (const folder of folders.splice(0)) folder.remove();
});

/** Answers hold links, which must not tell one server from the other. */
const ALIKE = { SPANDREL_PUBLIC_URL: 'http://localhost' };

async function newTarget(): Promise<TestDatabase> {
  const database = await createPostgresTestDatabase();
  databases.push(database);
  return database;
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
    const target = await newTarget();
    const to = target.url;
    const before = await startIn(folder, { environment: ALIKE, writer: 'in its thread' });
    servers.push(before);
    const body = llmTrace(Date.now());
    const headers = { 'x-auth-token': PROJECT_KEY };
    await callRest(before.address, { verb: 'POST', path: '/api/collector', body, headers });
    const read = async ({ address }: TestApp) =>
      await callRest(address, { verb: 'GET', path: `/api/traces/${body.trace_id}`, headers });
    const answer = await read(before);
    await expectRefused(from, to, /another process is using the database/);
    await servers.pop()?.close();

    const { code, stdout, stderr } = await runCliProcess(['copy', '--from', from, '--to', to]);
    expect(code).toBe(0);
    expect(stderr).toContain('copy traces 1/1\n');
    expect(stderr).toContain('verify traces 1/1\n');
    expect(stdout).toContain(join(folder, 'secret'));
    const secret = readFileSync(join(folder, 'secret'), 'utf8');
    expect(stdout + stderr).not.toContain(secret);

    const after = await startApp({ database: target, environment: { ...ALIKE, SPANDREL_SECRET: secret } });
    servers.push(after);
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
