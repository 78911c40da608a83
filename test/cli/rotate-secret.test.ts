import { randomBytes } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createNextSecret, promoteNextSecret, readSecrets } from '../../src/config/secret-file.ts';
import { rotateSecret } from '../../src/domain/organization/secret-rotation.ts';
import { deriveRootKeys } from '../../src/domain/secrets.ts';
import type { TestApp } from '../support/app.ts';
import { startIn, useInstallation } from '../support/installation.ts';
import { ADMIN_KEY, PROJECT_KEY } from '../support/server.ts';
import { type Body, callRest } from '../support/surfaces.ts';
import { temporaryFolder } from '../support/temp.ts';
import { openEverything, repeatable, SEALED_TEXTS, sealEverything } from './rotating.ts';
import { runCli, runCliProcess } from './run-cli.ts';

const folders: { remove(): void }[] = [];
const servers: TestApp[] = [];
afterEach(async () => {
  await stopAll();
  for (const folder of folders.splice(0)) folder.remove();
});

async function stopAll(): Promise<void> {
  for (const server of servers.splice(0)) await server.close();
}

const installation = useInstallation();

/** A stopped server that has made a value in every sealed column, and the answer that must be repeated. */
const origin = temporaryFolder();
let made: Body;
beforeAll(async () => {
  installation.copyTo(origin.path);
  made = await sealEverything(await start(origin.path));
  await stopAll();
});
afterAll(() => origin.remove());

/** A copy of it. */
function sealedFolder() {
  const folder = temporaryFolder();
  folders.push(folder);
  cpSync(origin.path, folder.path, { recursive: true });
  return {
    path: folder.path,
    made,
    environment: { SPANDREL_DATABASE_URL: `sqlite:${join(folder.path, 'spandrel.db')}` },
  };
}

type Running = TestApp;

async function start(folder: string): Promise<Running> {
  const server = await startIn(folder);
  servers.push(server);
  return Object.assign(server, { adminKey: ADMIN_KEY, projectKey: PROJECT_KEY });
}

const COUNTS = { endpoints: 2, previous: 1, queues: 1, providers: 1, receipts: 1, triggers: 1 };

function expectAll(opened: ReadonlyMap<string, readonly string[]>): void {
  expect(Object.fromEntries([...opened].map(([column, texts]) => [column, texts.length]))).toEqual({
    'webhook_endpoints.secret': COUNTS.endpoints,
    'webhook_endpoints.previous_secret': COUNTS.previous,
    'webhook_endpoints.sqs_secret': COUNTS.queues,
    'model_providers.api_key': COUNTS.providers,
    'triggers.secret': COUNTS.triggers,
    'idempotency_receipts.answer': COUNTS.receipts,
  });
  expect(opened.get('webhook_endpoints.sqs_secret')).toEqual([SEALED_TEXTS.queueKey]);
  expect(opened.get('triggers.secret')).toEqual([SEALED_TEXTS.slackUrl]);
  expect(opened.get('model_providers.api_key')).toEqual([SEALED_TEXTS.providerKey]);
}

it('a secret in a file is replaced by a new one, with which everything opens, and all keys stay valid', async () => {
  const { path, made, environment } = sealedFolder();
  const old = readSecrets(path).current;
  const running = await startIn(path, { writer: 'in its thread' });
  expect(await runCli(['rotate-secret'], environment)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/another process is using the database/),
  });
  await running.close();
  expect(readSecrets(path)).toEqual({ current: old, previous: null });
  const { code, stdout, stderr } = await runCliProcess(['rotate-secret'], environment);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^7 stored values are sealed with the new secret; .*make a new one\n$/);
  const { current, previous } = readSecrets(path);
  expect([current === old, previous]).toEqual([false, null]);
  const server = await start(path);
  expectAll(await openEverything(server, deriveRootKeys(current).encryptionKeys));
  await expect(openEverything(server, deriveRootKeys(old).encryptionKeys)).rejects.toThrow();
  expect(await repeatable(server)).toEqual(made);
  const asMade = { authorization: `Bearer ${made.token}` };
  expect((await callRest(server.address, { path: '/api/organization', headers: asMade })).status).not.toBe(401);
  await stopAll();
  const refused = await runCli(['organization', 'create', '--name', 'B', '--admin-email', 'b@example.com'], {
    ...environment,
    SPANDREL_SECRET: old,
  });
  expect(refused).toEqual({
    code: 1,
    stdout: '',
    stderr: 'spandrel: SPANDREL_SECRET does not belong to this database\n',
  });
});

