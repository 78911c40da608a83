import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GOOD, type Port, startPort, until } from '../support/port.ts';

const RPC = '/spandrel.v1.ApiKeyService/CreateApiKey';
const BODY_BYTES = 50_000;
/** Room for four requests and four bodies per caller. */
const QUOTAS = { arriving: 16, inFlight: 16, bodyBytes: 16 * BODY_BYTES };
const SENDERS = 20;
/** Announces a message that is longer than what follows. */
const LONG_MESSAGE = Buffer.from([0, 0, 0x0f, 0, 0]);

const SURFACES: { readonly [name: string]: { readonly path: string; readonly type: string; readonly first: Buffer } } =
  {
    REST: { path: '/api/api-keys', type: 'application/json', first: Buffer.from('{') },
    gRPC: { path: RPC, type: 'application/grpc', first: LONG_MESSAGE },
    'gRPC with compression': { path: RPC, type: 'application/grpc', first: LONG_MESSAGE },
    Connect: { path: RPC, type: 'application/json', first: Buffer.from('{') },
  };

async function start(): Promise<Port> {
  const port = await startPort({ fallback: 'rest', quotas: QUOTAS, serve: () => ({}) });
  onTestFinished(() => port.drain(0));
  return port;
}

type Sending = {
  /** The number of requests refused as unavailable. */
  readonly refused: () => number;
  readonly session: ClientHttp2Session;
};

/** Opens requests that send `bytes` of their bodies and then stall. */
function sendHalf(port: Port, surface: string, bytes: number): Sending {
  const { path, type, first } = SURFACES[surface] ?? { path: '', type: '', first: Buffer.alloc(0) };
  const session = connectHttp2(port.address).on('error', () => {});
  onTestFinished(() => session.destroy());
  let refused = 0;
  const encoding = surface === 'gRPC with compression' ? { 'grpc-encoding': 'gzip' } : {};
  for (let count = 0; count < SENDERS; count += 1) {
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type, ...encoding, ...GOOD });
    stream.on('error', () => {}).resume();
    stream.on('response', (headers) => {
      if (headers[':status'] === 503 || headers['grpc-status'] === '14') refused += 1;
    });
    stream.on('trailers', (headers) => {
      if (headers['grpc-status'] === '14') refused += 1;
    });
    stream.write(Buffer.concat([first, Buffer.alloc(bytes, ' ')]));
  }
  return { refused: () => refused, session };
}

describe.each(Object.keys(SURFACES))('bodies on their way over %s', (surface) => {
  it('take no more slots than one caller has, and none of those of requests in work', async () => {
    const port = await start();
    const sending = sendHalf(port, surface, 1);
    await until(() => sending.refused() === SENDERS - QUOTAS.arriving / 4, 'all others are refused');
    expect(port.held()).toMatchObject({ arriving: QUOTAS.arriving / 4, inFlight: 0 });
    // Bodiless reads of the same caller still work.
    expect((await fetch(`${port.address}/api/api-keys`, { headers: GOOD })).status).toBe(200);
    sending.session.destroy();
    await until(() => port.held().arriving === 0, 'the places are free again');
  });

  it('take no more bytes than one caller has', async () => {
    const port = await start();
    const sendings = [sendHalf(port, surface, BODY_BYTES), sendHalf(port, surface, BODY_BYTES)];
    let most = 0;
    await until(() => {
      most = Math.max(most, port.held().bodyBytes);
      return sendings.reduce((sum, { refused }) => sum + refused(), 0) >= 2 * SENDERS - QUOTAS.arriving / 4;
    }, 'all others are refused');
    expect(most).toBeGreaterThan(BODY_BYTES);
    expect(most).toBeLessThanOrEqual(QUOTAS.bodyBytes / 4);
    for (const { session } of sendings) session.destroy();
    await until(() => port.held().bodyBytes === 0 && port.held().arriving === 0, 'nothing is held');
  });
});
