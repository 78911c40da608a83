import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
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

const CREATE = ['organization', 'create', '--name', 'Second', '--admin-email', 'Ann@Example.com'];
const PRINTED = new RegExp(
  [
    '^# .*',
    'export SPANDREL_ORGANIZATION_ID=organization_[0-9A-Za-z]{21}',
    'export SPANDREL_TEAM_ID=team_[0-9A-Za-z]{21}',
    'export SPANDREL_PROJECT_ID=project_[0-9A-Za-z]{21}',
    'export SPANDREL_ADMIN_USER_ID=user_[0-9A-Za-z]{21}',
    '# .*',
    'export SPANDREL_PROJECT_KEY=sk-lw-[0-9A-Za-z]{48}',
    '# .*',
    'export SPANDREL_ADMIN_KEY=sk-lw-[0-9A-Za-z]{16}_[0-9A-Za-z]{48}\n$',
  ].join('\n'),
);
const refused = (reason: RegExp) => ({
  code: 1,
  stdout: '',
  stderr: expect.stringMatching(new RegExp(`^spandrel: [^\\n]*${reason.source}[^\\n]*\\n`)),
});

describe('a second organization', () => {
  it('is made with a team, a project, an administrator and their keys, which are printed once', async () => {
    const folder = installedFolder();
    const environment = { SPANDREL_DATABASE_URL: `sqlite:${join(folder, 'spandrel.db')}` };
    await start(folder, { writer: 'in its thread' });
    expect(await runCli(CREATE, environment)).toEqual(refused(/another process is using the database .*stop it first/));
    await servers.pop()?.close();
    const names = ['--team', 'Core', '--project', 'Shop'];
    const { code, stdout, stderr } = await runCliProcess([...CREATE, ...names], environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(PRINTED);
    const printed = new Map(
      [...stdout.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const),
    );
    const second = await start(folder);
    expect(second.adminKey, 'no first keys are made again').toBe('');
    const ask = async (path: string, token = printed.get('SPANDREL_ADMIN_KEY') ?? '') =>
      (await callRest(second.address, { path, headers: { 'x-auth-token': token } })).body;
    expect(await ask('/api/organization')).toMatchObject({
      id: printed.get('SPANDREL_ORGANIZATION_ID'),
      name: 'Second',
    });
    expect((await ask('/api/teams')).data).toMatchObject([{ id: printed.get('SPANDREL_TEAM_ID'), name: 'Core' }]);
    expect((await ask('/api/projects')).data).toMatchObject([{ id: printed.get('SPANDREL_PROJECT_ID'), name: 'Shop' }]);
    expect((await ask('/api/organization/members')).data).toMatchObject([
      { userId: printed.get('SPANDREL_ADMIN_USER_ID'), email: 'ann@example.com', role: 'ADMIN' },
    ]);
    expect((await ask('/api/audit-log')).data).toMatchObject([
      { action: 'bootstrap', actorKind: 'cli', targetId: printed.get('SPANDREL_ORGANIZATION_ID'), status: 201 },
    ]);
    expect((await ask('/api/evaluators/none', printed.get('SPANDREL_PROJECT_KEY'))).code).toBe('evaluator_not_found');
    expect((await ask('/api/organization', ADMIN_KEY)).name).toBe('Default organization');
  });

  it('gets an administrator key from mint-admin-key', async () => {
    const folder = installedFolder();
    const environment = { SPANDREL_DATABASE_URL: `sqlite:${join(folder, 'spandrel.db')}` };
    const create = ['organization', 'create', '--name', 'Second', '--admin-email', 'admin@localhost'];
    const id = /SPANDREL_ORGANIZATION_ID=(.*)/.exec((await runCli(create, environment)).stdout)?.[1] ?? '';
    const mint = ['mint-admin-key', '--email', 'admin@localhost'];
    expect(await runCli(mint, environment)).toEqual(refused(new RegExp(`several organizations; .*: .*, ${id}`)));
    expect(await runCli([...mint, '--organization', 'no'], environment)).toEqual(refused(/no active member/));
    const { code, stdout } = await runCli([...mint, '--organization', id], environment);
    expect(code).toBe(0);
    const server = await start(folder);
    const headers = { authorization: `Bearer ${stdout.trim()}` };
    expect((await callRest(server.address, { path: '/api/organization', headers })).body.id).toBe(id);
  });

  it('is not made in a database that is not there, or that has no first one', async () => {
    const folder = newFolder();
    const environment = { SPANDREL_DATABASE_URL: `sqlite:${join(folder, 'spandrel.db')}` };
    expect(await runCli(CREATE, environment)).toEqual(refused(/there is no database/));
    expect(readdirSync(folder)).toEqual([]);
    const secret = { SPANDREL_SECRET: 'x'.repeat(32) };
    expect(await runCli(CREATE, { SPANDREL_DATABASE_URL: 'sqlite::memory:', ...secret })).toEqual(refused(/in memory/));
    expect((await runCli(['migrate'], environment)).code).toBe(0);
    expect(await runCli(CREATE, { ...environment, ...secret })).toEqual(refused(/the database is empty/));
  });

  it('is not made without the secret of the database', async () => {
    const folder = installedFolder();
    const environment = { SPANDREL_DATABASE_URL: `sqlite:${join(folder, 'spandrel.db')}` };
    const wrong = { ...environment, SPANDREL_SECRET: 'x'.repeat(32) };
    expect(await runCli(CREATE, wrong)).toEqual(refused(/does not belong to this database/));
    expect(existsSync(join(folder, 'secret'))).toBe(true);
  });
});

describe('arguments are validated before the database is opened', () => {
  const mail = ['--admin-email', 'a@b'];
  it.each([
    [[], /takes create/],
    [['delete'], /takes create/],
    [['create'], /--name and --admin-email are needed/],
    [['create', '--name', 'A'], /--name and --admin-email are needed/],
    [['create', '--name', 'A', '--admin-email', 'nobody'], /--admin-email must be an e-mail address/],
    [['create', '--name', 'A', '--admin-email', 'a b@c'], /--admin-email must be an e-mail address/],
    [['create', '--name', ' ', ...mail], /--name must have 1 to 255 characters/],
    [['create', '--name', 'é'.repeat(256), ...mail], /--name must have 1 to 255 characters/],
    [['create', '--name', 'A', '--team', '', ...mail], /--team must have 1 to 255 characters/],
    [['create', '--name', 'A', '--project', '', ...mail], /--project must have 1 to 255 characters/],
    [['create', '--name', 'A', '--key', 'k', ...mail], /'--key'/],
    [['create', 'A', ...mail], /takes options only/],
  ])('%j', async (args, reason) => {
    expect(await runCli(['organization', ...args], { SPANDREL_DATABASE_URL: 'sqlite:/nowhere/x.db' })).toEqual(
      refused(reason),
    );
  });

  it('and explained', async () => {
    const { code, stdout, stderr } = await runCli(['organization', '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('spandrel organization create --name TEXT');
    expect((await runCli(['--help'])).stdout).toContain('spandrel organization create --name TEXT');
  });
});
