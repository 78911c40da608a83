import { once } from 'node:events';
import { request } from 'node:http';
import { connect as connect2 } from 'node:http2';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp } from '../support/app.ts';
import { CHAT, type GatewayFixture, MODEL, startGateway } from './gateway-fixture.ts';

const PATH = '/v1/chat/completions';
const BODY = JSON.stringify(CHAT);
let gateway: GatewayFixture;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Sends bytes as they are, and returns all that is answered until the connection closes or `until` came. */
async function sendRaw(sent: string, until: string | null): Promise<string> {
  const socket = connect(Number(new URL(gateway.app.address).port), '127.0.0.1');
  socket.on('error', () => undefined).write(sent);
  let text = '';
  for await (const part of socket) {
    text += part;
    if (until !== null && text.includes(until)) break;
  }
  socket.destroy();
  return text;
}

function headOf(headers: Record<string, string>): string {
  const all = {
    host: 'x',
    authorization: `Bearer ${gateway.secret}`,
    'content-length': String(BODY.length),
    ...headers,
  };
  return `POST ${PATH} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
}

describe('the head of a request', () => {
  it('with Expect is told to go on before its body, and no other expectation is met', async () => {
    expect(await sendRaw(headOf({ expect: '100-continue' }), '\r\n\r\n')).toContain('HTTP/1.1 100 Continue');
    expect(await sendRaw(headOf({ expect: 'a miracle' }), '}}')).toContain('HTTP/1.1 417');
  });

  it('without a key ends the connection, whose body nobody reads', async () => {
    const text = await sendRaw(headOf({ authorization: 'Bearer none', 'content-length': '99999999' }), null);
    expect(text).toContain('HTTP/1.1 401');
    expect(text.toLowerCase()).toContain('connection: close');
  });

  it('has the limits that it has elsewhere', async () => {
    const session = connect2(gateway.app.address);
    const headers = { authorization: `Bearer ${gateway.secret}` };
    const stream = session.request({ ':method': 'POST', ':path': PATH, ...headers, 'x-big': 'x'.repeat(17_000) });
    stream.end(BODY);
    const [answered] = await once(stream, 'response');
    session.destroy();
    expect(answered[':status']).toBe(431);
  });

  it.each([
    ['DELETE', PATH, 405, 'POST'],
    ['OPTIONS', PATH, 204, 'POST'],
    ['PUT', '/v1/models', 405, 'GET, HEAD'],
    ['OPTIONS', '/v1/me', 204, 'GET, HEAD'],
  ])('%s %s is %i and names the methods', async (method, path, status, allow) => {
    const answer = await fetch(gateway.app.address + path, { method });
    await answer.arrayBuffer();
    expect([answer.status, answer.headers.get('allow')]).toEqual([status, allow]);
  });

  it('HEAD is answered without a body, over HTTP/2 too', async () => {
    const headers = { authorization: `Bearer ${gateway.secret}` };
    const answer = await fetch(`${gateway.app.address}/v1/me`, { method: 'HEAD', headers });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(100);
    const session = connect2(gateway.app.address);
    const stream = session.request({ ':method': 'HEAD', ':path': '/v1/me', ...headers });
    const [answered] = await once(stream, 'response');
    session.destroy();
    expect(answered[':status']).toBe(200);
  });
});

/** fetch would change the target. */
async function post(path: string, { secret, headers = {} }: { secret: string; headers?: Record<string, string> }) {
  const { port } = new URL(gateway.app.address);
  const options = { host: '127.0.0.1', port, method: 'POST', path };
  const sent = request({ ...options, headers: { authorization: `Bearer ${secret}`, ...headers } });
  sent.end(BODY);
  const [answer] = await once(sent, 'response');
  answer.resume();
  return { status: answer.statusCode };
}

describe('what reaches the provider', () => {
  it('is the query, which cannot spoil the URL and open the breaker for others', async () => {
    const { addProvider, addKey, mock } = gateway;
    const { secret } = await addKey({
      config: { providers: [await addProvider({ name: 'q', kind: 'openai_compatible' })] },
    });
    for (let round = 0; round < 11; round += 1) {
      expect(await post(`${PATH}?a=\\b&c=%20d`, { secret })).toEqual({ status: 200 });
    }
    expect(mock.requests.at(-1)?.path).toBe(`${PATH}?a=%5Cb&c=%20d`);
  });

  it('is the version of the API that the provider has, whatever the caller says', async () => {
    const { addProvider, addKey, mock } = gateway;
    const azure = { kind: 'azure_openai', api_version: '2025-01-01', base_url: mock.url.replace('/v1', '/openai') };
    const { secret } = await addKey({ config: { providers: [await addProvider({ name: 'azure', ...azure })] } });
    const deployment = `/openai/deployments/${MODEL}/chat/completions`;
    for (const query of ['', '?api-version=1999', '?api%2Dversion=1999', '?API-VERSION=1999']) {
      await post(PATH + query, { secret });
      expect(mock.requests.at(-1)?.path).toBe(`${deployment}?api-version=2025-01-01`);
    }
    await post(`${PATH}?a=1#b`, { secret });
    expect(mock.requests.at(-1)?.path).toBe(`${deployment}?a=1%23b&api-version=2025-01-01`);
  });

  it('has no credential of ours, and nothing of the network of the caller', async () => {
    const { secret, mock, app } = gateway;
    const headers = {
      'x-auth-token': app.projectKey,
      'x-project-id': app.projectId,
      'x-api-key': secret,
      'api-key': secret,
      cookie: 'a=b',
      connection: 'close, x-hop',
      'x-hop': '1',
      'x-forwarded-for': '10.0.0.1',
      'true-client-ip': '10.0.0.1',
      'x-kept': 'yes',
    };
    await post(PATH, { secret, headers });
    const seen = mock.requests.at(-1)?.headers ?? {};
    expect(seen['x-kept']).toBe('yes');
    const { authorization, ...others } = seen;
    expect(authorization).toBe('Bearer sk-of-the-provider-1234');
    for (const text of [app.projectKey, app.projectId, secret, '10.0.0.1', 'a=b']) {
      expect(JSON.stringify(others)).not.toContain(text);
    }
    expect(others).not.toHaveProperty('x-hop');
  });
});

