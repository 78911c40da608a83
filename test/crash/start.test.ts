import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { runCli } from '../cli/run-cli.ts';
import { startIn, useInstallation } from '../support/installation.ts';
import { type SpawnedServer, spawnServer } from '../support/server.ts';
import { temporaryFolder } from '../support/temp.ts';

const folders: { remove(): void }[] = [];
const servers: SpawnedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop('SIGKILL');
  for (const folder of folders.splice(0)) folder.remove();
});

function newFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder.path;
}

const installation = useInstallation();

/** Creates a folder in which a server was started once. */
function installedFolder(): string {
  const folder = newFolder();
  installation.copyTo(folder);
  return folder;
}

function spawnIn(folder: string, environment: { [name: string]: string }): Promise<SpawnedServer> {
  return spawnServer({ SPANDREL_DATABASE_URL: `sqlite:${join(folder, 'spandrel.db')}`, ...environment });
}

async function start(folder: string, environment: { [name: string]: string } = {}): Promise<SpawnedServer> {
  const server = await spawnIn(folder, environment);
  servers.push(server);
  return server;
}

/** Returns the lines of a refused start; fails if the server starts. */
async function refusal(folder: string, environment: { [name: string]: string } = {}): Promise<string> {
  const outcome = await spawnIn(folder, environment).then(
    (server) => server,
    (error: Error) => error.message,
  );
  if (typeof outcome !== 'string') {
    await outcome.stop('SIGKILL');
    throw new Error('the server started');
  }
  expect(outcome).toMatch(/^the server ended with 1: /);
  return outcome.replace(/^the server ended with 1: /, '').trim();
}

/** The same for a start in this process, which ends before it serves. */
async function refusalHere(folder: string, environment: { [name: string]: string } = {}): Promise<string> {
  const database = { SPANDREL_DATABASE_URL: `sqlite:${join(folder, 'spandrel.db')}` };
  const { code, stdout, stderr } = await runCli([], { ...database, SPANDREL_PORT: '0', ...environment });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  return stderr.trim();
}

/** Every row of every table. */
function contentOf(folder: string): string {
  const database = new Database(join(folder, 'spandrel.db'), { readonly: true });
  try {
    const tables = database.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
    return JSON.stringify(tables.map((table) => [table, database.prepare(`SELECT * FROM "${table}"`).all()]));
  } finally {
    database.close();
  }
}

/** The lines for the operator, without the log. */
function printedText({ output }: SpawnedServer): string {
  return output()
    .split('\n')
    .filter((line) => !line.startsWith('{'))
    .join('\n');
}

async function run(command: string, args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(command, args, { env: { PATH: process.env.PATH } })).stdout;
}

const MINT = { SPANDREL_BOOTSTRAP_PROJECT_KEY: '', SPANDREL_BOOTSTRAP_ADMIN_KEY: '' };

