import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDeliveryStore } from '../../src/storage/endpoints/delivery-store.ts';
import { createWebhookLog, createWebhookStore } from '../../src/storage/endpoints/webhook-store.ts';
import { openReadHandle, type RunRead, readNow } from '../../src/storage/engine/sqlite/connection.ts';
import { connectTo, openMapper } from '../../src/storage/engine/sqlite/mapper.ts';
import { createRunQuery } from '../../src/storage/engine/sqlite/run-query.ts';
import { openQueries } from '../../src/storage/engine/sqlite/statements.ts';
import { createWake } from '../../src/storage/engine/sqlite/store.ts';
import { createLogSearch } from '../../src/storage/events/events.ts';
import { createWebhookRoom } from '../../src/storage/management/endpoints.ts';
import { unitOn } from '../../src/storage/mapper.ts';
import { openStore } from '../../src/storage/open.ts';
import { insertOldEvents } from '../support/old-events.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { change, found } from './conformance/management-samples.ts';
import { sampleEndpoint } from './conformance/webhook-harness.ts';
import { quietLog } from './quiet-log.ts';

const EVENTS = 10_001;
const FIRST_AT_MS = Date.UTC(2026, 5, 1);
const ENDPOINTS = 300;

let database: TestDatabase;
let file: string;
let reader: Database.Database;
let organizationId: string;
let reads = 0;

const countedRead: RunRead = (read) => {
  reads += 1;
  return readNow(read);
};

/** Endpoints as old as the log that subscribe to none of its events. */
beforeEach(async () => {
  database = await createTestDatabase();
  file = database.url.slice('sqlite:'.length);
  const store = await openStore({ url: database.url, queueMaxBytes: 64 * 1024 * 1024, log: quietLog, writer: 'here' });
  organizationId = (await found(store)).organization.id;
  const endpoints = Array.from({ length: ENDPOINTS }, () => ({
    record: sampleEndpoint({ organizationId, enabledEvents: ['gateway.virtual_key.*'] }),
    expectedVersion: 0,
    clearsStreak: false,
  }));
  await change(store, organizationId, { endpoints });
  await store.close();
  execute('DELETE FROM log_heads');
  await insertOldEvents(database, { organizationNumber: 1, projectNumber: 1, count: EVENTS, firstAtMs: FIRST_AT_MS });
  reader = openReadHandle(file);
  reads = 0;
});

afterEach(async () => {
  reader.close();
  await database.remove();
});

function stores() {
  const runQuery = createRunQuery(reader, countedRead);
  const queries = openQueries();
  const search = createLogSearch({ queries: queries.events, runQuery }, 5_000);
  const refuse = () => Promise.reject(new Error('the writer was called'));
  const work = { applyWork: refuse, maintainDeliveries: refuse };
  const room = createWebhookRoom({ read: (body) => body(unitOn(openMapper(), connectTo(reader))) });
  const shared = { queries, runQuery, search };
  return {
    deliveries: createDeliveryStore({
      ...shared,
      ...{
        runBackgroundQuery: runQuery,
        wake: createWake(),
        work,
        maintainedRowsMax: 1,
        nowMs: async () => null,
        isAlone: true,
      },
    }),
    webhooks: createWebhookStore(room, shared),
    webhookLog: createWebhookLog({ ...shared, room, tests: { beginTest: refuse, endTest: refuse } }),
  };
}

function execute(sql: string, ...values: readonly unknown[]): void {
  const db = new Database(file);
  db.prepare(sql).run(...values);
  db.close();
}

it('goes through the log once for all endpoints that wait for the same types', async () => {
  const counts = await stores().deliveries.counts();
  expect(counts).toMatchObject({ outboxEvents: ENDPOINTS * EVENTS, oldestUndeliveredAtMs: null });
  expect(reads).toBeLessThan(100);
});

it('returns the oldest event of all endpoints, at any positions', async () => {
  execute(`UPDATE webhook_states SET position = endpoint_number * 10, subscriptions = '[{"fromSeq":1,"mask":1}]'`);
  execute(`UPDATE webhook_states SET subscriptions = '[{"fromSeq":1,"mask":0},{"fromSeq":9,"mask":1},{"fromSeq":19,"mask":0}]'
    WHERE endpoint_number = 1`);
  const counts = await stores().deliveries.counts();
  // The endpoint at position 10 is the last one behind.
  expect(counts.oldestUndeliveredAtMs).toBe(FIRST_AT_MS + 10);
});

it('reads only the ranges of the log that an endpoint gets, when it was disabled repeatedly', async () => {
  const ranges = 200;
  const subscriptions = Array.from({ length: ranges }, (_, index) => [
    { fromSeq: 1 + 2 * index, mask: 1 },
    { fromSeq: 2 + 2 * index, mask: 0 },
  ]);
  execute(
    'UPDATE webhook_states SET subscriptions = ? WHERE endpoint_number = 1',
    JSON.stringify(subscriptions.flat()),
  );
  const health = await stores().webhookLog.health(1, FIRST_AT_MS + EVENTS);
  expect(health).toMatchObject({ queuedEvents: ranges, oldestUndeliveredAtMs: FIRST_AT_MS });
  // Three reads per range: its position, its events, and missing events.
  expect(reads).toBeLessThan(3 * ranges + 10);
});

it('lists and reads endpoints past the writer', async () => {
  const store = stores().webhooks;
  const all = await store.endpoints(organizationId, { after: null, limit: null });
  expect(all).toHaveLength(ENDPOINTS);
  const [first, second] = all;
  expect(await store.endpoint(organizationId, first?.id ?? '')).toEqual(first);
  expect(await store.endpoints(organizationId, { after: first ?? null, limit: 1 })).toEqual([second]);
  expect(await store.endpoints(organizationId, { after: all.at(-1) ?? null, limit: null })).toEqual([]);
});
