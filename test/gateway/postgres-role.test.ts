import { setTimeout as wait } from 'node:timers/promises';
import { Client, credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts';
import { query } from '../support/postgres-databases.ts';
import { callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { CHAT, gatewayKit } from './gateway-fixture.ts';

const GRACE_MS = 1_000;
const SETTLEMENT = { SPANDREL_GATEWAY_ALLOW: '127.0.0.1', SPANDREL_SETTLEMENT_GRACE_MS: String(GRACE_MS) };
const ALONE = /SPANDREL_ROLE=gateway/;

let whole: TestApp;
let alone: TestApp;
let mock: MockProvider;
beforeAll(async () => {
  mock = await startMockProvider();
  whole = await startApp({ environment: SETTLEMENT });
  alone = await startApp({ environment: { ...SETTLEMENT, SPANDREL_ROLE: 'gateway' }, database: whole.database });
});
afterAll(async () => {
  await whole.stop();
  await whole.store.close();
  await alone.close();
  await mock.close();
});

type Admission = { readonly address: string; readonly projectKey: string };

/** A request of another gateway, which never gets an outcome. */
async function reportAdmission({ address, projectKey }: Admission, id: string): Promise<number> {
  const records = [{ gateway_request_id: id, status: 'admitted', occurred_at: Date.now() }];
  const headers = { 'x-auth-token': projectKey };
  return (await callRest(address, { verb: 'POST', path: '/api/gateway/v1/requests', body: { records }, headers }))
    .status;
}

async function callGrpc(path: string): Promise<{ readonly code: number; readonly bytes: Buffer | null }> {
  const client = new Client(new URL(alone.address).host, credentials.createInsecure());
  const same = (value: Buffer) => value;
  try {
    return await new Promise((resolve) => {
      client.makeUnaryRequest(path, same, same, Buffer.alloc(0), (error, value) =>
        resolve(error ? { code: error.code, bytes: null } : { code: 0, bytes: value ?? null }),
      );
    });
  } finally {
    client.close();
  }
}

it('a gateway alone serves virtual keys, which the other process manages and bills', async () => {
  const all = gatewayKit(whole, mock);
  await all.addProvider({ name: 'openai', kind: 'openai_compatible' });
  const { id, secret } = await all.addKey();
  const budget = await all.addBudget({ scope: { kind: 'virtual_key', id }, limit_usd: '1' });
  const other = gatewayKit({ ...whole, address: alone.address }, mock);
  const sent = await other.send('/v1/chat/completions', { secret, body: CHAT });
  expect(sent.status, sent.text).toBe(200);
  expect(sent.body).toEqual(JSON.parse(mock.requests.at(-1)?.sent().toString() ?? ''));
  const { cost } = await all.eventOf(sent);
  expect(Number((await all.budget(budget.id)).spent_usd)).toBeCloseTo(cost.nano_usd / 1e9, 12);
  expect((await other.send('/v1/me', { secret, verb: 'GET' })).status).toBe(200);
  await all.manage('POST', `/api/gateway/v1/virtual-keys/${id}/revoke`, {});
  const refused = await other.send('/v1/chat/completions', { secret, body: CHAT });
  expect([refused.status, refused.body.error.code]).toEqual([403, 'virtual_key_revoked']);
});

it.each(['/healthz', '/readyz', '/metrics'])('it serves %s', async (path) => {
  expect((await fetch(alone.address + path)).status).toBe(200);
});

it.each([
  ['GET', '/'],
  ['GET', '/docs'],
  ['GET', '/openapi.json'],
  ['GET', '/traces'],
  ['GET', '/api/organization'],
  ['POST', '/api/collector'],
  ['POST', '/api/gateway/v1/virtual-keys'],
  ['POST', '/api/gateway/v1/requests'],
  ['POST', '/v1/traces'],
  ['POST', '/api/otel/v1/traces'],
])('it serves nothing else: %s %s', async (verb, path) => {
  const headers = { authorization: `Bearer ${whole.adminKey}`, 'content-type': 'application/json' };
  const answer = await fetch(alone.address + path, { method: verb, headers, ...(verb === 'POST' && { body: '{}' }) });
  expect(answer.status).toBe(404);
  expect(await answer.text()).toMatch(ALONE);
});

it('it serves no rpc but health', async () => {
  const service = 'spandrel.v1.TraceService/CollectTrace';
  expect((await callGrpc(`/${service}`)).code).toBe(12);
  const connect = await fetch(`${alone.address}/${service}`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json', 'connect-protocol-version': '1' } },
    body: '{}',
  });
  expect([connect.status, await connect.text()]).toEqual([404, expect.stringMatching(ALONE)]);
  expect(await callGrpc('/grpc.health.v1.Health/Check')).toEqual({ code: 0, bytes: Buffer.from([8, 1]) });
});

it('it settles no requests, which the other process does', async () => {
  const settled = async (id: string) => {
    const sql = `SELECT 1 FROM events WHERE id = '${id}:settled'`;
    return (await query(whole.database.url, sql)).length > 0;
  };
  expect(await reportAdmission(whole, 'gw-1')).toBe(200);
  await until(() => settled('gw-1'));
  expect(await reportAdmission(whole, 'gw-2')).toBe(200);
  await whole.stop();
  await wait(2.5 * GRACE_MS);
  expect(await settled('gw-2')).toBe(false);
});
