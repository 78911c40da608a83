import { connect as connectHttp2 } from 'node:http2';
import { constants, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GOOD, INGEST_MAX_BYTES, type Port, startPort } from '../support/port.ts';
import { drawSeed, report } from '../support/scenario.ts';

const RPC = '/spandrel.v1.TraceService/CollectTrace';
const AT_ONCE = 50;
const MIB = 1_048_576;

let port: Port;
beforeAll(async () => {
  port = await startPort();
});
afterAll(() => port.drain(0));

/** 100 MiB of zeros in 100 KiB. */
const honest = gzipSync(Buffer.alloc(100 * MIB), { level: constants.Z_BEST_COMPRESSION });

/** The same, claiming to be ten bytes. */
const lying = Buffer.from(honest);
lying.writeUInt32LE(10, lying.length - 4);

const PROTOCOLS = {
  connect: { 'content-type': 'application/proto', 'content-encoding': 'gzip' },
  'grpc-web': { 'content-type': 'application/grpc-web+proto', 'grpc-encoding': 'gzip' },
  grpc: { 'content-type': 'application/grpc', 'grpc-encoding': 'gzip', te: 'trailers' },
};

function bodyOf(protocol: string, bomb: Buffer): Buffer {
  if (protocol === 'connect') return bomb;
  const prefix = Buffer.alloc(5, 1);
  prefix.writeUInt32BE(bomb.length, 1);
  return Buffer.concat([prefix, bomb]);
}

/** Returns the whole answer of the server as text. */
function send(
  protocol: keyof typeof PROTOCOLS,
  bomb: Buffer,
  { authorization = GOOD.authorization, end = true } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(port.address);
    const stream = session.request({ ':method': 'POST', ':path': RPC, ...PROTOCOLS[protocol], authorization });
    let text = '';
    const note = (headers: object) => {
      text += JSON.stringify(headers);
    };
    stream.on('response', note).on('trailers', note).on('error', reject);
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    stream.on('close', () => {
      session.destroy();
      resolve(text);
    });
    stream.write(bodyOf(protocol, bomb));
    if (end) stream.end();
  });
}

describe.each(Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[])('X1: %s', (protocol) => {
  it.each([
    ['an honest bomb', honest, /resource_exhausted|"grpc-status":"8"|grpc-status: 8/],
    ['a bomb that lies about its size', lying, /invalid_argument|"grpc-status":"3"|grpc-status: 3/],
  ])(`${AT_ONCE} times %s at once is refused within bounds`, async (name, bomb, refusal) => {
    // Warms up, so that memory of the first call does not count as growth.
    await send(protocol, bomb);
    const rssBefore = process.memoryUsage().rss;
    let rssPeak = rssBefore;
    const sampling = setInterval(() => {
      rssPeak = Math.max(rssPeak, process.memoryUsage().rss);
    }, 5);
    const startedMs = performance.now();
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => send(protocol, bomb)));
    const tookMs = performance.now() - startedMs;
    clearInterval(sampling);
    for (const answer of answers) expect(answer).toMatch(refusal);
    expect(port.decoded()).toBe(0);
    const rss = rssPeak - rssBefore;
    report({
      id: `X1 ${protocol} ${name}`,
      seed: drawSeed(),
      n: AT_ONCE,
      p99: Math.round(tookMs),
      rss,
      pass: rss <= 64 * MIB,
    });
    expect(rss).toBeLessThanOrEqual(64 * MIB);
  });

  it('is not decompressed for a caller without a credential', async () => {
    // The server answers before the body has ended.
    const answer = await send(protocol, lying, { authorization: 'Bearer bad', end: false });
    expect(answer).toMatch(/unauthenticated|"grpc-status":"16"|grpc-status: 16/);
  });
});

it('a message within the limit is unpacked, however well it is packed', async () => {
  const packed = gzipSync(Buffer.alloc(0));
  expect(await send('connect', packed)).toContain('":status":200');
  // Zero bytes up to the limit are refused as no message, not for their size.
  const zeros = gzipSync(Buffer.alloc(INGEST_MAX_BYTES));
  expect(await send('connect', zeros)).toContain('invalid_argument');
});
