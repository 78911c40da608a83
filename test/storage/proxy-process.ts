/**
 * A process of the gateway with a simulated proxy: many clients send requests through it until it is killed. It prints a line for
 * each answer of the store, so that whoever kills it knows what is stored.
 */

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createGatewayRequestId } from '../../src/domain/events/request-event.ts';
import { openStore } from '../../src/storage/open.ts';
import { seeded } from '../support/scenario.ts';
import { quietLog } from './quiet-log.ts';
import { createProxy, type Tenant, worstCostOf } from './simulated-proxy.ts';

const CLIENTS = 16;
const TICK_MS = 50;
const ANSWER_MAX_MS = 8;
const REFUSED_PAUSE_MS = 5;
const END_USERS = ['ann', 'bob', null];
/** The shares of requests whose outcome never comes, is an error, is stored again, and is an error that is corrected. */
const [LOST, FAILED, REPEATED, CORRECTED] = [0.1, 0.3, 0.2, 0.5];

const [url = '', processId = '', tenantJson = '', seed = '0'] = process.argv.slice(2);
const store = await openStore({ url, queueMaxBytes: 64 * 1024 * 1024, log: quietLog, writer: 'here' });
const proxy = createProxy(store, JSON.parse(tenantJson) as Tenant, processId);
const random = seeded(Number(seed));
setInterval(() => void proxy.holder.tick().catch(() => undefined), TICK_MS);
await Promise.all(Array.from({ length: CLIENTS }, client));

async function client(): Promise<never> {
  for (;;) {
    const id = createGatewayRequestId(randomBytes);
    const endUserId = END_USERS[Math.floor(random() * END_USERS.length)] ?? null;
    const sent = await proxy.admit({ id, endUserId });
    if (sent.kind !== 'admitted') {
      await delay(REFUSED_PAUSE_MS);
      continue;
    }
    tell('admitted', id);
    await delay(random() * ANSWER_MAX_MS);
    if (random() > LOST) await complete(id);
  }
}

async function complete(id: string): Promise<void> {
  const cost = drawCost();
  const status = random() < FAILED ? 'error' : 'success';
  await proxy.complete(id, cost, status);
  tell('completed', id, cost);
  if (random() < REPEATED) await proxy.complete(id, cost + 1, status);
  if (status === 'success' || random() > CORRECTED) return;
  const corrected = drawCost();
  await proxy.complete(id, corrected);
  tell('completed', id, corrected);
}

function drawCost(): number {
  return Math.ceil(worstCostOf() * 2 * random());
}

/** Writes to a pipe wait until they are done. */
function tell(...words: readonly (string | number)[]): void {
  process.stdout.write(`${words.join(' ')}\n`);
}
