import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, type GatewayFixture, MESSAGES, MODEL, startGateway } from './gateway-fixture.ts';

let gateway: GatewayFixture;
let fallback: { readonly secret: string };
beforeAll(async () => {
  gateway = await startGateway();
  const second = await gateway.addProvider({ name: 'second', kind: 'openai_compatible' });
  const first = await gateway.addProvider({ name: 'first', kind: 'openai_compatible', timeout_ms: 1_000 });
  fallback = await gateway.addKey({ config: { providers: [first, second] } });
});
afterAll(() => gateway.close());

const CHAT_PATH = '/v1/chat/completions';
const STREAM = { ...CHAT, stream: true };

describe('fallback', () => {
  it.each([
    ['a status of 500', { status: 500 }],
    ['a status of 429', { status: 429 }],
    ['a model that is not there', { status: 404 }],
    ['a connection that breaks', { resets: true }],
    ['a provider that takes too long', { hangs: true }],
  ])('goes to the next provider after %s', async (_, step) => {
    const sent = await gateway.send(CHAT_PATH, { secret: fallback.secret, body: CHAT, step });
    expect(sent.status, sent.text).toBe(200);
    expect(sent.headers.get('x-langwatch-fallback-count')).toBe('1');
    expect(sent.headers.get('x-langwatch-provider')).toBe('second');
    const [span] = (await gateway.traceOf(sent)).spans;
    expect(span.params.gateway).toMatchObject({ provider: 'second', fallback_count: 1 });
  });

  it('passes the last answer on when all fail, and the first that is not a failure', async () => {
    const both = await gateway.send(CHAT_PATH, {
      secret: fallback.secret,
      body: CHAT,
      step: [{ status: 500 }, { status: 503 }],
    });
    expect(both.status).toBe(503);
    expect(both.text).toBe(gateway.mock.requests.at(-1)?.sent().toString());
    expect(await gateway.eventOf(both)).toMatchObject({
      status: 'error',
      error: { http_status: 503 },
      usage: null,
      cost: null,
    });
    const before = gateway.mock.requests.length;
    const wrong = await gateway.send(CHAT_PATH, { secret: fallback.secret, body: CHAT, step: { status: 401 } });
    expect([wrong.status, gateway.mock.requests.length - before]).toEqual([401, 1]);
  });

  it('counts for the budget of the provider that it goes to', async () => {
    const { addProvider, addKey, addBudget, budget, send } = gateway;
    const main = await addProvider({ name: 'main', kind: 'openai_compatible' });
    const spare = await addProvider({ name: 'spare', kind: 'openai_compatible' });
    const { id, secret } = await addKey({ config: { providers: [main, spare] } });
    const scope = { kind: 'virtual_key', id };
    const ofSpare = await addBudget({ scope, limit_usd: '1', provider_id: spare });
    const ofMain = await addBudget({ scope, limit_usd: '1', provider_id: main });
    expect((await send(CHAT_PATH, { secret, body: CHAT, step: { status: 500 } })).status).toBe(200);
    expect(Number((await budget(ofSpare.id)).spent_usd)).toBeGreaterThan(0);
    expect(Number((await budget(ofMain.id)).spent_usd)).toBe(0);
    await gateway.manage('PATCH', `/api/gateway/v1/budgets/${ofSpare.id}`, { limit_usd: '0.000000001' });
    const refused = await send(CHAT_PATH, { secret, body: CHAT, step: { status: 500 } });
    expect(refused.status).toBe(500);
  });

  it('leaves out a provider that may cost more than a shared budget has, also behind one of unknown price', async () => {
    const { addProvider, addKey, addBudget, send } = gateway;
    const of = (name: string, model: string) =>
      addProvider({ name, kind: 'openai_compatible', aliases: { fast: model } });
    const local = await of('local', 'our-own-model');
    const small = await of('small', 'gpt-4o-mini');
    const large = await of('large', 'gpt-4');
    const ask = (secret: string) =>
      send(CHAT_PATH, { secret, body: { ...CHAT, model: 'fast', max_tokens: 1_000 }, step: { status: 500 } });
    const unpriced = await addKey({ config: { providers: [local, small], allow_unpriced: true } });
    const scope = { kind: 'virtual_key', id: unpriced.id };
    await addBudget({ scope, limit_usd: '0.000000001', reserve: 'worst' });
    expect((await ask(unpriced.secret)).status).toBe(500);
    const dearer = await addKey({ config: { providers: [small, large] } });
    const budget = await addBudget({
      scope: { kind: 'virtual_key', id: dearer.id },
      limit_usd: '0.01',
      reserve: 'worst',
    });
    expect((await ask(dearer.secret)).status).toBe(500);
    await gateway.manage('PATCH', `/api/gateway/v1/budgets/${budget.id}`, { limit_usd: '1' });
    const sent = await ask(dearer.secret);
    expect([sent.status, sent.headers.get('x-langwatch-provider')]).toEqual([200, 'large']);
  });
});

