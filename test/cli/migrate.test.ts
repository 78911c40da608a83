import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { SQLITE_SCHEMAS } from '../../src/storage/migrations/sqlite.ts';
import type { TestApp } from '../support/app.ts';
import { startIn } from '../support/installation.ts';
import { temporaryFolder } from '../support/temp.ts';
import { runCli, runCliProcess, runCliUnread } from './run-cli.ts';

const folders: { remove(): void }[] = [];
const servers: TestApp[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  for (const folder of folders.splice(0)) folder.remove();
});

function newFile(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return join(folder.path, 'data', 'spandrel.db');
}

const over = (file: string) => ({ SPANDREL_DATABASE_URL: `sqlite:${file}` });
const NAMES = SQLITE_SCHEMAS.migrations.map((migration) => migration.name);

describe('migrate on SQLite', () => {
  it('says with --dry-run what it would do, and creates nothing', async () => {
    const file = newFile();
    const { code, stdout, stderr } = await runCli(['migrate', '--dry-run'], over(file));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(SQLITE_SCHEMAS.migrations.map(({ name, script }) => `-- pending: ${name}\n${script}`).join(''));
    expect(existsSync(join(file, '..'))).toBe(false);
  });

  it('ends without an error when its output is closed', async () => {
    const file = newFile();
    for (const args of [['migrate', '--dry-run'], ['--help'], ['migrate']]) {
      expect(await runCliUnread(args, over(file))).toEqual({ code: 0, stderr: '' });
    }
    expect((await runCli(['migrate'], over(file))).stdout).toBe('up to date\n');
  });

  it('applies what is missing, once', async () => {
    const file = newFile();
    const applied = NAMES.map((name) => `applied ${name}\n`).join('');
    expect(await runCliProcess(['migrate'], over(file))).toEqual({ code: 0, stdout: applied, stderr: '' });
    for (const args of [['migrate'], ['migrate', '--dry-run']]) {
      expect(await runCli(args, over(file))).toEqual({ code: 0, stdout: 'up to date\n', stderr: '' });
    }
  });

  it('changes nothing under a running server', async () => {
    const file = newFile();
    servers.push(await startIn(dirname(file), { writer: 'in its thread' }));
    expect(await runCli(['migrate'], over(file))).toEqual({ code: 0, stdout: 'up to date\n', stderr: '' });
  });

  it.each([
    ['sqlite::memory:', /in memory/],
    ['mysql://host', /SPANDREL_DATABASE_URL must/],
  ])('is refused in one line over %s', async (url, reason) => {
    const { code, stdout, stderr } = await runCli(['migrate'], { SPANDREL_DATABASE_URL: url });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(reason);
    expect(stderr).toMatch(/^spandrel: [^\n]+\n$/);
  });

  it('is refused over the database of another program, which stays as it was', async () => {
    const file = newFile();
    await runCli(['migrate'], over(file));
    const folder = join(file, '..');
    const other = join(folder, 'other.db');
    const db = new Database(other);
    db.exec('CREATE TABLE theirs (x)');
    db.close();
    const { code, stderr } = await runCliProcess(['migrate'], over(other));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^spandrel: [^\n]*another program[^\n]*\n$/);
    expect(readdirSync(folder)).not.toContain('other.db.lock');
  });
});
