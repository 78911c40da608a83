/** Two processes on one PostgreSQL, which serve the same virtual keys. */

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHAT, gatewayKit } from '../gateway/gateway-fixture.ts';
import { documentedBody } from '../support/documented-answers.ts';
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts';
import { drawSeed, isFullTier, report, seeded } from '../support/scenario.ts';
import { ADMIN_KEY, PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { walkLog } from '../support/walk-log.ts';

const PROJECT = 'project-of-the-test';
const PATH = '/v1/chat/completions';
const CLIENTS = 200;
const RESERVED_MAX = 20;
const ROUNDS = isFullTier ? 20 : 5;
const USD = 1_000_000_000;
const OUTPUT_MAX = 4_000;
/** Of gpt-4o-mini, in nano-USD. */
const OUTPUT_PRICE = 600;
/** What an estimate that knows no answers of a key takes for one. */
const OUTPUT_ESTIMATED = 256;

type Kit = ReturnType<typeof gatewayKit>;

let database: TestDatabase;
let mock: MockProvider;
let servers: readonly SpawnedServer[];
let kits: readonly [Kit, Kit];
beforeAll(async () => {
  database = await createTestDatabase();
  mock = await startMockProvider();
  const environment = {
    ...database.environment,
    SPANDREL_GATEWAY_ALLOW: '127.0.0.1',
    SPANDREL_BOOTSTRAP_PROJECT_ID: PROJECT,
  };
  const [one, two] = [await spawnServer(environment), await spawnServer(environment)];
  servers = [one, two];
  const kitOf = ({ address }: SpawnedServer) =>
    gatewayKit({ address, adminKey: ADMIN_KEY, projectKey: PROJECT_KEY, projectId: PROJECT }, mock);
  kits = [kitOf(one), kitOf(two)];
  await kits[0].addProvider({ name: 'openai', kind: 'openai_compatible' });
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  await mock.close();
  await database.remove();
});

function asciiOf(step: object): string {
  const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(step).replaceAll(/[^\x20-\x7e]/g, toEscape);
}

type Refusals = Map<string, number>;

/** Every client sends through one of the processes until the budget is spent. */
async function spendAll(secret: string): Promise<{ readonly refusals: Refusals; readonly excessMax: number }> {
  const random = seeded(drawSeed());
  const refusals: Refusals = new Map();
  let [excess, excessMax] = [0, 0];
  const body = { ...CHAT, max_tokens: OUTPUT_MAX };

  async function client({ send }: Kit): Promise<void> {
    for (let reserved = 0; reserved < RESERVED_MAX; ) {
      const outputTokens = Math.ceil(OUTPUT_MAX * (0.5 + random() / 2));
      const usage = { prompt_tokens: 10, completion_tokens: outputTokens, total_tokens: 10 + outputTokens };
      const step = { firstByteMs: 20 * random(), body: { ...documentedBody('chat'), usage } };
      const over = (outputTokens - OUTPUT_ESTIMATED) * OUTPUT_PRICE;
      excess += over;
      excessMax = Math.max(excessMax, excess);
      const headers = { 'x-mock-step': asciiOf(step) };
      const { status, text, body: answer } = await send(PATH, { secret, body, headers });
      excess -= over;
      if (status === 200) continue;
      const code = `${status} ${answer?.error?.code ?? text}`;
      refusals.set(code, (refusals.get(code) ?? 0) + 1);
      if (status !== 429) return;
      reserved += 1;
      await delay(50);
    }
  }

  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(kits[index % 2] as Kit)));
  return { refusals, excessMax };
}

type Case = { readonly reserve: 'worst' | 'expected'; readonly limitNanoUsd: number };

