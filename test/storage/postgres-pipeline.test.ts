import type pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  closePools,
  openPools,
  type Pool,
  type Pools,
  type Statement,
} from '../../src/storage/engine/postgres/pool.ts';
import { type PipelinedTransaction, runTransaction } from '../../src/storage/engine/postgres/transaction.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';

const INSERT: Statement = { name: 'insert', text: 'INSERT INTO notes (id, text) VALUES ($1::int, $2)' };
const APPEND: Statement = { name: 'append', text: 'UPDATE notes SET text = text || $1' };
const DIVIDE: Statement = { name: 'divide', text: 'SELECT 1 / $1::int' };
const COUNT = {
  name: 'count',
  text: 'SELECT count(*)::int AS count FROM notes',
  cells: () => [],
  row: (row: { readonly count: number }) => row.count,
};

let database: TestDatabase;
let pools: Pools;
let pool: Pool;

beforeEach(async () => {
  database = await createPostgresTestDatabase();
  pools = openPools({ url: database.url, connectionsMax: 1, mayLoseWrites: false });
  pool = pools.management;
  await execute('CREATE TABLE notes (id int PRIMARY KEY, text text)');
});
afterEach(async () => {
  await closePools(pools);
  await database.remove();
});

function execute(text: string): Promise<pg.QueryResult> {
  return pool.withConnection((client) => client.query(text));
}

async function listNotes(): Promise<readonly unknown[]> {
  return (await execute('SELECT id, text FROM notes ORDER BY id')).rows;
}

function transact<T>(body: (transaction: PipelinedTransaction) => Promise<T>): Promise<T> {
  return pool.withConnection((client) => runTransaction(client, body));
}

it('runs posted statements in their order, and commits them together', async () => {
  for (const id of [1, 2]) {
    await transact(async ({ post }) => {
      post(INSERT, [id, 'a']);
      post(APPEND, ['b']);
      post(APPEND, ['c']);
    });
  }
  expect(await listNotes()).toEqual([
    { id: 1, text: 'abcbc' },
    { id: 2, text: 'abc' },
  ]);
});

it('shows a query what was posted before it', async () => {
  const counts = await transact(async ({ post, runQuery }) => {
    const before = await runQuery(COUNT, {});
    post(INSERT, [1, null]);
    return [...before, ...(await runQuery(COUNT, {}))];
  });
  expect(counts).toEqual([0, 1]);
});

it('throws the first failure, undoes everything, and leaves the connection usable', async () => {
  for (const _ of [1, 2]) {
    const failed = transact(async ({ post }) => {
      post(INSERT, [1, 'a']);
      post(INSERT, [1, 'b']);
      post(DIVIDE, [0]);
    });
    await expect(failed).rejects.toMatchObject({ code: '23505' });
    expect(await listNotes()).toEqual([]);
  }
  await transact(async ({ post }) => post(INSERT, [1, 'a']));
  expect(await listNotes()).toEqual([{ id: 1, text: 'a' }]);
});

it('sends nothing of a body that throws', async () => {
  const failed = transact(async ({ post }) => {
    post(INSERT, [1, 'a']);
    throw new Error('changed its mind');
  });
  await expect(failed).rejects.toThrow('changed its mind');
  expect(await listNotes()).toEqual([]);
});

it('prepares a statement again that could not be prepared', async () => {
  const LATER: Statement = { name: 'later', text: 'INSERT INTO made_later (id) VALUES ($1::int)' };
  const store = () =>
    transact(async ({ post }) => {
      post(INSERT, [1, 'a']);
      post(LATER, [1]);
    });
  await expect(store()).rejects.toMatchObject({ code: '42P01' });
  await execute('CREATE TABLE made_later (id int)');
  await store();
  expect(await listNotes()).toEqual([{ id: 1, text: 'a' }]);
});
