import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { startApp } from '../support/app.ts';
import { createDatabases, query } from '../support/postgres-databases.ts';
import { TEST_SECRET } from '../support/test-database.ts';
import { startTransactionPooler } from '../support/transaction-pooler.ts';
import { runCli } from './run-cli.ts';

const { address } = inject('postgres');
const databases = createDatabases(address);
let url: string;
beforeEach(async () => {
  url = await databases.createDatabase();
});
afterEach(() => databases.dropDatabase(url));

/** Lines that are not ok, without what depends on the machine of the test. */
async function look(environment: { readonly [name: string]: string } = {}): Promise<readonly string[]> {
  const { stdout } = await runCli(['doctor'], {
    SPANDREL_PORT: '0',
    SPANDREL_MAX_CONNECTIONS: '10',
    SPANDREL_WEBHOOK_CONCURRENCY: '10',
    SPANDREL_SECRET: TEST_SECRET,
    SPANDREL_DATABASE_URL: url,
    ...environment,
  });
  expect(stdout).not.toContain(new URL(address).password);
  return stdout.split('\n').filter((line) => line !== '' && !/^ok |^\S+ +open files/.test(line));
}

const database = () => url.slice(url.lastIndexOf('/') + 1);
const withPart = (part: (address: URL) => void) => {
  const changed = new URL(url);
  part(changed);
  return changed.href;
};

it('the doctor finds nothing on an empty database, nor on one in use', async () => {
  expect(await look()).toEqual([]);
  const app = await startApp();
  const used = { SPANDREL_DATABASE_URL: app.database.url };
  expect(await look(used)).toEqual([]);
  expect(await look({ ...used, SPANDREL_SECRET: 'x'.repeat(40) })).toEqual([
    expect.stringMatching(/^fail +secret +it does not belong/),
  ]);
  await app.close();
});

it('the doctor finds a database that is away, or that refuses the user', async () => {
  const away = withPart((address) => {
    address.port = '2';
  });
  expect(await look({ SPANDREL_DATABASE_URL: away })).toEqual([
    expect.stringMatching(/^fail +database .*is the database running/),
  ]);
  const refused = withPart((address) => {
    address.password = 'wrong';
  });
  expect(await look({ SPANDREL_DATABASE_URL: refused })).toEqual([
    expect.stringMatching(/^fail +database .*user or password are wrong/),
  ]);
});

it('the doctor finds a pooler in transaction mode', async () => {
  const pooler = await startTransactionPooler(url);
  const found = await look({ SPANDREL_DATABASE_URL: pooler.url });
  await pooler.close();
  expect(found).toEqual([expect.stringMatching(/^fail +database .*session mode/)]);
});

it('the doctor finds an unsafe database, an unfinished copy, few connections, and a missing secret', async () => {
  await query(url, `ALTER DATABASE ${database()} SET synchronous_commit = off`);
  expect(await look()).toEqual([expect.stringMatching(/^fail +database .*synchronous_commit=off/)]);
  await query(url, `ALTER DATABASE ${database()} RESET ALL; CREATE TABLE copy_progress (x int)`);
  expect(await look()).toEqual([expect.stringMatching(/^fail +database .*run the same spandrel copy again/)]);
  await query(url, `DROP TABLE copy_progress; ALTER DATABASE ${database()} CONNECTION LIMIT 5`);
  expect(await look()).toEqual([expect.stringMatching(/^warn +connections .*grants 5, and a process opens up to 23/)]);
  await query(url, `ALTER DATABASE ${database()} CONNECTION LIMIT -1`);
  expect(await look({ SPANDREL_SECRET: '' })).toEqual([expect.stringMatching(/^fail +secret +SPANDREL_SECRET must/)]);
});