it('opens the breaker of a provider that keeps failing', async () => {
  const provider = await gateway.addProvider({ name: 'broken', kind: 'openai_compatible' });
  const { secret } = await gateway.addKey({ config: { providers: [provider] } });
  const steps = Array.from({ length: 10 }, () => ({ status: 500 }));
  for (const step of steps) expect((await gateway.send(CHAT_PATH, { secret, body: CHAT, step })).status).toBe(500);
  const open = await gateway.send(CHAT_PATH, { secret, body: CHAT });
  expect([open.status, open.body.error.code]).toEqual([503, 'circuit_open']);
  expect(Number(open.headers.get('retry-after'))).toBeGreaterThan(50);
  expect(await gateway.eventOf(open)).toMatchObject({ error: { class: 'circuit_open' }, cost: { nano_usd: 0 } });
});

it('says when the one provider cannot be reached, or takes too long', async () => {
  const away = await gateway.addProvider({
    name: 'away',
    kind: 'openai_compatible',
    base_url: 'http://127.0.0.1:1/v1',
  });
  const { secret } = await gateway.addKey({ config: { providers: [away] } });
  const sent = await gateway.send(CHAT_PATH, { secret, body: CHAT });
  expect([sent.status, sent.body.error.code]).toEqual([502, 'provider_error']);
  expect(sent.text).not.toContain('127.0.0.1');
  const slow = await gateway.addProvider({ name: 'slow', kind: 'openai_compatible', timeout_ms: 1_000 });
  const key = await gateway.addKey({ config: { providers: [slow] } });
  const late = await gateway.send(CHAT_PATH, { secret: key.secret, body: CHAT, step: { hangs: true } });
  expect([late.status, late.body.error.code]).toEqual([504, 'provider_timeout']);
});

describe('a stream that its provider breaks off', () => {
  it.each([
    [CHAT_PATH, STREAM, 'data: {"error":'],
    ['/v1/responses', { model: MODEL, input: 'Hello', stream: true }, 'event: error\ndata: {"type":"error"'],
    ['/v1/messages', { ...MESSAGES, stream: true }, 'event: error\ndata: {"type":"error"'],
  ])('ends on %s with an error of its dialect, and counts what was sent', async (path, body, error) => {
    const sent = await gateway.send(path, { secret: gateway.secret, body, step: { breaksAfterBytes: 900 } });
    expect(sent.status).toBe(200);
    expect(sent.text).toContain(error);
    const event = await gateway.eventOf(sent);
    expect(event).toMatchObject({ status: 'error', error: { class: 'upstream_mid_stream_failure', http_status: 502 } });
  });
});

it('a stream that has told its end is complete, also when its connection breaks behind it', async () => {
  const { secret, send, eventOf, mock } = gateway;
  for (const [path, body] of [
    [CHAT_PATH, STREAM],
    ['/v1/messages', { ...MESSAGES, stream: true }],
  ] as const) {
    const whole = await send(path, { secret, body });
    const bytes = mock.requests.at(-1)?.sentBytes() ?? 0;
    const cut = await send(path, { secret, body, step: { breaksAfterBytes: bytes } });
    expect(cut.text).toBe(whole.text);
    expect(await eventOf(cut)).toMatchObject({ status: 'success', error: null });
  }
});

