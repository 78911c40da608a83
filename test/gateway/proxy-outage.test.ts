import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { unavailableFault } from '../../src/domain/fault.ts';
import type { Store } from '../../src/domain/store.ts';
import { until } from '../support/temp.ts';
import { CHAT, type GatewayFixture, startGateway } from './gateway-fixture.ts';

const PATH = '/v1/chat/completions';
const STREAM = { ...CHAT, stream: true };

let gateway: GatewayFixture;
afterEach(() => gateway.close());

type Verb = 'admit' | 'conclude' | 'grant' | 'renew';

/** What the store fails at, as it does when its database is away. */
const failing = new Set<Verb>();
afterEach(() => failing.clear());

function mayFail<A extends readonly unknown[], R>(verb: Verb, call: (...args: A) => Promise<R>) {
  return (...args: A): Promise<R> =>
    failing.has(verb) ? Promise.reject(unavailableFault('The store is away.', 1)) : call(...args);
}

function wrapStore(store: Store): Store {
  const { requests, leases } = store;
  return {
    ...store,
    requests: {
      ...requests,
      admit: mayFail('admit', requests.admit),
      conclude: mayFail('conclude', requests.conclude),
      renew: mayFail('renew', requests.renew),
    },
    leases: { ...leases, grant: mayFail('grant', leases.grant), renew: mayFail('renew', leases.renew) },
  };
}

function start(environment: { readonly [name: string]: string } = {}) {
  return startGateway({ environment, wrapStore });
}

async function allEvents(): Promise<readonly { readonly id: string; readonly type: string }[]> {
  const { data } = await gateway.manage('GET', '/api/webhooks/v1/events?from=0&to=9007199254740991&limit=200');
  return data.filter(({ id }: { id: string }) => id.startsWith('gwreq_'));
}

it.each([
  ['an answer', CHAT, { firstByteMs: 10_000 }],
  ['a stream', STREAM, { isEndless: true, betweenMs: 10 }],
])('cancels %s that cannot be admitted, and delivers nothing', async (_, body, step) => {
  gateway = await start();
  const { secret, send, addBudget, app, mock } = gateway;
  const budget = await addBudget({ scope: { kind: 'project', id: app.projectId }, limit_usd: '1' });
  failing.add('admit');
  // A step that waits for its request would wait for ever: it may be cancelled before it is sent.
  const sent = await send(PATH, { secret, body, headers: { 'x-mock-step': JSON.stringify(step) } });
  expect([sent.status, sent.body.error.code]).toEqual([503, 'unavailable']);
  expect(sent.headers.get('retry-after')).toBe('1');
  await until(() => mock.requests.every(({ isAborted }) => isAborted));
  failing.clear();
  expect((await send(PATH, { secret, body: CHAT })).status).toBe(200);
  expect(await allEvents()).toHaveLength(2);
  await app.stop();
  const sums = await gateway.sumsOf(budget);
  expect(sums.leased).toBe(0);
  expect(sums.spent).toBeGreaterThan(0);
});

it('stores an outcome once the store is back, and counts it once', async () => {
  gateway = await start();
  const { secret, send, addBudget, app, eventOf } = gateway;
  const budget = await addBudget({ scope: { kind: 'project', id: app.projectId }, limit_usd: '1' });
  failing.add('conclude');
  const [sent, streamed] = await Promise.all([
    send(PATH, { secret, body: CHAT }),
    send(PATH, { secret, body: STREAM }),
  ]);
  expect([sent.status, streamed.status]).toEqual([200, 200]);
  expect(await allEvents()).toEqual([]);
  expect(Number((await gateway.budget(budget.id)).reserved_usd)).toBeGreaterThan(0);
  failing.clear();
  await until(async () => (await allEvents()).length === 2);
  const costs = await Promise.all([sent, streamed].map(async (each) => (await eventOf(each)).cost.nano_usd));
  await app.stop();
  expect(await gateway.sumsOf(budget)).toEqual({ spent: costs[0] + costs[1], leased: 0 });
});

it('is 503 once leases are empty and no more can be had, never open', async () => {
  gateway = await start();
  const { secret, send, addBudget, app, mock } = gateway;
  const body = { ...CHAT, max_tokens: 1_000 };
  // A lease has room for one or two of them.
  await addBudget({ scope: { kind: 'project', id: app.projectId }, limit_usd: '0.01', reserve: 'worst' });
  expect((await send(PATH, { secret, body })).status).toBe(200);
  failing.add('grant');
  const statuses: number[] = [];
  for (let index = 0; index < 5; index += 1) statuses.push((await send(PATH, { secret, body })).status);
  expect(statuses.at(-1)).toBe(503);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(mock.requests).toHaveLength(1 + statuses.filter((status) => status === 200).length);
  failing.clear();
  expect((await send(PATH, { secret, body })).status).toBe(200);
});

it('does not settle a request in progress whose renewals fail for a while', async () => {
  gateway = await start({ SPANDREL_SETTLEMENT_GRACE_MS: '2000' });
  const { secret, send } = gateway;
  failing.add('renew');
  const sending = send(PATH, { secret, body: STREAM, step: { betweenMs: 400 } });
  await wait(800);
  failing.clear();
  expect((await sending).status).toBe(200);
  expect((await allEvents()).map(({ id }) => id.slice(id.indexOf(':')))).toEqual([':completed']);
});
