import { afterEach, describe, expect, inject, it } from 'vitest';
import { textOf } from '../../src/storage/migrations/migration.ts';
import { POSTGRES_SCHEMAS } from '../../src/storage/migrations/postgres.ts';
import { createDatabases, query } from '../support/postgres-databases.ts';
import { runCli, runCliProcess } from './run-cli.ts';

const created: string[] = [];
afterEach(async () => {
  for (const url of created.splice(0)) await createDatabases(url).dropDatabase(url);
});

/** A database with nothing in it. */
async function newDatabase(): Promise<string> {
  const url = await createDatabases(inject('postgres').address).createDatabase();
  created.push(url);
  return url;
}

const NAMES = POSTGRES_SCHEMAS.migrations.map((migration) => migration.name);
const TABLES = `SELECT count(*)::integer AS tables FROM pg_tables WHERE schemaname = 'public'`;

describe('migrate on PostgreSQL', () => {
  it('says with --dry-run what it would do, and creates nothing', async () => {
    const url = await newDatabase();
    const { code, stdout, stderr } = await runCli(['migrate', '--dry-run'], { SPANDREL_DATABASE_URL: url });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      POSTGRES_SCHEMAS.migrations.map((migration) => `-- pending: ${migration.name}\n${textOf(migration)}`).join(''),
    );
    expect(await query(url, TABLES)).toEqual([{ tables: 0 }]);
  });

  it('is done by one of several that start at once', async () => {
    const url = await newDatabase();
    const environment = { SPANDREL_DATABASE_URL: url };
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => runCliProcess(['migrate'], environment)));
    for (const { code, stderr } of outcomes) expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const names = await query(url, 'SELECT name FROM mikro_orm_migrations ORDER BY id');
    expect(names.map((row) => row.name)).toEqual(NAMES);
    expect(await runCli(['migrate'], environment)).toEqual({ code: 0, stdout: 'up to date\n', stderr: '' });
  });

  it('is refused in one line, without the password, by a server that is not there', async () => {
    const url = 'postgres://user:their-password@127.0.0.1:1/nothing';
    const { code, stdout, stderr } = await runCli(['migrate'], { SPANDREL_DATABASE_URL: url });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^spandrel: [^\n]*ECONNREFUSED[^\n]*\n$/);
    expect(stderr).not.toContain('their-password');
  });
});
