import { get } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { credit, framesOf, PING as PING_FRAME, ping, RST_STREAM, stingyRequest } from '../support/attack-frames.ts';
import { GOOD, type Port, type PortOptions, startPort, until } from '../support/port.ts';
import { drawSeed, isFullTier, report } from '../support/scenario.ts';

const SHORT = { headersTimeoutMs: 400, bodyGapTimeoutMs: 400, bodyTimeoutMs: 1_200, idleTimeoutMs: 400 };
/** All deadlines, the check interval, and the time to read a refusal. */
const CUT_WITHIN_MS = 6_000;
const DRIP_EVERY_MS = 50;
const LARGE = Buffer.alloc(20_000_000, 'x');
const RPC = '/spandrel.v1.TraceService/GetTrace';
const POST = `POST ${RPC} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n`;

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
/** The head of a HEADERS frame that announces 200 bytes. */
const HALF_HEADERS = Buffer.from([0, 0, 200, 1, 4, 0, 0, 0, 1, 0x82]);
/** Announces a message of 9,999 bytes. */
const GRPC_PREFIX = Buffer.from([0, 0, 0, 0x27, 0x0f]);
const PING = Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);

async function start(options: PortOptions = {}): Promise<Port> {
  const fallback: PortOptions['fallback'] = (request, response) => {
    if (request.url === '/large') response.end(LARGE);
    else request.on('end', () => response.end('here')).resume();
  };
  const port = await startPort({ limits: SHORT, fallback, ...options });
  onTestFinished(() => port.drain(0));
  return port;
}

/** A hostile connection, and whether the server has cut it. */
type Attacker = { readonly isCut: () => boolean };
type Attack = (target: Port) => Attacker;

/** Sends `first` at once, then `drop` repeatedly until the server cuts it. */
function says(
  first: string | Buffer,
  { drop, reads = true, tls = false }: { drop?: string | Buffer; reads?: boolean; tls?: boolean } = {},
): Attack {
  return (target) => {
    const options = { port: target.port, host: '127.0.0.1', allowHalfOpen: true };
    const socket: Socket = tls
      ? connectTls({ ...options, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
      : connectTcp(options);
    if (reads) socket.resume();
    else socket.pause();
    socket.on('error', () => {});
    socket.write(first);
    const drip = setInterval(() => drop !== undefined && socket.write(drop), DRIP_EVERY_MS);
    let cut = false;
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      cut = true;
      clearInterval(drip);
    });
    // A client that does not read learns of its end only by writing.
    return { isCut: () => cut || socket.destroyed };
  };
}

type Stalled = {
  readonly path: string;
  readonly type?: string;
  readonly first?: Buffer;
  readonly drop?: string;
  readonly windowSize?: number;
};

/** A stream that never ends its body, or never reads its answer. */
function stalls({ path, type = 'text/plain', first, drop, windowSize }: Stalled): Attack {
  return ({ address }) => {
    const session = connectHttp2(
      address,
      windowSize === undefined ? {} : { settings: { initialWindowSize: windowSize } },
    );
    const method = windowSize === undefined ? 'POST' : 'GET';
    const stream = session
      .on('error', () => {})
      .request({ ':method': method, ':path': path, 'content-type': type, ...GOOD });
    stream.on('error', () => {});
    if (windowSize === undefined) stream.resume();
    if (first) stream.write(first);
    const drip = setInterval(() => drop !== undefined && stream.writable && stream.write(drop), DRIP_EVERY_MS);
    session.on('close', () => clearInterval(drip));
    return { isCut: () => session.destroyed };
  };
}