it('counts made up paths as one in metrics', async () => {
  const { app } = gateway;
  await (await fetch(`${app.address}/v1/responses/made-up-path`)).arrayBuffer();
  const metrics = await (await fetch(`${app.address}/metrics`)).text();
  expect(metrics).toContain('/v1/responses/{id}');
  expect(metrics).not.toContain('made-up-path');
});

it('records no more than a hundred refusals of a key in a second', async () => {
  const atMs = Date.now();
  const other = await startGateway({ clock: () => atMs });
  try {
    const { send, manage, secret, keyId, app } = other;
    await manage('POST', `/api/gateway/v1/virtual-keys/${keyId}/disable`, {});
    const recorded = [];
    for (let round = 0; round < 13; round += 1) {
      const all = Array.from({ length: 10 }, () => send(PATH, { secret, body: CHAT }));
      for (const { status, headers } of await Promise.all(all)) {
        expect(status).toBe(403);
        const id = encodeURIComponent(`${headers.get('x-langwatch-gateway-request-id')}:completed`);
        const auth = { authorization: `Bearer ${app.adminKey}` };
        const event = await fetch(`${app.address}/api/webhooks/v1/events/${id}`, { headers: auth });
        await event.arrayBuffer();
        recorded.push(event.status);
      }
    }
    expect(recorded.filter((status) => status === 200)).toHaveLength(100);
  } finally {
    await other.close();
  }
});

it('gives back the tokens of a minute that a refused request reserved', async () => {
  const { addKey, addBudget, send, manage } = gateway;
  const { id, secret } = await addKey({ config: { rate_limits: { tpm: 100 } } });
  const scope = { kind: 'virtual_key', id };
  const limit = await addBudget({ scope, limit_usd: '0.000000001', reserve: 'worst' });
  const body = { ...CHAT, max_tokens: 64 };
  for (let round = 0; round < 3; round += 1) expect((await send(PATH, { secret, body })).status).toBe(402);
  await manage('PATCH', `/api/gateway/v1/budgets/${limit.id}`, { limit_usd: '1' });
  expect((await send(PATH, { secret, body })).status).toBe(200);
});

it('serves no data route where the gateway is off', async () => {
  const off = await startApp({ environment: { SPANDREL_GATEWAY: 'off' } });
  try {
    for (const path of [PATH, '/v1/messages', '/v1/models', '/v1/me', '/v1/responses/resp_1']) {
      const method = path === PATH || path === '/v1/messages' ? 'POST' : 'GET';
      const answer = await fetch(off.address + path, { method, ...(method === 'POST' && { body: BODY }) });
      await answer.arrayBuffer();
      expect([path, answer.status]).toEqual([path, 404]);
    }
    const traces = await fetch(`${off.address}/v1/traces`, { method: 'POST' });
    await traces.arrayBuffer();
    expect(traces.status).not.toBe(404);
  } finally {
    await off.close();
  }
});

it('warns of a budget of which most is spent, with its scope and a number', async () => {
  const { addKey, addBudget, send } = gateway;
  const { id, secret } = await addKey();
  await addBudget({ scope: { kind: 'virtual_key', id }, limit_usd: '0.000001', on_breach: 'warn' });
  const warning = async () => (await send(PATH, { secret, body: CHAT })).headers.get('x-langwatch-budget-warning');
  expect(await warning()).toBeNull();
  await vi.waitFor(async () => expect(await warning()).toMatch(/^virtual_key:[1-9][0-9]+$/), 5_000);
});