it.each<Case>([
  { reserve: 'worst', limitNanoUsd: USD },
  { reserve: 'expected', limitNanoUsd: USD / 5 },
])(`${CLIENTS} clients on two processes keep to a budget that reserves the $reserve`, async (each) => {
  const { reserve, limitNanoUsd } = each;
  const [kit] = kits;
  const { id: keyId, secret } = await kit.addKey();
  const scope = { kind: 'virtual_key', id: keyId };
  const made = await kit.addBudget({ scope, reserve, limit_usd: String(limitNanoUsd / USD) });
  const { refusals, excessMax } = await spendAll(secret);
  // What each process did not use goes back.
  await until(async () => Number((await kit.budget(made.id)).reserved_usd) === 0);
  const { spent_usd: spentUsd } = await kit.budget(made.id);
  const spent = Math.round(Number(spentUsd) * USD);
  const address = servers[1]?.address ?? '';
  const events = (await walkLog({ address: () => address })).filter(({ data }) => data.virtual_key_id === keyId);
  expect(events.reduce((sum, { data }) => sum + data.cost.nano_usd, 0)).toBe(spent);
  expect(spent).toBeLessThanOrEqual(limitNanoUsd + (reserve === 'worst' ? 0 : excessMax));
  expect(spent).toBeGreaterThan(limitNanoUsd * 0.9);
  // Otherwise the scenario was not what it says.
  if (reserve === 'expected') expect(spent).toBeGreaterThan(limitNanoUsd);
  const codes = [...refusals.keys()];
  expect(codes.filter((code) => !/^(402 budget_exceeded|429 budget_reserved)$/.test(code))).toEqual([]);
  expect(codes).toContain('402 budget_exceeded');
  report({ id: `gateway budget ${reserve}`, seed: 0, n: events.length, pass: true });
});

it('a key that changes on one process has changed on the other with the next request', async () => {
  const [one, two] = kits;
  const ask = async (secret: string) => {
    const { status, body } = await two.send(PATH, { secret, body: CHAT });
    return status === 200 ? 200 : `${status} ${body.error.code}`;
  };
  const other = await one.addKey();
  let isBusy = true;
  const busy = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (isBusy) expect(await ask(other.secret)).toBe(200);
    }),
  );
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id, secret } = await one.addKey();
    const act = (action: string, body = {}) => one.manage('POST', `/api/gateway/v1/virtual-keys/${id}/${action}`, body);
    expect(await ask(secret)).toBe(200);
    await act('disable', { reason: 'as a test' });
    expect(await ask(secret)).toBe('403 virtual_key_disabled');
    await act('enable');
    expect(await ask(secret)).toBe(200);
    const { secret: rotated } = await act('rotate', { overlap_s: 0 });
    expect([await ask(secret), await ask(rotated)]).toEqual(['401 invalid_api_key', 200]);
    await one.manage('PATCH', `/api/gateway/v1/virtual-keys/${id}`, { config: { models_allowed: ['gpt-5'] } });
    expect(await ask(rotated)).toBe('403 model_not_allowed');
    await act('revoke');
    expect(await ask(rotated)).toBe('403 virtual_key_revoked');
  }
  isBusy = false;
  await busy;
});

it('a budget that changes on one process holds on the other with the next request', async () => {
  const [one, two] = kits;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id, secret } = await one.addKey();
    const ask = async () => (await two.send(PATH, { secret, body: { ...CHAT, max_tokens: 1_000 } })).status;
    expect(await ask()).toBe(200);
    const scope = { kind: 'virtual_key', id };
    const { id: budgetId } = await one.addBudget({ scope, reserve: 'worst', limit_usd: '0.000001' });
    expect(await ask()).toBe(402);
    await one.manage('PATCH', `/api/gateway/v1/budgets/${budgetId}`, { limit_usd: '1' });
    expect(await ask()).toBe(200);
    await one.manage('PATCH', `/api/gateway/v1/budgets/${budgetId}`, { limit_usd: '0.000001' });
    expect(await ask()).toBe(402);
    await one.manage('DELETE', `/api/gateway/v1/budgets/${budgetId}`);
    expect(await ask()).toBe(200);
  }
});