/** Sends a request and leaves after the first bytes of its answer. */
function leaveEarly(body: object, headers: Record<string, string> = {}): Promise<string> {
  const { app, secret } = gateway;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request(app.address + CHAT_PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
  });
  sent.on('error', reject).on('response', (response) => {
    let text = '';
    response.on('data', (part: Buffer) => {
      text += part.toString();
      if (text.length < 1_000) return;
      resolve(String(response.headers['x-langwatch-gateway-request-id']));
      sent.destroy();
    });
    response.on('error', () => undefined);
  });
  sent.end(JSON.stringify(body));
  return promise;
}

async function eventually<T>(read: () => Promise<T | null>): Promise<T> {
  for (let round = 0; round < 200; round += 1) {
    const value = await read();
    if (value !== null) return value;
    await wait(25);
  }
  throw new Error('it did not come');
}

it('ends the request of a caller who leaves, and counts the tokens so far', async () => {
  gateway.mock.next({ isEndless: true, betweenMs: 5 });
  const id = await leaveEarly(STREAM);
  const event = await eventually(async () => {
    const { data } = await gateway.manage('GET', '/api/webhooks/v1/events?from=0&to=9007199254740991&limit=200');
    return data.find((each: { id: string }) => each.id === `${id}:completed`)?.data ?? null;
  });
  expect(event).toMatchObject({ status: 'error', error: { class: 'client_closed_request', http_status: 499 } });
  expect(event.metadata.usage_estimated).toBe(true);
  expect(event.usage.output_tokens).toBeGreaterThan(0);
  await eventually(async () => (gateway.mock.requests.at(-1)?.isAborted ? true : null));
});

it('holds little of an endless stream whose caller does not read', async () => {
  gateway.mock.next({ isEndless: true });
  const { app, secret } = gateway;
  const sent = request(app.address + CHAT_PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  });
  const arrived = new Promise<void>((resolve) => {
    sent.on('response', (response) => {
      response.pause();
      resolve();
    });
  });
  sent.on('error', () => undefined);
  sent.end(JSON.stringify(STREAM));
  await arrived;
  const record = gateway.mock.requests.at(-1);
  let bytes = -1;
  // Until the buffers of the kernel are full.
  while (bytes !== record?.sentBytes()) {
    bytes = record?.sentBytes() ?? 0;
    await wait(300);
  }
  expect(bytes).toBeLessThan(32 * 1024 * 1024);
  sent.destroy();
  await eventually(async () => (record?.isAborted ? true : null));
});

it('passes a huge answer on, and refuses a huge request', async () => {
  const { secret, send, eventOf } = gateway;
  const hugeBytes = 20 * 1024 * 1024;
  const sent = await send(CHAT_PATH, { secret, body: CHAT, step: { hugeBytes } });
  expect(sent.text.length).toBeGreaterThanOrEqual(hugeBytes);
  expect((await eventOf(sent)).status).toBe('success');
  const text = 'x'.repeat(33 * 1024 * 1024);
  const refused = await send(CHAT_PATH, { secret, body: { ...CHAT, messages: [{ role: 'user', content: text }] } });
  expect([refused.status, refused.body.error.code]).toEqual([413, 'payload_too_large']);
});

it('cuts a long refusal of a stream where it looked for what was refused', async () => {
  const { secret, send } = gateway;
  const body = 'x'.repeat(100_000);
  const sent = await send(CHAT_PATH, {
    secret,
    body: STREAM,
    step: { status: 400, body, headers: { 'content-type': 'text/plain' } },
  });
  expect([sent.status, Number(sent.headers.get('content-length'))]).toEqual([400, sent.text.length]);
  expect(sent.text.length).toBeGreaterThanOrEqual(65_536);
});

it('follows no redirect', async () => {
  const sent = await gateway.send(CHAT_PATH, {
    secret: gateway.secret,
    body: CHAT,
    step: { redirect: 'http://127.0.0.1:1/' },
  });
  expect([sent.status, sent.headers.get('location')]).toEqual([307, null]);
});
