import { afterAll, describe, expect, it } from 'vitest';
import { startPostgresStore } from '../../src/storage/engine/postgres/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../support/postgres-databases.ts';
import { createReusedDatabases } from '../support/postgres-reuse.ts';
import { isFullTier } from '../support/scenario.ts';
import { createPostgresTestDatabase } from '../support/test-database.ts';
import { ORGANIZATION, PROJECT, RECEIVED_AT_MS, sampleAppend, sampleRequest } from './conformance/samples.ts';
import { engineConformance, storeConformance } from './conformance/store.ts';
import type { Subject } from './conformance/subject.ts';
import { quietLog } from './quiet-log.ts';

const options = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog };

const databases = createReusedDatabases();
afterAll(() => databases.end());

async function openPostgres(): Promise<Subject> {
  const database = await databases.take();
  const { pools, url } = database;
  const store = await startPostgresStore({ pools, close: () => Promise.resolve() }, { url, ...options });
  return {
    store,
    bytes: (hex) => `'\\x${hex}'`,
    execute: async (sql) => void (await query(url, sql)),
    read: (sql) => query(url, sql),
    dispose: async () => {
      await store.close();
      await database.remove();
    },
  };
}

describe('PostgreSQL', () => {
  if (isFullTier) storeConformance(openPostgres);
  else engineConformance(openPostgres);

  it('has everything again after it was closed and opened', async () => {
    const database = await createPostgresTestDatabase();
    const append = sampleAppend();
    const first = await openStore({ url: database.url, ...options });
    await first.traces.append(append);
    await first.close();
    const second = await openStore({ url: database.url, ...options });
    expect(await second.traces.find(PROJECT.number, append.traceId)).toMatchObject({ spanCount: 1 });
    await second.close();
    await database.remove();
  });

  it('a request that was admitted in another month moves to the month of its outcome', async () => {
    const database = await createPostgresTestDatabase();
    const store = await openStore({ url: database.url, ...options });
    const admittedAtMs = RECEIVED_AT_MS - 90 * 86_400_000;
    const bystander = sampleAppend({ receivedAtMs: admittedAtMs });
    await store.traces.append(bystander);
    await query(database.url, 'SELECT create_month(677), create_month(678), create_month(679), create_month(680)');
    await query(
      database.url,
      `INSERT INTO request_keys VALUES (1, 'gw-1', ${admittedAtMs});
       INSERT INTO requests (organization_number, request_key, changed_at, project_number, state, received_at)
       VALUES (1, 'gw-1', ${admittedAtMs}, 1, 2, ${admittedAtMs})`,
    );
    await store.traces.append(sampleAppend({ requests: [sampleRequest({ gatewayRequestId: 'gw-1' })] }));
    const rows = await query(
      database.url,
      `SELECT state, completed_at = (SELECT created_at FROM events WHERE id = 'gw-1:completed') AS is_emitted,
         requests.changed_at = request_keys.changed_at AND requests.changed_at > ${RECEIVED_AT_MS - 1} AS moved
       FROM requests JOIN request_keys USING (organization_number, request_key) WHERE request_key = 'gw-1'`,
    );
    expect(rows).toEqual([{ state: 0, is_emitted: true, moved: true }]);
    expect(await store.events.find(ORGANIZATION, 'gw-1:completed', 0)).not.toBeNull();
    const [{ total } = {}] = await query(database.url, 'SELECT count(*)::integer AS total FROM requests');
    expect(total).toBe(2);
    await store.close();
    await database.remove();
  });
});
