/** A server, a receiver on this machine, and a client that owns endpoints. */

import type { Store } from '../../src/domain/store.ts';
import { startApp, type TestApp, type TestAppOptions } from './app.ts';
import { ignoreDatabaseClock } from './database-clock.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { createWebhookClient, type WebhookClient } from './webhook-client.ts';

export const ALLOW_THIS_MACHINE = { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1' };

export type WebhookFixture = WebhookClient & {
  readonly app: TestApp;
  readonly receiver: Receiver;
  /** Advances the server's clock. */
  pass(delayMs: number): Promise<void>;
  /** The clock of the server. */
  now(): number;
  close(): Promise<void>;
};

export type WebhookFixtureOptions = Pick<TestAppOptions, 'environment' | 'wait' | 'wrapStore' | 'writer'>;

/** The server's clock runs, and jumps on `pass`. */
export async function startWebhookFixture(options: WebhookFixtureOptions = {}): Promise<WebhookFixture> {
  const { environment = {}, wait, writer = 'here', wrapStore = (store: Store) => store } = options;
  const receiver = await startReceiver();
  let jumpedMs = 0;
  const now = () => Date.now() + jumpedMs;
  const app = await startApp({
    writer,
    // Tests end without waiting for receivers.
    environment: { ...ALLOW_THIS_MACHINE, SPANDREL_DRAIN_MS: '600', ...environment },
    clock: now,
    wrapStore: (store) => wrapStore(ignoreDatabaseClock(store)),
    ...(wait === undefined ? {} : { wait }),
  });
  const client = createWebhookClient({
    address: () => app.address,
    adminKey: app.adminKey,
    projectKey: app.projectKey,
  });
  let idle: string | null = null;
  return {
    ...client,
    app,
    receiver,
    now,
    async pass(delayMs) {
      jumpedMs += delayMs;
      // A change of an endpoint wakes the dispatchers, which would poll within a second otherwise.
      idle ??= (await client.create(receiver.url('/idle'), { enabled_events: ['gateway.budget.*'] })).id;
      await client.change(idle, { description: `at ${now()}` });
    },
    async close() {
      await app.close();
      await receiver.close();
    },
  };
}
