import { expect, it } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../support/postgres-databases.ts';
import { createPostgresTestDatabase } from '../support/test-database.ts';
import { recordOf, reportOf } from './conformance/reports.ts';
import { ORGANIZATION, RECEIVED_AT_MS, randomHex, sampleAppend } from './conformance/samples.ts';
import { expectOrder, ROUNDS, reportEverything } from './producers.ts';
import { quietLog } from './quiet-log.ts';

const options = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog };
const EVERYTHING = { organization: ORGANIZATION, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, after: null };

it('all events of an organization have one order without gaps, from any process', async () => {
  const database = await createPostgresTestDatabase();
  const stores = [
    await openStore({ url: database.url, ...options }),
    await openStore({ url: database.url, ...options }),
  ];
  await reportEverything(stores);
  const logged = (await stores[0]?.events.list({ ...EVERYTHING, limit: 1000 })) ?? [];
  const rows = await query(
    database.url,
    'SELECT seq::integer, created_at::double precision AS created FROM events ORDER BY seq',
  );
  expectOrder(rows as { seq: number; created: number }[]);
  expect(rows).toHaveLength(logged.length + ROUNDS + 3);
  expect(new Set(logged.map(({ id }) => id)).size).toBe(logged.length);
  expect(logged.filter(({ id }) => /^gw-\d+:completed$/.test(id))).toHaveLength(ROUNDS);
  expect(await query(database.url, 'SELECT count(*)::integer AS count FROM governance_events')).toEqual([
    { count: ROUNDS + 3 },
  ]);
  await Promise.all(stores.map((store) => store.close()));
  await database.remove();
});

it('one of two processes completes a request, also when its clock is ahead of the database', async () => {
  const database = await createPostgresTestDatabase();
  const stores = [
    await openStore({ url: database.url, ...options }),
    await openStore({ url: database.url, ...options }),
  ];
  // Rows that stay in their partition hide a change.
  const aheadMs = Date.now() + 3_600_000;
  const ids = Array.from({ length: 400 }, (_, index) => `gw-${index}`);
  const admitted = ids.map((gatewayRequestId) => recordOf('admitted', { gatewayRequestId }));
  for (const { requests } of stores) await requests.report(reportOf(admitted, aheadMs));
  for (let first = 0; first < ids.length; first += 20) {
    const records = ids.slice(first, first + 20).map((gatewayRequestId) => recordOf('success', { gatewayRequestId }));
    await Promise.all(stores.map(({ requests }) => requests.report(reportOf(records, aheadMs - 1))));
  }
  const logged = (await stores[1]?.events.list({ ...EVERYTHING, limit: 1000 })) ?? [];
  expect(logged.map(({ id }) => id).toSorted()).toEqual(ids.map((id) => `${id}:completed`).toSorted());
  await Promise.all(stores.map((store) => store.close()));
  await database.remove();
});

it('stores the span of an outcome, also before any other trace and many together', async () => {
  const database = await createPostgresTestDatabase();
  const store = await openStore({ url: database.url, ...options });
  const ids = Array.from({ length: 100 }, (_, index) => `gwreq_${index}`);
  await store.requests.report(reportOf(ids.map((gatewayRequestId) => recordOf('admitted', { gatewayRequestId }))));
  const traces = ids.map(() => sampleAppend({ traceId: randomHex(32), requests: [] }));
  const concluded = ids.map((gatewayRequestId, index) =>
    store.requests.conclude({
      kind: 'outcome',
      report: reportOf([recordOf('success', { gatewayRequestId })], RECEIVED_AT_MS),
      trace: traces[index] ?? null,
    }),
  );
  await Promise.all(concluded);
  expect(await query(database.url, 'SELECT count(*)::integer AS count FROM traces')).toEqual([{ count: ids.length }]);
  await store.close();
  await database.remove();
});
