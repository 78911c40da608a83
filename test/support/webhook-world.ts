/** A server, receivers on this machine that it may send to, and the owner of endpoints. */

import type { Store } from '../../src/domain/store.ts';
import { startApp, type TestApp, type TestAppOptions } from './app.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { createWebhookClient, type WebhookClient } from './webhook-client.ts';

export const ALLOW_THIS_MACHINE = { SPANDREL_WEBHOOK_ALLOW: '127.0.0.1' };

export type WebhookWorld = WebhookClient & {
  readonly app: TestApp;
  readonly receiver: Receiver;
  /** Moves the clock of the server on. */
  pass(delayMs: number): Promise<void>;
  /** The clock of the server. */
  now(): number;
  close(): Promise<void>;
};

export type WebhookWorldOptions = Pick<TestAppOptions, 'environment' | 'wait' | 'dress'>;

/** The clock of its server runs, and jumps when a test says so. */
export async function startWebhookWorld(options: WebhookWorldOptions = {}): Promise<WebhookWorld> {
  const { environment = {}, wait, dress = (store: Store) => store } = options;
  const receiver = await startReceiver();
  let jumpedMs = 0;
  const now = () => Date.now() + jumpedMs;
  const app = await startApp({
    writer: 'in its thread',
    // The end of a test waits for no receiver.
    environment: { ...ALLOW_THIS_MACHINE, SPANDREL_DRAIN_MS: '600', ...environment },
    clock: now,
    // Where a database has a clock of its own, deliveries are to be judged by ours all the same.
    dress: (store) => dress({ ...store, deliveries: { ...store.deliveries, nowMs: async () => null } }),
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
      // Whatever changes wakes those who deliver, who would look up within a second otherwise.
      idle ??= (await client.create(receiver.url('/idle'), { enabled_events: ['gateway.budget.*'] })).id;
      await client.change(idle, { description: `at ${now()}` });
    },
    async close() {
      await app.close();
      await receiver.close();
    },
  };
}
