/** A delivering server that tests kill repeatedly, and its receivers. */

import { inject } from 'vitest';
import { deliveryStatuses } from '../../src/storage/rows/codes.ts';
import { query } from './postgres-databases.ts';
import { type Push, type Receiver, startReceiver } from './receiver.ts';
import { ADMIN_KEY, PROJECT_KEY, type SpawnedServer, spawnServer } from './server.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { createWebhookClient, type WebhookClient } from './webhook-client.ts';
import { ALLOW_THIS_MACHINE } from './webhook-fixture.ts';

const SENDING = deliveryStatuses.code('sending');

export type KilledSenders = WebhookClient & {
  readonly receiver: Receiver;
  readonly database: TestDatabase;
  /** The running server. */
  server(): SpawnedServer;
  /** Starts a server. */
  start(environment?: { readonly [name: string]: string }): Promise<void>;
  kill(signal?: NodeJS.Signals): Promise<number | null>;
  /** Makes every retry due, as if its backoff had passed. Call it while no server runs. */
  endBackoff(): Promise<void>;
  close(): Promise<void>;
};

export async function createKilledSenders(): Promise<KilledSenders> {
  const receiver = await startReceiver();
  const database = await createTestDatabase();
  let current: SpawnedServer | null = null;
  const server = () => {
    if (current === null) throw new Error('no server runs');
    return current;
  };
  return {
    ...createWebhookClient({ address: () => server().address, adminKey: ADMIN_KEY, projectKey: PROJECT_KEY }),
    receiver,
    database,
    server,
    async start(environment = {}) {
      await endLeases(database);
      current = await spawnServer({ ...database.environment, ...ALLOW_THIS_MACHINE, ...environment });
    },
    kill: (signal = 'SIGKILL') => server().stop(signal),
    endBackoff: () =>
      database.execute('UPDATE webhook_deliveries SET due_at = 0 WHERE due_at > 0 AND ended_at IS NULL'),
    async close() {
      await current?.stop('SIGKILL');
      await receiver.close();
      await database.remove();
    },
  };
}

/** Ends all leases. With SQLite a new server ends the leases of a killed one itself. */
async function endLeases({ url, execute }: TestDatabase): Promise<void> {
  if (inject('store') !== 'postgres') return;
  const [found] = await query(url, `SELECT to_regclass('webhook_deliveries') AS name`);
  if (found?.name !== null) await execute(`UPDATE webhook_deliveries SET due_at = 0 WHERE status = ${SENDING}`);
}

/** Counts the batches that arrived again per kill; the last number counts repeats without a kill. */
export function repeatsOf(pushes: readonly Push[], kills: readonly number[]): readonly number[] {
  const lastAtMs = new Map<string, number>();
  const repeats = Array.from({ length: kills.length + 1 }, () => 0);
  for (const { dispatchId, atMs } of pushes) {
    const before = lastAtMs.get(dispatchId);
    if (before !== undefined) {
      const kill = kills.findIndex((killedAtMs) => killedAtMs >= before && killedAtMs <= atMs);
      const index = kill < 0 ? kills.length : kill;
      repeats[index] = (repeats[index] ?? 0) + 1;
    }
    lastAtMs.set(dispatchId, atMs);
  }
  return repeats;
}
