import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { maskOfSelectors } from '../../src/domain/events/event-type.ts';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { insertOldEvents } from '../support/old-events.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { change, found } from './conformance/management-samples.ts';
import { sampleEndpoint } from './conformance/webhook-harness.ts';
import { quietLog } from './quiet-log.ts';

/** Several times the size of a chunk. */
const EVENTS = 17_001;
const FIRST_AT_MS = Date.UTC(2026, 5, 1);
const MASK = maskOfSelectors(['gateway.request.*']);
const options = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog };

let database: TestDatabase;
let store: Store;
let organizationId: string;

/** An endpoint as old as the log that has read none of it. */
beforeEach(async () => {
  database = await createTestDatabase();
  const before = await openStore({ url: database.url, ...options, writer: 'here' });
  organizationId = (await found(before)).organization.id;
  const record = sampleEndpoint({ organizationId, enabledEvents: ['gateway.request.completed'] });
  await change(before, organizationId, { endpoints: [{ record, expectedVersion: 0, clearsStreak: false }] });
  await before.close();
  forgetHead(database);
  await insertOldEvents(database, { organizationNumber: 1, projectNumber: 1, count: EVENTS, firstAtMs: FIRST_AT_MS });
  store = await openStore({ url: database.url, ...options });
});

afterEach(async () => {
  await store.close();
  await database.remove();
});

/** Creating the endpoint stored a log head, and insertOldEvents inserts its own. */
function forgetHead({ url }: TestDatabase): void {
  const db = new Database(url.slice('sqlite:'.length));
  db.exec('DELETE FROM log_heads');
  db.close();
}

it('counts events of a long range in pieces, each event once', async () => {
  const count = async (fromMs: number, toMs: number) =>
    await store.webhookLog.matchEvents(1, { fromMs, toMs, sinceMs: 0, mask: MASK });
  expect(await count(0, Number.MAX_SAFE_INTEGER)).toEqual({ fromSeq: 1, toSeq: EVENTS, matched: EVENTS });
  for (const [first, last] of [
    [1, 5_000],
    [1, 5_001],
    [4_999, 10_000],
    [5_001, 15_000],
    [12_345, EVENTS],
    [EVENTS, EVENTS],
  ] as const) {
    const counted = await count(FIRST_AT_MS + first - 1, FIRST_AT_MS + last - 1);
    expect(counted).toEqual({ fromSeq: first, toSeq: last, matched: last - first + 1 });
  }
});

it('yields to others while it counts, and counts a long outbox exactly', async () => {
  const [endpoint] = (await store.deliveries.changes(0)).endpoints;
  if (endpoint === undefined) throw new Error('there is no endpoint');
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  const health = await store.webhookLog.health(endpoint.number, FIRST_AT_MS);
  clearInterval(timer);
  expect(health).toMatchObject({ queuedEvents: EVENTS, oldestUndeliveredAtMs: FIRST_AT_MS });
  expect(turns).toBeGreaterThan(0);
  expect(await store.deliveries.counts()).toMatchObject({
    outboxEvents: EVENTS,
    oldestUndeliveredAtMs: FIRST_AT_MS,
  });
});
