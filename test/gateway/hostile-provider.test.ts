import { once } from 'node:events';
import { connect as connect2 } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CHAT, type GatewayFixture, startGateway } from './gateway-fixture.ts';

const PATH = '/v1/chat/completions';
const BODY = '{"choices":[]}';
let gateway: GatewayFixture;
/** What the provider writes as its answer, byte by byte. */
let raw = '';
const sockets = new Set<Socket>();
const provider = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined).on('data', () => void socket.end(raw, 'latin1'));
});

beforeAll(async () => {
  gateway = await startGateway();
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  provider.close();
  await gateway.close();
});

let providers = 0;
/** The key of a provider of its own, whose breaker is closed. */
async function newKey(): Promise<string> {
  const { port } = provider.address() as AddressInfo;
  providers += 1;
  const id = await gateway.addProvider({
    name: `hostile ${providers}`,
    kind: 'openai_compatible',
    base_url: `http://127.0.0.1:${port}/v1`,
  });
  return (await gateway.addKey({ config: { providers: [id] } })).secret;
}

async function askHttp2(answer: string): Promise<{ status: number; text: string; headers: Headers }> {
  raw = answer;
  const secret = await newKey();
  const session = connect2(gateway.app.address);
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': PATH,
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
    });
    stream.end(JSON.stringify(CHAT));
    const [headers] = await once(stream, 'response');
    let text = '';
    for await (const part of stream) text += part;
    const named = Object.entries(headers).filter(([name]) => !name.startsWith(':'));
    return { status: Number(headers[':status']), text, headers: new Headers(named as [string, string][]) };
  } finally {
    session.close();
  }
}

async function askHttp1(answer: string) {
  raw = answer;
  return await gateway.send(PATH, { secret: await newKey(), body: CHAT });
}

const ended = `content-length: ${BODY.length}\r\n\r\n${BODY}`;

describe.each([
  ['HTTP/1', askHttp1],
  ['HTTP/2', askHttp2],
])('over %s', (_, ask) => {
  it.each([
    ['a status of 999', `HTTP/1.1 999 Odd\r\n${ended}`],
    ['a status of 600', `HTTP/1.1 600 Odd\r\n${ended}`],
    ['a status of 099', `HTTP/1.1 099 Odd\r\n${ended}`],
    ['101', `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`],
    ['a header block of 1 MiB', `HTTP/1.1 200 OK\r\nx-big: ${'x'.repeat(1024 * 1024)}\r\n${ended}`],
    ['two lengths', `HTTP/1.1 200 OK\r\ncontent-length: 3\r\n${ended}`],
    ['a length and chunks', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n${ended}`],
  ])('%s is a failure of the provider', async (_name, answer) => {
    const { status, text } = await ask(answer);
    expect([status, JSON.parse(text).error.code]).toEqual([502, 'provider_error']);
  });

  it.each([
    ['the header __proto__', `HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\n${ended}`],
    ['text beyond Latin-1', `HTTP/1.1 200 OK\r\nx-text: \xe4\xba\xac\r\n${ended}`],
    ['a thousand headers', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(1000)}${ended}`],
    [
      'headers of its connection',
      `HTTP/1.1 200 OK\r\nconnection: x-own\r\nx-own: 1\r\nkeep-alive: timeout=5\r\ntrailer: x\r\n${ended}`,
    ],
  ])('%s passes', async (_name, answer) => {
    const { status, text, headers } = await ask(answer);
    expect([status, text]).toEqual([200, BODY]);
    expect(headers.has('x-own')).toBe(false);
  });

  it('a stream that tells a wrong length ends with its error, and disturbs no later answer', async () => {
    const event = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n';
    const { text, headers } = await ask(`${head}content-length: ${event.length + 8}\r\n\r\n${event}`);
    expect(text).toContain('upstream_mid_stream_failure');
    expect(headers.has('content-length')).toBe(false);
  });

  it('an encoding that was not asked for is told to the caller', async () => {
    const bytes = gzipSync(BODY).toString('latin1');
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n';
    const { status, headers } = await ask(`${head}content-length: ${bytes.length}\r\n\r\n${bytes}`);
    expect([status, headers.get('content-encoding')]).toEqual([200, 'gzip']);
  });

  it('an answer without a body ends', async () => {
    expect((await ask('HTTP/1.1 204 No Content\r\nx-a: 1\r\n\r\n')).status).toBe(204);
    expect((await ask('HTTP/1.1 304 Not Modified\r\n\r\n')).status).toBe(304);
    expect((await ask(`HTTP/1.1 205 Reset Content\r\n${ended}`)).status).toBe(205);
  });
});

it('counts interim answers for nothing in the time until the first byte', async () => {
  const endless = createServer((socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 100);
    socket.on('error', () => undefined).on('close', () => clearInterval(timer));
    socket.resume();
  });
  endless.listen(0, '127.0.0.1');
  await once(endless, 'listening');
  const base_url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}/v1`;
  const slow = { name: 'interim', kind: 'openai_compatible', base_url, timeout_ms: 1_000 };
  const { secret } = await gateway.addKey({ config: { providers: [await gateway.addProvider(slow)] } });
  const startedAtMs = performance.now();
  const sent = await gateway.send(PATH, { secret, body: CHAT });
  expect([sent.status, sent.body.error.code]).toEqual([504, 'provider_timeout']);
  expect(performance.now() - startedAtMs).toBeLessThan(5_000);
  const event = await gateway.eventOf(sent);
  expect(event).toMatchObject({ metadata: { usage_estimated: true }, usage: { output_tokens: 0 } });
  expect(event.cost.nano_usd).toBeGreaterThan(0);
  endless.close();
});

it('over HTTP/2 ends the requests of a caller who leaves at once', async () => {
  const { mock, app, addEvaluator, addKey } = gateway;
  const judge = await addEvaluator('langevals/competitor_blocklist', { competitors: ['nobody'] });
  const { secret } = await addKey({ config: { guardrails: { pre: [judge] } } });
  const before = mock.requests.length;
  mock.next(...Array.from({ length: 20 }, () => ({ isEndless: true })));
  const session = connect2(app.address).on('error', () => undefined);
  await once(session, 'connect');
  const headers = { ':method': 'POST', ':path': PATH, authorization: `Bearer ${secret}` };
  for (let index = 0; index < 20; index += 1) {
    const stream = session.request(headers).on('error', () => undefined);
    stream.end(JSON.stringify({ ...CHAT, stream: true }));
    setTimeout(() => stream.close(8), index);
  }
  // Some reach the provider, others do not.
  await wait(1_000);
  await vi.waitFor(() => expect(mock.requests.slice(before).every(({ isAborted }) => isAborted)).toBe(true), 5_000);
  session.destroy();
});