it('a second rotation keeps all keys valid too', async () => {
  const { path, made, environment } = sealedFolder();
  for (const _ of [1, 2]) expect((await runCli(['rotate-secret'], environment)).code).toBe(0);
  const server = await start(path);
  expectAll(await openEverything(server, deriveRootKeys(readSecrets(path).current).encryptionKeys));
  expect(await repeatable(server)).toEqual(made);
});

it.each(['before anything is sealed', 'half way', 'before the database has the new secret', 'before the file has it'])(
  'a rotation that was killed %s leaves a server that starts, and is finished by the next one',
  async (moment) => {
    const { path, made, environment } = sealedFolder();
    const stopped = await start(path);
    const { current, previous } = createNextSecret(path, randomBytes);
    if (previous === null) throw new Error('there is no previous secret');
    const { installation, sealed } = stopped.store;
    const columns = { 'before anything is sealed': 0, 'half way': 2 }[moment] ?? Number.POSITIVE_INFINITY;
    const isCommitted = moment === 'before the file has it';
    const killed = rotateSecret(
      {
        installation: { ...installation, replaceSecret: isCommitted ? installation.replaceSecret : die },
        sealed: {
          ...sealed,
          list: async (column, after) =>
            (await sealed.columns()).indexOf(column) < columns ? await sealed.list(column, after) : await die(),
        },
        random: randomBytes,
      },
      { current, previous },
    );
    if (isCommitted) await killed;
    else await expect(killed).rejects.toThrow('killed');
    await stopAll();
    const between = await start(path);
    expectAll(await openEverything(between, between.rootKeys.encryptionKeys));
    expect(await repeatable(between)).toEqual(made);
    await stopAll();
    expect((await runCli(['rotate-secret'], environment)).code).toBe(0);
    expect(readSecrets(path)).toEqual({ current, previous: null });
    const server = await start(path);
    expectAll(await openEverything(server, deriveRootKeys(current).encryptionKeys));
    expect(await repeatable(server)).toEqual(made);
  },
);

function die(): Promise<never> {
  return Promise.reject(new Error('killed'));
}

it('secrets in settings are both needed, and the database must belong to one of them', async () => {
  const { path, environment } = sealedFolder();
  const old = readFileSync(join(path, 'secret'), 'utf8');
  const rotate = (settings: { readonly [name: string]: string }) =>
    runCli(['rotate-secret'], { ...environment, ...settings });
  const refused = (reason: RegExp) => ({ code: 1, stdout: '', stderr: expect.stringMatching(reason) });
  const fresh = 'a new secret of 32 characters or more';
  expect(await rotate({ SPANDREL_SECRET: old })).toEqual(refused(/SPANDREL_SECRET_PREVIOUS to the one used until now/));
  expect(await rotate({ SPANDREL_SECRET_PREVIOUS: old })).toEqual(
    refused(/SPANDREL_SECRET_PREVIOUS needs SPANDREL_SECRET/),
  );
  const foreign = { SPANDREL_SECRET: fresh, SPANDREL_SECRET_PREVIOUS: `${fresh} too` };
  expect(await rotate(foreign)).toEqual(refused(/does not belong to this database/));
  const { code, stdout } = await rotate({ SPANDREL_SECRET: fresh, SPANDREL_SECRET_PREVIOUS: old });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^7 stored values .*unset SPANDREL_SECRET_PREVIOUS/)]);
  expect((await rotate({ SPANDREL_SECRET: fresh, SPANDREL_SECRET_PREVIOUS: old })).stdout).toMatch(/^0 stored values/);
});

it('a value that neither secret opens is named and left, and the rotation ends', async () => {
  const { path, environment } = sealedFolder();
  const server = await start(path);
  const { values } = await server.store.sealed.list('model_providers.api_key', null);
  const [value] = values;
  if (value === undefined) throw new Error('there is no provider');
  await server.store.sealed.replace('model_providers.api_key', [{ value, sealed: Buffer.alloc(64, 1) }]);
  await stopAll();
  const { code, stdout } = await runCli(['rotate-secret'], environment);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^left as it is, because neither secret opens it: model_providers.api_key model_providers\/\S+\n6 stored/,
  );
});

it('a damaged secret that was to take over is refused before anything is changed', async () => {
  const { path, environment } = sealedFolder();
  writeFileSync(join(path, 'secret.next'), 'short', { mode: 0o600 });
  expect(await runCli(['rotate-secret'], environment)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/secret\.next is damaged/),
  });
});

it('the file of the new secret takes the place of the old one, for its owner alone', () => {
  const folder = temporaryFolder();
  folders.push(folder);
  installation.copyTo(folder.path);
  const { current } = createNextSecret(folder.path, randomBytes);
  expect(createNextSecret(folder.path, randomBytes).current).toBe(current);
  promoteNextSecret(folder.path);
  expect(readSecrets(folder.path)).toEqual({ current, previous: null });
});