const ATTACKS: { readonly [name: string]: Attack } = {
  'says nothing': says(''),
  'stops inside the first word': says('PR'),
  'drips its headers': says(`GET / HTTP/1.1\r\nHost: x\r\n`, { drop: 'X-A: b\r\n' }),
  'drips its request line': says('GET /', { drop: 'a' }),
  'stops inside its body': says(`${POST}Content-Length: 99\r\n\r\n{`),
  'stops inside a body of another path': says('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{'),
  'drips its body': says(`${POST}Content-Length: 9999\r\n\r\n{`, { drop: ' ' }),
  'drips chunks': says(`${POST}Transfer-Encoding: chunked\r\n\r\n`, { drop: '1\r\n \r\n' }),
  'rests after an answer': says('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
  'opens HTTP/2 and says nothing': says(PREFACE),
  'opens HTTP/2 and pings': says(PREFACE, { drop: PING }),
  'stops inside HTTP/2 headers': says(Buffer.concat([PREFACE, HALF_HEADERS])),
  'drips HTTP/2 headers': says(Buffer.concat([PREFACE, HALF_HEADERS]), { drop: Buffer.from([0x82]) }),
  'stops inside an HTTP/2 body': stalls({ path: '/' }),
  'drips an HTTP/2 body': stalls({ path: '/', drop: 'x' }),
  'stops inside a gRPC message': stalls({ path: RPC, type: 'application/grpc', first: GRPC_PREFIX }),
  'drips a gRPC message': stalls({ path: RPC, type: 'application/grpc', first: GRPC_PREFIX, drop: '\0' }),
  'drips a Connect message': stalls({ path: RPC, type: 'application/proto', drop: '\0' }),
  'does not take its HTTP/2 answer': stalls({ path: '/large', windowSize: 0 }),
};

describe.concurrent('a client that', () => {
  it.each(Object.keys(ATTACKS))('%s is cut, and holds no place', async (name) => {
    const port = await start();
    const attacker = ATTACKS[name]?.(port);
    await until(() => attacker?.isCut() === true, 'the client is cut', CUT_WITHIN_MS);
    await until(() => port.inFlight() === 0, 'its call has ended');
  });

  it('does not take its HTTP/1.1 answer is cut', async () => {
    let closed = false;
    const port = await start({
      fallback: (_, response) => {
        response.on('close', () => {
          closed = true;
        });
        response.end(LARGE);
      },
    });
    says('GET /large HTTP/1.1\r\nHost: x\r\n\r\n', { reads: false })(port);
    await until(() => closed, 'the client is cut', CUT_WITHIN_MS);
  });

  it.each([
    ['says nothing', says('')],
    ['stops inside the handshake', says('\x16\x03\x01\x02\0\x01')],
    ['drips its headers', says('GET / HTTP/1.1\r\n', { tls: true, drop: 'X-A: b\r\n' })],
    ['speaks HTTP without TLS', says('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
  ])('%s on a TLS port is cut', async (_, attack) => {
    const port = await start({ tls: true });
    const attacker = attack(port);
    await until(attacker.isCut, 'the client is cut', CUT_WITHIN_MS);
  });

  it.each([
    ['GET', '/large'],
    ['POST', '/'],
  ] as const)('gives credit for its answer to %s %s once that is cut gets nothing more', async (method, path) => {
    // Others keep the session open, which else ends with its only stream.
    const limits = { ...SHORT, idleTimeoutMs: 60_000 };
    const port = await start({ limits });
    const socket = connectTcp(port.port, '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
    });
    const has = (type: number, stream: number) =>
      framesOf(received).some((each) => each.type === type && each.stream === stream);
    socket.write(stingyRequest(method, path));
    // A stream that ends without a reset is what nghttp2 would go on sending for, in this process.
    await until(() => has(RST_STREAM, 1), 'the stream is reset', CUT_WITHIN_MS);
    const before = framesOf(received).length;
    socket.write(Buffer.concat([credit(1), ping()]));
    await until(() => has(PING_FRAME, 0) || socket.destroyed, 'the ping is answered, or the session has ended');
    expect(framesOf(received).length).toBeLessThan(before + 5);
    expect((await fetch(`${port.address}/`)).status).toBe(200);
  });

  it('is refused gets the reason', async () => {
    // On a busy machine what it sends could be read so late that the connection looks idle.
    const port = await start({ limits: { ...SHORT, idleTimeoutMs: 60_000 } });
    for (const [text, reason] of [
      ['GET / HTTP/1.1\r\nHost: x\r\nX-A', /^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*"code":"request_timeout"/],
      [`${POST}Content-Length: 99\r\n\r\n{`, /^HTTP\/1\.1 504 Gateway Timeout\r\n[\s\S]*"code":"deadline_exceeded"/],
    ] as const) {
      const socket = connectTcp(port.port, '127.0.0.1');
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk.toString();
      });
      socket.write(text);
      await until(() => socket.destroyed, 'the client is cut', CUT_WITHIN_MS);
      expect(received).toMatch(reason);
    }
  });

  it('waits for a slow server is not blamed for it', async () => {
    const slow = 2 * SHORT.bodyTimeoutMs;
    const late = () => new Promise<object>((resolve) => setTimeout(resolve, slow, {}));
    const port = await start({ serve: late, fallback: (_, response) => void late().then(() => response.end('late')) });
    const session = connectHttp2(port.address);
    const overHttp2 = (path: string, type: string, body: Buffer) =>
      new Promise<unknown>((resolve, reject) => {
        const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type, ...GOOD });
        stream
          .on('response', (headers) => resolve(headers[':status']))
          .on('error', reject)
          .resume();
        stream.end(body);
      });
    const answers = await Promise.all([
      fetch(`${port.address}/`).then((response) => response.status),
      fetch(port.address + RPC, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json', ...GOOD },
      }).then((response) => response.status),
      overHttp2('/', 'text/plain', Buffer.alloc(1)),
      overHttp2(RPC, 'application/grpc', Buffer.alloc(5)),
    ]);
    expect(answers).toEqual([200, 200, 200, 200]);
    session.destroy();
  });

  it.each(['HTTP/1.1', 'HTTP/2'])('reads its answer slowly gets all of it (%s)', async (version) => {
    const answer = Buffer.alloc(6_000_000, 'x');
    const limits = { ...SHORT, idleTimeoutMs: 5_000 };
    const port = await start({ limits, fallback: (_, response) => void response.end(answer) });
    const session = version === 'HTTP/2' ? connectHttp2(port.address) : null;
    const incoming = session
      ? session.request({ ':path': '/' })
      : await new Promise<Readable>((resolve) => get(`${port.address}/`, resolve));
    let received = 0;
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      received += chunk.length;
      // About three seconds in all, far beyond every deadline.
      await new Promise((resolve) => setTimeout(resolve, chunk.length / 2_000));
    }
    expect(received).toBe(answer.length);
    session?.destroy();
  });
});

