import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import { ALL_TRACES } from '../../src/domain/traces/search/trace-search-store.ts';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../support/postgres-databases.ts';
import { until } from '../support/temp.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { PROJECT, sampleAppend, sampleEvaluator } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

const ROLE = 'few_connections';
const CONNECTIONS = 6;

let database: TestDatabase;
let store: Store;
let close: () => Promise<void>;
beforeEach(async () => {
  close = async () => undefined;
  database = await createPostgresTestDatabase();
  await query(database.url, `CREATE ROLE ${ROLE} LOGIN PASSWORD 'few' CONNECTION LIMIT ${CONNECTIONS}`);
  // A member of the owner has its tables, and not its freedom from limits.
  await query(database.url, `GRANT spandrel TO ${ROLE}`);
  const url = new URL(database.url);
  url.username = ROLE;
  url.password = 'few';
  store = await openStore({ url: url.href, queueMaxBytes: 64 * 1024 * 1024, log: quietLog });
  close = store.close;
});
afterEach(async () => {
  await close();
  await query(database.url, `DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`);
  await database.remove();
});

const search = () =>
  store.search.find({
    ...ALL_TRACES,
    projectNumber: PROJECT.number,
    sort: 'started_at',
    isAscending: false,
    limit: 10,
  });

it('with fewer connections than the process wants, no read is refused beside appends and changes', async () => {
  const work = Array.from({ length: 40 }, async () => {
    await Promise.allSettled([
      store.traces.append(sampleAppend({ receivedAtMs: Date.now() })),
      store.evaluators.insert(sampleEvaluator(), 1_000),
    ]);
  });
  const searches: PromiseSettledResult<unknown>[] = [];
  // As many at once as one project may have.
  for (let round = 0; round < 10; round += 1) {
    searches.push(...(await Promise.allSettled(Array.from({ length: 16 }, search))));
  }
  await Promise.all(work);
  expect(searches.filter(({ status }) => status === 'rejected')).toEqual([]);
});

it('is not ready while no read can have a connection, and ready again after it', async () => {
  await store.ready();
  await query(database.url, `ALTER ROLE ${ROLE} CONNECTION LIMIT 1`);
  const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}' AND application_name LIKE '%reads%'`;
  await query(database.url, cut);
  await until(
    async () =>
      await store.ready().then(
        () => false,
        () => true,
      ),
  );
  await query(database.url, `ALTER ROLE ${ROLE} CONNECTION LIMIT ${CONNECTIONS}`);
  await until(
    async () =>
      await store.ready().then(
        () => true,
        () => false,
      ),
  );
});
