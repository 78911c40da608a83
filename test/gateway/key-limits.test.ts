/** What one virtual key can take of the server, and what it reaches. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUrlPolicy } from '../../src/domain/endpoints/url-policy.ts';
import { createUpstream } from '../../src/gateway/upstream.ts';
import { callRest } from '../support/surfaces.ts';
import { CHAT, type GatewayFixture, startGateway } from './gateway-fixture.ts';

const PATH = '/v1/chat/completions';
const SLOW = { 'x-mock-step': JSON.stringify({ firstByteMs: 1_500 }) };

let gateway: GatewayFixture;
beforeAll(async () => {
  gateway = await startGateway({ environment: { SPANDREL_GATEWAY_CONCURRENCY: '8' } });
});
afterAll(() => gateway.close());

it('has a quarter of the requests in progress, and leaves the rest to others', async () => {
  const { secret, addKey, send, mock } = gateway;
  const before = mock.requests.length;
  const slow = [1, 2].map(() => send(PATH, { secret, body: CHAT, headers: SLOW }));
  await expect.poll(() => mock.requests.length).toBe(before + 2);
  const refused = await send(PATH, { secret, body: CHAT });
  expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
    503,
    'unavailable',
    '1',
  ]);
  expect(await gateway.eventOf(refused)).toMatchObject({ error: { class: 'unavailable' }, cost: { nano_usd: 0 } });
  const other = await addKey();
  expect((await send(PATH, { secret: other.secret, body: CHAT })).status).toBe(200);
  for (const { status } of await Promise.all(slow)) expect(status).toBe(200);
});

it.each([
  ['GET', '/api/gateway/v1/virtual-keys'],
  ['GET', '/api/gateway/v1/model-providers'],
  ['GET', '/api/gateway/v1/budgets'],
  ['GET', '/api/traces/0af7651916cd43dd8448eb211c80319c'],
  ['POST', '/api/collector'],
  ['POST', '/v1/traces'],
])('is not a credential of %s %s', async (verb, path) => {
  const { app, secret } = gateway;
  for (const headers of [{ authorization: `Bearer ${secret}` }, { 'x-auth-token': secret }]) {
    const { status } = await callRest(app.address, { verb, path, headers, ...(verb === 'POST' && { body: {} }) });
    expect(status, path).toBe(401);
  }
});

it('is refused while the member that it is for is disabled, and once the member is removed', async () => {
  const { addKey, manage, send } = gateway;
  const email = `principal-${Date.now()}@example.com`;
  const { userId } = await manage('POST', '/api/organization/members', { email, name: 'P', role: 'MEMBER' });
  const { id, secret } = await addKey({ principal_user_id: userId });
  const ask = async () => {
    const chat = await send(PATH, { secret, body: CHAT });
    expect((await send('/v1/me', { verb: 'GET', secret })).status).toBe(chat.status);
    return [chat.status, chat.body.error?.code];
  };
  const member = `/api/organization/members/${userId}`;
  expect(await ask()).toEqual([200, undefined]);
  await manage('PATCH', member, { disabled: true });
  expect(await ask()).toEqual([403, 'virtual_key_disabled']);
  await manage('PATCH', member, { disabled: false });
  expect(await ask()).toEqual([200, undefined]);
  await manage('DELETE', member);
  expect(await ask()).toEqual([403, 'virtual_key_disabled']);
  await manage('PATCH', `/api/gateway/v1/virtual-keys/${id}`, { principal_user_id: null });
  expect(await ask()).toEqual([200, undefined]);
});

describe('the address of a provider', () => {
  const policy = createUrlPolicy([], 'SPANDREL_GATEWAY_ALLOW');
  const request = { method: 'GET', headers: {}, body: null, timeoutMs: 1_000 } as const;

  it.each([
    ['http://127.0.0.1/v1', []],
    ['https://169.254.169.254/v1', []],
    ['https://provider.example/v1', ['10.0.0.1']],
    ['https://provider.example/v1', ['169.254.169.254']],
    ['https://provider.example/v1', ['93.184.215.14', '127.0.0.1']],
    ['https://provider.example/v1', ['::ffff:127.0.0.1']],
  ])('%s that resolves to %j is refused when a request is sent', async (url, addresses) => {
    const upstream = createUpstream({ policy, resolve: async () => addresses });
    const answer = await upstream.send({ ...request, url, signal: AbortSignal.timeout(5_000) });
    expect(answer).toMatchObject({ kind: 'failed', reason: 'refused' });
    for (const address of addresses) expect(JSON.stringify(answer)).not.toContain(address);
    await upstream.close();
  });
});
