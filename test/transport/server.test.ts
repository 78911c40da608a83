import { once } from 'node:events';
import { Agent as HttpAgent, get as httpGet } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { get as httpsGet } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RestHandler } from '../../src/transport/rest/rest.ts';
import { type Port, type PortOptions, startPort, TLS, until } from '../support/port.ts';

async function start(options: PortOptions = {}): Promise<Port> {
  const port = await startPort(options);
  onTestFinished(() => port.drain(0));
  return port;
}

/** Returns all the server sends until it closes the connection. */
function talk({ port }: Port, parts: readonly (string | Buffer)[], pauseMs = 0): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTcp(port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', () => {}).on('close', () => resolve(received));
    void (async () => {
      for (const part of parts) {
        socket.write(part);
        await new Promise((next) => setTimeout(next, pauseMs));
      }
    })();
  });
}

async function overHttp2(
  address: string,
  headers: object = {},
  body?: string,
): Promise<{ status: unknown; text: string }> {
  const session = connectHttp2(address, { ca: TLS.cert });
  try {
    const stream = session.request({ ':path': '/here', ...headers });
    if (body !== undefined) stream.end(body);
    const [answered] = await once(stream, 'response');
    let text = '';
    for await (const chunk of stream) text += chunk;
    return { status: answered[':status'], text };
  } finally {
    session.destroy();
  }
}