describe('the first start', () => {
  it('prints six lines once, and keeps its secret to itself', async () => {
    const folder = newFolder();
    const first = await start(folder, MINT);
    const lines = first
      .output()
      .split('\n')
      .filter((line) => line.startsWith('export '));
    expect(lines.map((line) => line.split('=')[0])).toEqual([
      'export SPANDREL_ORGANIZATION_ID',
      'export SPANDREL_TEAM_ID',
      'export SPANDREL_PROJECT_ID',
      'export SPANDREL_ADMIN_USER_ID',
      'export SPANDREL_PROJECT_KEY',
      'export SPANDREL_ADMIN_KEY',
    ]);
    expect(lines[4]).toMatch(/^export SPANDREL_PROJECT_KEY=sk-lw-[0-9A-Za-z]{48}$/);
    expect(lines[5]).toMatch(/^export SPANDREL_ADMIN_KEY=sk-lw-[0-9A-Za-z]{16}_[0-9A-Za-z]{48}$/);
    expect(statSync(join(folder, 'secret')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'spandrel.db')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toMatch(/^[0-9a-f]{64}$/);
    expect(first.output()).toMatch(/"version":"\d+\.\d+\.\d+[^"]*","store":"sqlite","msg":"ready"/);
    expect(await first.stop('SIGTERM')).toBe(0);
    const second = await start(folder, MINT);
    expect(printedText(second)).toBe('');
  });

  it('prints what a shell takes as it is, and may start a server from', async () => {
    const server = await start(newFolder(), MINT);
    const text = printedText(server);
    const pasted = await run('sh', ['-euc', `${text}\nenv`]);
    const names = [...pasted.matchAll(/^(SPANDREL_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
    expect(names).toHaveLength(6);
    const headers = { 'x-auth-token': new Map(names as [string, string][]).get('SPANDREL_PROJECT_KEY') ?? '' };
    expect((await fetch(`${server.address}/api/evaluators/none`, { headers })).status).toBe(404);
    await start(newFolder(), { ...MINT, ...Object.fromEntries(names) });
  });

  it('an imposed key is not printed back', async () => {
    const server = await start(newFolder());
    const text = printedText(server);
    expect(text).toContain('# SPANDREL_PROJECT_KEY is the one that was imposed.');
    expect(text).toContain('# SPANDREL_ADMIN_KEY is the one that was imposed.');
    expect(text).not.toMatch(/_KEY=/);
    await run('sh', ['-euc', text]);
  });

  it('has no effect while its port is taken, which its last line says: the next start prints the keys', async () => {
    const folder = newFolder();
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const { port } = blocker.address() as { port: number };
    try {
      const text = await refusal(folder, { ...MINT, SPANDREL_PORT: String(port) });
      expect(text).not.toMatch(/_KEY/);
      expect(text.split('\n').at(-1)).toMatch(/^spandrel: listen EADDRINUSE: .*; .* SPANDREL_PORT /);
    } finally {
      blocker.close();
    }
    const next = await start(folder, MINT);
    expect(printedText(next).match(/^export \w+_KEY=/gm)).toHaveLength(2);
  });
});

describe('a start that cannot work ends with one clear line', () => {
  it('a second process on the same file', async () => {
    const folder = installedFolder();
    const holder = await startIn(folder, { writer: 'in its thread' });
    try {
      const text = await refusal(folder);
      expect(text.split('\n')).toHaveLength(1);
      expect(text).toMatch(/^spandrel: .*another process/i);
    } finally {
      await holder.close();
    }
  });

  it('a wrong secret, and nothing is written', async () => {
    const folder = installedFolder();
    const before = contentOf(folder);
    const text = await refusalHere(folder, { SPANDREL_SECRET: 'x'.repeat(32) });
    expect(text).toBe('spandrel: SPANDREL_SECRET does not belong to this database');
    expect(contentOf(folder)).toBe(before);
  });

  it('a database whose secret file is missing, and no new one is created', async () => {
    const folder = installedFolder();
    rmSync(join(folder, 'secret'));
    expect(await refusalHere(folder)).toMatch(/the secret file .* is gone; put it back/);
    expect(existsSync(join(folder, 'secret'))).toBe(false);
  });

  it('a secret file that others can read', async () => {
    const folder = installedFolder();
    chmodSync(join(folder, 'secret'), 0o644);
    expect(await refusalHere(folder)).toMatch(/must not be open to group or others/);
  });

  it('a folder that is a file', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'file'), '');
    expect(
      (await refusalHere(folder, { SPANDREL_DATABASE_URL: `sqlite:${join(folder, 'file', 'spandrel.db')}` })).split(
        '\n',
      ),
    ).toHaveLength(1);
  });

  it('a database that is not a database', async () => {
    const folder = newFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'spandrel.db'), 'this is not a database, but long enough to look at'.repeat(100));
    expect((await refusalHere(folder)).split('\n')).toHaveLength(1);
  });

  it('invalid settings are reported together', async () => {
    const text = await refusalHere(newFolder(), { SPANDREL_PORT: 'x', SPANDREL_MAX_INFLIGHT: '0' });
    expect(text.split('\n')).toHaveLength(2);
  });

  it('a setting that does not exist, and nothing is made', async () => {
    const folder = newFolder();
    const text = await refusalHere(folder, { SPANDREL_WEBHOOK_ALOW: '127.0.0.1:8080' });
    expect(text).toBe('spandrel: SPANDREL_WEBHOOK_ALOW is not a setting; the nearest is SPANDREL_WEBHOOK_ALLOW');
    expect(readdirSync(folder)).toEqual([]);
  });
});

it('SIGTERM ends with 0 although a connection is kept open', async () => {
  const server = await start(installedFolder());
  expect((await fetch(`${server.address}/readyz`)).status).toBe(200);
  const startedMs = performance.now();
  expect(await server.stop('SIGTERM')).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(10_000);
});
