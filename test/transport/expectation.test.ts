import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GOOD, type Port, startPort } from '../support/port.ts';

const RPC = '/spandrel.v1.TraceService/GetTrace';
const UNMET = ['a-surprise', '100-continue, a-surprise', '200-ok', ''];

let port: Port;
beforeAll(async () => {
  port = await startPort({ fallback: 'rest', serve: () => ({}) });
});
afterAll(() => port.drain(0));

type Answer = { readonly status: number; readonly headers: Record<string, unknown>; readonly body: string };
type Ask = (path: string, headers: Record<string, string>, body?: Buffer) => Promise<Answer>;

const overHttp1: Ask = (path, headers, body = Buffer.from('{}')) =>
  new Promise((resolve, reject) => {
    const socket = connectTcp(port.port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', reject).on('close', () => {
      const [head = '', text = ''] = received.split('\r\n\r\n');
      const [statusLine = '', ...lines] = head.split('\r\n');
      const pairs = lines.map((line) => line.split(': ') as [string, string]);
      resolve({ status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(pairs), body: text });
    });
    const all = { host: 'x', connection: 'close', 'content-length': String(body.length), ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    socket.write(body);
  });

const overHttp2: Ask = async (path, headers, body = Buffer.from('{}')) => {
  const session = connectHttp2(port.address);
  try {
    const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
    stream.end(body);
    const [answered] = await once(stream, 'response');
    return { status: answered[':status'], headers: answered, body: (await stream.toArray()).join('') };
  } finally {
    session.destroy();
  }
};

const SURFACES: { readonly [name: string]: Ask } = { 'HTTP/1.1': overHttp1, 'HTTP/2': overHttp2 };

describe.each(Object.keys(SURFACES))('an expectation that cannot be met, over %s,', (name) => {
  const ask: Ask = (...given) => SURFACES[name]?.(...given) ?? Promise.reject(new Error(name));

  it.each(UNMET)('is refused with 417 in the shape of the path (%j)', async (expectation) => {
    const headers = { expect: expectation, 'content-type': 'application/json', ...GOOD };
    const flat = await ask('/api/api-keys', headers);
    expect(flat.status).toBe(417);
    expect(JSON.parse(flat.body)).toMatchObject({ error: 'Expectation Failed', code: 'expectation_failed' });
    const canonical = await ask('/api/webhooks/v1/events', headers);
    expect(canonical.status).toBe(417);
    expect(JSON.parse(canonical.body)).toEqual({
      error: expect.objectContaining({ type: 'expectation_failed', code: 'expectation_failed' }),
    });
  });

  it('is refused over Connect', async () => {
    const answer = await ask(RPC, { expect: 'a-surprise', 'content-type': 'application/json', ...GOOD });
    expect(answer.status).toBe(417);
    expect(answer.body).toContain('"code":"invalid_argument"');
    expect(answer.body).toContain('100-continue');
  });

  it.each(['application/grpc', 'application/grpc-web'])('is refused over %s', async (type) => {
    const headers = { expect: 'a-surprise', 'content-type': type, te: 'trailers', ...GOOD };
    const answer = await ask(RPC, headers, Buffer.alloc(5));
    expect(answer.status).toBe(200);
    expect(answer.headers['grpc-status']).toBe('3');
  });

  it('is refused before any credential is checked, unless it is 100-continue', async () => {
    const before = port.decoded();
    const refused = await ask(RPC, { expect: 'a-surprise', 'content-type': 'application/json' });
    expect(refused.status).toBe(417);
    expect(port.decoded()).toBe(before);
    const met = await ask(RPC, { expect: '100-Continue', 'content-type': 'application/json', ...GOOD });
    expect([100, 200]).toContain(met.status);
    expect(port.decoded()).toBe(before + 1);
  });
});

it('an expectation of HTTP/1.0, which has none, is ignored', async () => {
  const socket = connectTcp(port.port, '127.0.0.1');
  socket.write('GET /api/nowhere HTTP/1.0\r\nExpect: a-surprise\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 404 /);
  socket.destroy();
});