it('X2: with hundreds of stalled connections a new client is served at once, and every attacker is cut', async () => {
  const width = isFullTier ? 500 : 40;
  const port = await start();
  const attackers = Object.values(ATTACKS).flatMap((attack) =>
    Array.from({ length: Math.ceil(width / 5) }, () => attack(port)),
  );
  const latenciesMs: number[] = [];
  for (let request = 0; request < 100; request += 1) {
    const startedMs = performance.now();
    // A new connection each time, like a new client.
    const response = await fetch(`${port.address}/`, { headers: { connection: 'close' } });
    expect(response.status).toBe(200);
    await response.text();
    latenciesMs.push(performance.now() - startedMs);
  }
  const p99 = latenciesMs.sort((a, b) => a - b)[98] ?? 0;
  await until(() => attackers.every(({ isCut }) => isCut()), 'every attacker is cut', 2 * CUT_WITHIN_MS);
  await until(() => port.inFlight() === 0, 'their calls have ended');
  // The quick tier shares two cores with other tests.
  const pass = p99 <= (isFullTier ? 250 : 1_000);
  report({
    id: 'X2',
    seed: drawSeed(),
    n: attackers.length,
    p99: Math.round(p99),
    rss: process.memoryUsage().rss,
    pass,
  });
  expect(pass).toBe(true);
});
