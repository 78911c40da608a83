import { expect, it } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../support/postgres-databases.ts';
import { createPostgresTestDatabase } from '../support/test-database.ts';
import { expectHarmlessClocks } from './clock-property.ts';
import { quietLog } from './quiet-log.ts';

it('whatever the clock does, nothing within its term is deleted, and logs and retries follow it once it is right', async () => {
  await expectHarmlessClocks(async () => {
    const database = await createPostgresTestDatabase();
    const { url } = database;
    const store = await openStore({ url, queueMaxBytes: 1024 * 1024, log: quietLog });
    return {
      store,
      bytes: (hex) => `'\\x${hex}'`,
      execute: async (sql) => void (await query(url, sql)),
      read: (sql) => query(url, sql),
      async dispose() {
        await store.close();
        await database.remove();
      },
      setClock: async (atMs) =>
        void (await query(
          url,
          `CREATE OR REPLACE FUNCTION clock_ms() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT ${atMs}::bigint'`,
        )),
    };
  });
  expect.hasAssertions();
});
