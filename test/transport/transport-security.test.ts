import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GOOD, type Port, type PortOptions, startPort, TLS } from '../support/port.ts';

const RPC = '/spandrel.v1.TraceService/GetTrace';
const HEADER = /^strict-transport-security: max-age=31536000$/gm;
const SHORT = { headersTimeoutMs: 1_000, bodyGapTimeoutMs: 300, bodyTimeoutMs: 1_000 };

/** Only requests whose body is late get short limits, which a busy machine would exceed for the others. */
const limitsFor = (name: string) => (name.startsWith('a late ') ? { limits: SHORT } : {});

async function start(options: PortOptions): Promise<Port> {
  const port = await startPort({ fallback: 'rest', ...options });
  onTestFinished(() => port.drain(0));
  return port;
}

/** Returns the whole HTTP/1.1 answer. */
async function overHttp1({ port, address }: Port, request: string): Promise<string> {
  const socket: Socket = address.startsWith('https:')
    ? connectTls({ port, host: 'localhost', ca: TLS.cert, ALPNProtocols: ['http/1.1'] })
    : connectTcp(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.write(request);
  await once(socket, 'close');
  return received.replaceAll('\r', '');
}

/** The same over HTTP/2. */
async function overHttp2({ address }: Port, headers: object, body: Buffer | null): Promise<string> {
  const session = connectHttp2(address, { ca: TLS.cert });
  try {
    const stream = session.request({ ':method': 'POST', ...headers });
    if (body) stream.end(body);
    const [answered] = await once(stream, 'response');
    return Object.entries(answered)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n');
  } finally {
    session.destroy();
  }
}

const head = (line: string, type = 'application/json') =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer good\r\nContent-Type: ${type}\r\n`;

const HTTP1: { readonly [name: string]: string } = {
  'an unknown path': `${head('GET /api/nowhere')}\r\n`,
  'a refused credential': 'GET /api/api-keys HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  'a call of Connect': `${head(`POST ${RPC}`)}Content-Length: 2\r\n\r\n{}`,
  'a refused call of Connect': `${head(`GET ${RPC}`)}\r\n`,
  'a call of gRPC-Web': `${head(`POST ${RPC}`, 'application/grpc-web+proto')}Content-Length: 5\r\n\r\n\0\0\0\0\0`,
  'what is not HTTP': 'hello there\r\n\r\n',
  'a missing host': 'GET / HTTP/1.1\r\n\r\n',
  'a late body': `${head(`POST ${RPC}`)}Content-Length: 99\r\n\r\n{`,
};

type Call = { readonly headers: object; readonly body: Buffer | null };
const post = (type: string, body: Buffer | null, more: object = GOOD): Call => ({
  headers: { ':path': RPC, 'content-type': type, ...more },
  body,
});

const HTTP2: { readonly [name: string]: Call } = {
  'an unknown path': { headers: { ':method': 'GET', ':path': '/api/nowhere' }, body: null },
  'a call of gRPC': post('application/grpc', Buffer.alloc(5)),
  'a refused call of gRPC': post('application/grpc', Buffer.alloc(5), {}),
  'a late call of gRPC': post('application/grpc', null),
  'an unknown call of gRPC': post('application/grpc', Buffer.alloc(5), {
    ':path': '/spandrel.v1.TraceService/Nothing',
  }),
  'a call of Connect': post('application/json', Buffer.from('{}')),
  'a late call of Connect': post('application/json', null),
};

describe('Strict-Transport-Security', () => {
  it.each(Object.keys(HTTP1))('is sent once with the answer to %s over HTTP/1.1 with TLS', async (name) => {
    const answer = await overHttp1(await start({ tls: true, ...limitsFor(name) }), HTTP1[name] ?? '');
    expect(answer).toMatch(/^HTTP\/1\.1 /);
    expect(answer.match(HEADER)).toHaveLength(1);
  });

  it.each(Object.keys(HTTP2))('is sent once with the answer to %s over HTTP/2 with TLS', async (name) => {
    const { headers = {}, body = null } = HTTP2[name] ?? {};
    const answer = await overHttp2(await start({ tls: true, ...limitsFor(name) }), headers, body);
    expect(answer.match(HEADER)).toHaveLength(1);
  });

  it('is never sent in cleartext', async () => {
    const port = await start({ limits: SHORT });
    for (const request of Object.values(HTTP1)) expect(await overHttp1(port, request)).not.toMatch(/strict-transport/i);
    for (const { headers, body } of Object.values(HTTP2)) {
      expect(await overHttp2(port, headers, body)).not.toMatch(/strict-transport/i);
    }
  });
});
