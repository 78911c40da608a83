import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { until } from '../support/temp.ts';
import { CHAT, type GatewayFixture, startGateway } from './gateway-fixture.ts';

const STREAM = { ...CHAT, stream: true };
const DRAIN_MS = 600;
const EACH = 8;

let gateway: GatewayFixture;
afterEach(() => gateway.close());

type Ended = { readonly id: string; readonly isWhole: boolean };

/** Resolves once its answer has begun, with a promise of its end. */
async function stream(): Promise<{ readonly ended: Promise<Ended> }> {
  const answer = await fetch(`${gateway.app.address}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.secret}` },
    body: JSON.stringify(STREAM),
  });
  expect(answer.status).toBe(200);
  const id = answer.headers.get('x-langwatch-gateway-request-id') ?? '';
  const ended = answer.text().then(
    () => ({ id, isWhole: true }),
    () => ({ id, isWhole: false }),
  );
  return { ended };
}

it('a stop ends streams in time or cuts them, accounts for each of them, and gives leases back', async () => {
  gateway = await startGateway({ environment: { SPANDREL_DRAIN_MS: String(DRAIN_MS) } });
  const { app, addBudget, mock } = gateway;
  const budget = await addBudget({ scope: { kind: 'project', id: app.projectId }, limit_usd: '10' });
  const short = Array.from({ length: EACH }, () => ({ betweenMs: 20 }));
  const endless = Array.from({ length: EACH }, () => ({ isEndless: true, betweenMs: 20 }));
  mock.next(...short, ...endless);
  const streams = await Promise.all(Array.from({ length: 2 * EACH }, stream));
  expect(Number((await gateway.budget(budget.id)).reserved_usd)).toBeGreaterThan(0);
  const stopping = app.stop();
  const ends = await Promise.all(streams.map(({ ended }) => ended));
  await stopping;
  expect(ends.filter(({ isWhole }) => isWhole)).toHaveLength(EACH);
  const number = (await app.store.keys.findProject(app.projectId))?.organizationNumber ?? 0;
  const organization = { id: app.organizationId, number };
  const range = { organization, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, limit: 1_000, after: null };
  const events = new Map(
    (await app.store.events.list(range)).map(({ id, envelope }) => [id, JSON.parse(envelope).data]),
  );
  for (const { id, isWhole } of ends) {
    const event = events.get(`${id}:completed`);
    expect(event, id).toMatchObject({ status: isWhole ? 'success' : 'error' });
    expect(event.error?.class ?? null).toBe(isWhole ? null : 'client_closed_request');
    expect(event.usage.output_tokens).toBeGreaterThan(0);
  }
  const { spent, leased } = await gateway.sumsOf(budget);
  expect(leased).toBe(0);
  const costs = [...events.values()].reduce((sum, { cost }) => sum + (cost?.nano_usd ?? 0), 0);
  expect(spent).toBe(costs);
  await until(() => mock.requests.every(({ isFinished, isAborted }) => isFinished || isAborted));
});

it('a stop waits for the outcome of an answer that is complete already', async () => {
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  gateway = await startGateway({
    wrapStore: (store) => ({
      ...store,
      requests: {
        ...store.requests,
        async conclude(outcome) {
          isHeld = true;
          await held.promise;
          return await store.requests.conclude(outcome);
        },
      },
    }),
  });
  const { app, secret, send } = gateway;
  const sent = send('/v1/chat/completions', { secret, body: CHAT }).catch(() => null);
  await until(() => isHeld);
  let isStopped = false;
  const stopping = app.stop().then(() => {
    isStopped = true;
  });
  // Beyond the time that an answer waits for its outcome.
  await sent;
  await wait(200);
  expect(isStopped).toBe(false);
  held.resolve();
  await stopping;
});