describe('one port', () => {
  it('speaks HTTP/1.1 and HTTP/2 in the clear', async () => {
    const port = await start();
    expect(port.address).toBe(`http://127.0.0.1:${port.port}`);
    expect(await (await fetch(`${port.address}/here`)).json()).toMatchObject({ http: '1.1', path: '/here' });
    const { text } = await overHttp2(port.address, { ':method': 'POST' }, 'abc');
    expect(JSON.parse(text)).toEqual({ http: '2.0', path: '/here', bytes: 3 });
  });

  it('speaks both over TLS, as the client chooses', async () => {
    const port = await start({ tls: true });
    expect(port.address).toBe(`https://127.0.0.1:${port.port}`);
    const { text } = await overHttp2(port.address);
    expect(JSON.parse(text)).toMatchObject({ http: '2.0' });
    const [response] = await once(httpsGet(`${port.address}/here`, { ca: TLS.cert }), 'response');
    expect(JSON.parse(Buffer.concat(await response.toArray()).toString())).toMatchObject({ http: '1.1' });
  });

  it.each([false, true])('lets connections wait until it may serve (over TLS: %s)', async (tls) => {
    const responses: Promise<string>[] = [];
    let answered = 0;
    const port = await start({
      tls,
      async beforeServing(address) {
        const get = tls ? httpsGet : httpGet;
        const overHttp1 = async () => {
          const [response] = await once(get(`${address}/here`, { ca: TLS.cert }), 'response');
          return Buffer.concat(await response.toArray()).toString();
        };
        responses.push(
          overHttp1(),
          overHttp2(address).then(({ text }) => text),
        );
        for (const one of responses) void one.then(() => (answered += 1));
        // Long enough for a server to answer.
        await new Promise((resolve) => setTimeout(resolve, 200));
        expect(answered).toBe(0);
      },
    });
    const protocols = (await Promise.all(responses)).map((text) => JSON.parse(text).http);
    expect(protocols).toEqual(['1.1', '2.0']);
    expect((await overHttp2(port.address)).status).toBe(200);
  });

  it('closes the port when the step before serving fails', async () => {
    let taken = '';
    const beforeServing = async (address: string) => {
      taken = address;
      throw new Error('no keys today');
    };
    await expect(start({ beforeServing })).rejects.toThrow('no keys today');
    await expect(fetch(taken)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  it('offers no other protocol over TLS', async () => {
    const port = await start({ tls: true });
    const socket = connectTls({ port: port.port, ca: TLS.cert, host: 'localhost', ALPNProtocols: ['spdy/3'] });
    await expect(once(socket, 'secureConnect')).rejects.toMatchObject({
      code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
    });
  });

  it('detects the protocol however the first bytes are split', async () => {
    const port = await start();
    const http1 = [...'POST /here HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'];
    expect(await talk(port, http1, 1)).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*"http":"1.1"/);
    // A client preface and empty settings, then the answer is the server's own settings frame.
    const preface = [...'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'];
    const socket = connectTcp(port.port, '127.0.0.1');
    for (const letter of preface) {
      socket.write(Buffer.from(letter, 'latin1'));
      await new Promise((next) => setTimeout(next, 1));
    }
    const [settings] = (await once(socket, 'data')) as [Buffer];
    expect(settings[3]).toBe(4);
    socket.destroy();
  });

  it('serves many requests on one connection', async () => {
    const port = await start();
    const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    for (let request = 0; request < 50; request += 1) {
      const [response] = await once(httpGet(`${port.address}/here`, { agent }), 'response');
      sockets.add(response.socket);
      await response.toArray();
    }
    expect(sockets.size).toBe(1);
    agent.destroy();
  });

  it('cannot be created twice', async () => {
    const port = await start();
    const { listen } = await import('../../src/transport/server.ts');
    const unused = () => {
      throw new Error('never called');
    };
    const meter = { sessionCut: unused, connectionRefused: unused };
    const options = { host: '127.0.0.1', port: port.port, tls: null, callerOf: () => null, limits: LIMITS, meter };
    const grpc = { accepts: unused, serve: unused, expire: unused };
    await expect(listen(options, { http: unused, grpc, refuse: unused })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

const LIMITS = {
  headersTimeoutMs: 1_000,
  bodyGapTimeoutMs: 1_000,
  bodyTimeoutMs: 1_000,
  idleTimeoutMs: 1_000,
  streamsPerConnectionMax: 1,
  headerBytesMax: 1_000,
  requestLineBytesMax: 1_000,
  connectionsMax: 1,
  reconnectPenaltyMs: 0,
};

/** Where other errors are one object. */
const CANONICAL = '/api/webhooks/v1/endpoints';

describe('a request that cannot be served', () => {
  it.each([
    ['a long request line', `GET /${'a'.repeat(30_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414, 'uri_too_long'],
    ['large headers', `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(30_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['many headers', `GET / HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(9_000)}\r\n`, 431, 'headers_too_large'],
    ['no HTTP', 'hello there\r\n\r\n', 400, 'malformed_request'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost x\r\n\r\n', 400, 'malformed_request'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'malformed_request',
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'malformed_request',
    ],
  ])('for %s is refused, and the connection ends', async (_, request, status, code) => {
    const port = await start();
    const answer = await talk(port, [request]);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer.toLowerCase()).toContain('connection: close');
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ code });
  });

  describe.each(['/api/webhooks/v1/endpoints', '/api//%67ateway/v1/requests?a=1', 'http://x/api/webhooks/v1'])(
    'of %s, where errors are one object,',
    (target) => {
      const length = 'Host: x\r\nTransfer-Encoding: chunked\r\n\r\n';
      it.each<readonly [string, readonly string[], number, string]>([
        ['a header without a colon', [`GET ${target} HTTP/1.1\r\nHost x\r\n\r\n`], 400, 'malformed_request'],
        ['no host', [`GET ${target} HTTP/1.1\r\n\r\n`], 400, 'malformed_request'],
        ['no version', [`GET ${target} none\r\n\r\n`], 400, 'malformed_request'],
        ['chunks that are none', [`POST ${target} HTTP/1.1\r\n${length}`, 'zz\r\n'], 400, 'malformed_request'],
        ['a body that does not come', [`POST ${target} HTTP/1.1\r\n${length}`], 408, 'request_timeout'],
      ])('one with %s is refused in one response', async (_, parts, status, code) => {
        const port = await start({ fallback: () => {}, limits: { bodyGapTimeoutMs: 200 } });
        const answer = await talk(port, parts, 30);
        expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
        expect(Object.keys(body)).toEqual(['error']);
        expect(body.error).toMatchObject({ code, trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
      });
    },
  );

  it.each<readonly [string, readonly string[], number, string]>([
    ['a long request line', [`GET ${CANONICAL}${'a'.repeat(30_000)} HTTP/1.1\r\nHost: x\r\n\r\n`], 414, 'uri_too_long'],
    ['large headers', [`GET ${CANONICAL} HTTP/1.1\r\nX: ${'a'.repeat(30_000)}\r\n\r\n`], 431, 'headers_too_large'],
    [
      'large headers that come in parts',
      [`GET ${CANONICAL} HTTP/1.1\r\nX: `, ...Array.from({ length: 3 }, () => 'a'.repeat(10_000))],
      431,
      'headers_too_large',
    ],
  ])('with %s is refused in a flat error on every path', async (_, parts, status, code) => {
    const answer = await talk(await start(), parts, 30);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    expect(body).toMatchObject({ error: expect.any(String), code, trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  });

  it('behind one that was served is answered by its own path', async () => {
    const port = await start();
    const served = 'GET /api/webhooks/v1/endpoints HTTP/1.1\r\nHost: x\r\n\r\n';
    const broken = (target: string) => `GET ${target} HTTP/1.1\r\nHost x\r\n\r\n`;
    expect(await talk(port, [served, broken('/api/traces')], 50)).toContain('{"error":"malformed_request"');
    expect(await talk(port, [served, broken('/api/gateway/v1')], 50)).toContain('{"error":{"type":"bad_request"');
  });

  it('over HTTP/2 whose body does not arrive gets the error shape of its path', async () => {
    const port = await start({ fallback: () => {}, limits: { bodyGapTimeoutMs: 200 } });
    const headers = { ':method': 'POST', ':path': '/api/webhooks/v1/endpoints', 'content-length': '9' };
    const session = connectHttp2(port.address);
    onTestFinished(() => session.destroy());
    const stream = session.request(headers, { endStream: false });
    const [answered] = await once(stream, 'response');
    let text = '';
    for await (const chunk of stream) text += chunk;
    expect(answered[':status']).toBe(408);
    expect(JSON.parse(text).error).toMatchObject({ code: 'request_timeout' });
  });

  it('after the last answer of a connection is not run', async () => {
    const paths: unknown[] = [];
    const fallback: RestHandler = (request, response) => {
      paths.push(request.url);
      // An answer before the body is read ends the connection.
      (response as import('node:http').ServerResponse).writeHead(401, { connection: 'close' }).end();
    };
    const port = await start({ fallback });
    const first = 'POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n';
    await talk(port, [first, 'xx', 'POST /second HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'], 20);
    expect(paths).toEqual(['/first']);
  });

  it('takes nothing down when a handler fails at once, and the bug is reported', async () => {
    const reported = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => reported.mockRestore());
    const port = await start({
      fallback: () => {
        throw new Error('a bug');
      },
    });
    expect(await talk(port, ['GET / HTTP/1.1\r\nHost: x\r\n\r\n'])).toBe('');
    const session = connectHttp2(port.address);
    const stream = session.request({ ':path': '/' });
    await expect(once(stream, 'response')).rejects.toThrow();
    session.destroy();
    expect(reported.mock.calls.map(([warning]) => String(warning))).toEqual(['Error: a bug', 'Error: a bug']);
  });
});

describe('an HTTP/2 client', () => {
  it.each([
    ['garbage after the preface', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\ngarbage garbage garbage', 'latin1')],
    ['a preface that goes wrong', Buffer.from('PRI * HTTP/9.9\r\n\r\nXX\r\n\r\n', 'latin1')],
  ])('that sends %s loses only its own connection', async (_, bytes) => {
    const port = await start();
    await talk(port, [bytes]);
    expect((await fetch(`${port.address}/here`)).status).toBe(200);
  });

  it.each([
    ['CONNECT', { ':method': 'CONNECT', ':authority': 'x:1' }],
    ['an unknown expectation', { expect: 'a-surprise' }],
    ['no authority', { ':authority': '' }],
  ])('that sends %s takes nothing down', async (_, headers) => {
    const port = await start();
    const session = connectHttp2(port.address);
    const stream = session.request({ ...(':method' in headers ? {} : { ':path': '/here' }), ...headers });
    stream
      .on('error', () => {})
      .resume()
      .end();
    await until(() => stream.closed, 'the stream has ended');
    session.destroy();
    expect((await fetch(`${port.address}/here`)).status).toBe(200);
  });

  it('that sends too large headers loses only that stream', async () => {
    const port = await start();
    const session = connectHttp2(port.address, { maxSendHeaderBlockLength: 1_000_000 });
    const large = session.request({ ':path': '/here', 'x-large': 'a'.repeat(40_000) });
    await expect(once(large, 'response')).rejects.toThrow();
    const small = session.request({ ':path': '/here' });
    const [headers] = await once(small, 'response');
    expect(headers[':status']).toBe(200);
    session.destroy();
  });

  it('that opens more streams than allowed gets them one after the other', async () => {
    const gate = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const fallback: RestHandler = (_, response) => {
      running += 1;
      most = Math.max(most, running);
      void gate.promise.then(() => {
        running -= 1;
        response.end('ok');
      });
    };
    const port = await start({ fallback, limits: { streamsPerConnectionMax: 8 } });
    const session = connectHttp2(port.address);
    await once(session, 'remoteSettings');
    const streams = Array.from({ length: 30 }, () => session.request({ ':path': '/' }));
    await until(() => running === 8, 'the first eight run');
    gate.resolve();
    const answers = await Promise.all(streams.map(async (stream) => (await stream.toArray()).join('')));
    expect(new Set(answers)).toEqual(new Set(['ok']));
    expect(most).toBe(8);
    session.destroy();
  });

  it('that resets streams as fast as it opens them is cut, and others are served', async () => {
    let begun = 0;
    const fallback: RestHandler = (_, response) => {
      begun += 1;
      response.end('ok');
    };
    const port = await start({ fallback });
    const session = connectHttp2(port.address);
    session.on('error', () => {});
    const opening = setInterval(() => {
      for (let count = 0; count < 200 && !session.closed && !session.destroyed; count += 1) {
        const stream = session.request({ ':path': '/' }, { endStream: true });
        stream.on('error', () => {});
        stream.close(constants.NGHTTP2_CANCEL);
      }
    }, 1);
    await until(() => session.destroyed, 'the client is cut');
    clearInterval(opening);
    expect(begun).toBeLessThan(2_000);
    expect((await fetch(`${port.address}/here`)).status).toBe(200);
  });
});

describe('the number of connections', () => {
  it('has a limit, and a released slot is given to the next', async () => {
    const port = await start({ limits: { connectionsMax: 3 } });
    const held = Array.from({ length: 3 }, () => connectTcp(port.port, '127.0.0.1'));
    await Promise.all(held.map((socket) => once(socket, 'connect')));
    await expect(fetch(`${port.address}/here`)).rejects.toThrow();
    held[0]?.destroy();
    let status = 0;
    await until(() => {
      void fetch(`${port.address}/here`, { headers: { connection: 'close' } }).then(
        (response) => {
          status = response.status;
        },
        () => {},
      );
      return status === 200;
    }, 'a place is free');
    for (const socket of held) socket.destroy();
  });
});
