import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { TestApp, TestAppOptions } from '../support/app.ts';
import { startIn, useInstallation } from '../support/installation.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { temporaryFolder } from '../support/temp.ts';
import { runCli, runCliProcess } from './run-cli.ts';

const folders: { remove(): void }[] = [];
const servers: TestApp[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  for (const folder of folders.splice(0)) folder.remove();
});

function newFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder.path;
}

const installation = useInstallation();

/** A folder in which a server was started once. */
function installedFolder(): string {
  const folder = newFolder();
  installation.copyTo(folder);
  return folder;
}

async function start(folder: string, options: TestAppOptions = {}): Promise<TestApp> {
  const server = await startIn(folder, options);
  servers.push(server);
  return server;
}

const MINT = ['mint-admin-key', '--email', 'Admin@localhost'];
const refused = (reason: RegExp) => ({
  code: 1,
  stdout: '',
  stderr: expect.stringMatching(new RegExp(`^spandrel: [^\\n]*${reason.source}[^\\n]*\\n$`)),
});

it('the one administrator who lost every key gets a new one, and the audit log says so', async () => {
  const folder = installedFolder();
  const environment = { SPANDREL_DATABASE_URL: `sqlite:${join(folder, 'spandrel.db')}` };
  const first = await start(folder, { writer: 'in its thread' });
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const id = ADMIN_KEY.slice(6, 22);
  expect((await callRest(first.address, { verb: 'DELETE', path: `/api/api-keys/${id}`, headers })).status).toBe(200);
  expect(await runCli(MINT, environment)).toEqual(refused(/another process is using the database .*stop it first/));
  await servers.pop()?.close();
  const { code, stdout, stderr } = await runCliProcess(MINT, environment);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^sk-lw-[0-9A-Za-z]{16}_[0-9A-Za-z]{48}\n$/);
  const token = stdout.trim();
  const second = await start(folder);
  const call = (path: string) => callRest(second.address, { path, headers: { authorization: `Bearer ${token}` } });
  const key = (await call(`/api/api-keys/${token.slice(6, 22)}`)).body;
  expect(key).toMatchObject({ keyType: 'personal', createdByUserId: null, revokedAt: null });
  expect(key.effectivePermissions).toHaveLength(126);
  expect((await call('/api/audit-log?action=apiKey.create')).body.data).toEqual([
    expect.objectContaining({ actorKind: 'cli', actorUserId: null, actorKeyId: null, targetId: key.id, status: 201 }),
  ]);
});

it('no key is minted for anybody but members, and none without the secret', async () => {
  const folder = installedFolder();
  const environment = { SPANDREL_DATABASE_URL: `sqlite:${join(folder, 'spandrel.db')}` };
  const mint = (email: string, more = {}) => runCli(['mint-admin-key', '--email', email], { ...environment, ...more });
  expect(await mint('somebody@localhost')).toEqual(refused(/no active member .* somebody@localhost/));
  expect(await mint('admin@localhost', { SPANDREL_SECRET: 'x'.repeat(32) })).toEqual(
    refused(/does not belong to this/),
  );
  rmSync(join(folder, 'secret'));
  expect(await mint('admin@localhost')).toEqual(refused(/secret/));
  expect(existsSync(join(folder, 'secret'))).toBe(false);
});

it('a database that is not there is not created', async () => {
  const folder = newFolder();
  const environment = { SPANDREL_DATABASE_URL: `sqlite:${join(folder, 'spandrel.db')}` };
  expect(await runCli(MINT, environment)).toEqual(refused(/there is no database/));
  expect(readdirSync(folder)).toEqual([]);
  const inMemory = { SPANDREL_DATABASE_URL: 'sqlite::memory:', SPANDREL_SECRET: 'x'.repeat(32) };
  expect(await runCli(MINT, inMemory)).toEqual(refused(/in memory/));
});
