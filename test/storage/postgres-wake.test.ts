import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../support/postgres-databases.ts';
import { until } from '../support/temp.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { change, found } from './conformance/management-samples.ts';
import { sampleAppend } from './conformance/samples.ts';
import { sampleEndpoint } from './conformance/webhook-harness.ts';
import { quietLog } from './quiet-log.ts';

const LISTENER = new URL('listen-process.ts', import.meta.url).pathname;

let database: TestDatabase;
let stores: readonly [Store, Store];

beforeEach(async () => {
  database = await createPostgresTestDatabase();
  const open = () => openStore({ url: database.url, queueMaxBytes: 1024 * 1024, log: quietLog });
  stores = [await open(), await open()];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  await database.remove();
});

/** Counts the wake-ups of a store from when it listens. */
async function listen(store: Store): Promise<{ count: number; stop(): void }> {
  const woken = { count: 0 };
  const stop = store.deliveries.listen(() => {
    woken.count += 1;
  });
  // A new listener is woken once, for earlier changes.
  await until(() => woken.count > 0);
  woken.count = 0;
  return Object.assign(woken, { stop });
}

async function listeners(): Promise<readonly number[]> {
  const rows = await query(
    database.url,
    `SELECT pid FROM pg_stat_activity
     WHERE application_name LIKE 'spandrel/% listen' AND datname = current_database() AND query LIKE 'LISTEN%'`,
  );
  return rows.map(({ pid }) => pid);
}

describe('a listener', () => {
  it('is woken by what this process and others append', async () => {
    const [one, two] = stores;
    const [near, far] = [await listen(one), await listen(two)];
    await one.traces.append(sampleAppend());
    expect(near.count).toBeGreaterThan(0);
    await until(() => far.count > 0);
  });

  it('is woken by changes of endpoints, and not by others', async () => {
    const [one, two] = stores;
    const { organization } = await found(one);
    const far = await listen(two);
    await change(one, organization.id, {});
    const endpoint = { record: sampleEndpoint({ organizationId: organization.id }), expectedVersion: 0 };
    expect(far.count).toBe(0);
    await change(one, organization.id, { endpoints: [{ ...endpoint, clearsStreak: false }] });
    await until(() => far.count > 0);
  });

  it('is notified of many commits together, and of the last one', async () => {
    const [one, two] = stores;
    const far = await listen(two);
    for (let index = 0; index < 200; index += 1) await one.traces.append(sampleAppend());
    await until(() => far.count > 1);
    expect(far.count).toBeLessThan(100);
  });

  it('is notified again after its connection was lost, and learns that it may have missed something', async () => {
    const [one, two] = stores;
    const far = await listen(two);
    const [pid] = await listeners();
    await query(database.url, `SELECT pg_terminate_backend(${pid})`);
    await until(() => far.count > 0);
    expect(await listeners()).not.toContain(pid);
    far.count = 0;
    await one.traces.append(sampleAppend());
    await until(() => far.count > 0);
  });

  it('has a connection for it only as long as it listens', async () => {
    const [one] = stores;
    expect(await listeners()).toEqual([]);
    const [first, second] = [await listen(one), one.deliveries.listen(() => undefined)];
    expect(await listeners()).toHaveLength(1);
    first.stop();
    await one.traces.append(sampleAppend());
    expect(first.count).toBe(0);
    expect(await listeners()).toHaveLength(1);
    second();
    await until(async () => (await listeners()).length === 0);
    const again = await listen(one);
    await one.traces.append(sampleAppend());
    expect(again.count).toBeGreaterThan(0);
  });

  it('keeps no process alive', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [LISTENER, database.url], { timeout: 20_000 });
    expect(stdout).toBe('listening\n');
  });
});
