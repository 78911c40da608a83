import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type GetTraceRequest,
  GetTraceRequestSchema,
  GetTraceResponseSchema,
  TraceService,
} from '../../gen/spandrel/v1/traces_pb.js';
import { Fault } from '../../src/domain/fault.ts';
import { readStatus } from '../support/error-info.ts';
import { GOOD, type Port, SIZE_MAX_BYTES, startPort, TLS, until } from '../support/port.ts';

const PATH = '/spandrel.v1.TraceService/GetTrace';

/** The handler: its result depends on the trace id. */
async function serve(_: unknown, message: unknown): Promise<object> {
  const { traceId } = message as GetTraceRequest;
  if (traceId === 'missing') throw new Fault('trace_not_found', 'There is no such träce, 100 %.');
  if (traceId === 'busy') throw new Fault('unavailable', 'The queue is full.', { retryAfterSeconds: 3 });
  if (traceId === 'bug') throw new TypeError('secret detail of the code');
  if (traceId === 'slow') await released;
  return {
    view: { case: 'trace', value: { traceId, metadataJson: traceId.startsWith('big') ? 'x'.repeat(300_000) : '{}' } },
  };
}

let released = Promise.resolve();
let port: Port;
let session: ClientHttp2Session;

beforeAll(async () => {
  port = await startPort({ serve });
  session = connect(port.address);
});
afterAll(async () => {
  session.destroy();
  await port.drain(1_000);
});

type Reply = {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly rstCode: number;
};

type Raw = { readonly headers?: object; readonly chunks?: readonly Uint8Array[]; readonly end?: boolean };

/** Sends a raw call that no client library would send. */
function call({ headers = {}, chunks = [], end = true }: Raw): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': PATH,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...GOOD,
      ...headers,
    });
    let first: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    const parts: Buffer[] = [];
    stream.on('response', (received) => {
      first = received;
    });
    stream.on('trailers', (received) => {
      trailers = received;
    });
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('error', reject);
    stream.on('close', () =>
      resolve({ headers: first, trailers, body: Buffer.concat(parts), rstCode: stream.rstCode ?? -1 }),
    );
    for (const chunk of chunks) stream.write(chunk);
    if (end) stream.end();
  });
}

const message = (traceId: string) =>
  Buffer.from(toBinary(GetTraceRequestSchema, create(GetTraceRequestSchema, { traceId })));

function frame(bytes: Uint8Array, { flag = 0, length = bytes.length } = {}): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, bytes]);
}

const ask = (traceId: string, headers: object = {}) => call({ headers, chunks: [frame(message(traceId))] });

function infoOf({ headers }: Reply) {
  return readStatus(Buffer.from(String(headers['grpc-status-details-bin']), 'base64'));
}

describe('a unary gRPC call', () => {
  it.each(['application/grpc', 'application/grpc+proto'])('is answered (%s)', async (type) => {
    const reply = await ask('abc', { 'content-type': type });
    expect(reply.headers).toMatchObject({ ':status': 200, 'content-type': 'application/grpc' });
    expect(reply.trailers['grpc-status']).toBe('0');
    expect(fromBinary(GetTraceResponseSchema, reply.body.subarray(5)).view.value).toMatchObject({ traceId: 'abc' });
  });

  it('says which request and trace it was', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const reply = await ask('abc', { 'x-request-id': 'mine-1', traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
    expect(reply.headers['x-request-id']).toBe('mine-1');
    expect(reply.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  });

  it('counts a repeated header as its first value', async () => {
    const reply = await ask('abc', { 'x-request-id': ['first', 'second'] });
    expect(reply.headers['x-request-id']).toBe('first');
  });

  it('takes a message in pieces of any size, and answers a large one', async () => {
    const bytes = frame(message(`big${'y'.repeat(3_000)}`));
    const reply = await call({ chunks: [...bytes].map((byte) => Uint8Array.of(byte)) });
    expect(reply.trailers['grpc-status']).toBe('0');
    expect(reply.body.length).toBeGreaterThan(300_000);
  });

  it('works by @grpc/grpc-js, also over TLS', async () => {
    const secure = await startPort({ tls: true, serve });
    const channel = credentials.createSsl(Buffer.from(TLS.cert));
    for (const client of [
      new Client(`127.0.0.1:${port.port}`, credentials.createInsecure()),
      new Client(`localhost:${secure.port}`, channel),
    ]) {
      const found = await grpcJs(client, 'abc');
      expect(found.view.value).toMatchObject({ traceId: 'abc' });
      await expect(grpcJs(client, 'missing')).rejects.toMatchObject({
        code: 5,
        details: 'There is no such träce, 100 %.',
      });
      client.close();
    }
    await secure.drain(1_000);
  });
});

function grpcJs(client: Client, traceId: string) {
  const method = TraceService.method.getTrace;
  const metadata = new Metadata();
  metadata.set('authorization', GOOD.authorization);
  return new Promise<ReturnType<typeof fromBinary<typeof GetTraceResponseSchema>>>((resolve, reject) => {
    client.makeUnaryRequest(
      PATH,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => fromBinary(method.output, bytes),
      message(traceId),
      metadata,
      { deadline: Date.now() + 10_000 },
      (error: ServiceError | null, value) => (error || !value ? reject(error) : resolve(value)),
    );
  });
}

describe('a failed gRPC call', () => {
  it('ends in one answer of trailers only, with the details of the failure', async () => {
    const reply = await ask('missing');
    const { info, status } = infoOf(reply);
    expect(reply.headers).toMatchObject({
      ':status': 200,
      'grpc-status': '5',
      'grpc-message': 'There is no such tr%C3%A4ce, 100 %25.',
    });
    expect(status).toMatchObject({ code: 5, message: 'There is no such träce, 100 %.' });
    expect(info).toMatchObject({ type: 'not_found', code: 'trace_not_found' });
    expect(reply.headers.traceparent).toBe(`00-${info?.traceId}-${info?.spanId}-01`);
    expect(reply.body).toHaveLength(0);
  });

  it('says when to try again', async () => {
    const { retry, status } = infoOf(await ask('busy'));
    expect(status.code).toBe(14);
    expect(retry[0]?.retryDelay?.seconds).toBe(3n);
  });

  it('reveals nothing about a bug', async () => {
    const reply = await ask('bug');
    expect(reply.headers['grpc-status']).toBe('13');
    expect(reply.headers['grpc-message']).toBe('An unknown error occurred');
    expect(Buffer.from(String(reply.headers['grpc-status-details-bin']), 'base64').toString()).not.toContain('secret');
  });

  it('proves the credential before it reads the message', async () => {
    const decodedBefore = port.decoded();
    const reply = await call({
      headers: { authorization: 'Bearer bad' },
      chunks: [Buffer.from('garbage')],
      end: false,
    });
    expect(reply.headers['grpc-status']).toBe('16');
    expect(reply.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    expect(port.decoded()).toBe(decodedBefore);
  });

  it.each([
    ['no message', []],
    ['half a prefix', [Buffer.alloc(3)]],
    ['half a message', [frame(message('abc'), { length: 100 })]],
    ['two messages', [frame(message('abc')), frame(message('abc'))]],
    ['bytes after the message', [frame(message('abc')), Buffer.from('x')]],
    ['a message that is none', [frame(Buffer.from([0xff, 0xff, 0xff]))]],
  ])('refuses %s as malformed', async (_, chunks) => {
    const reply = await call({ chunks });
    expect(reply.headers['grpc-status']).toBe('3');
    expect(infoOf(reply).info?.code).toBe('malformed_request');
  });

  it.each([{}, { 'grpc-encoding': 'identity' }])(
    'refuses compression that nobody announced as internal: %j',
    async (headers) => {
      const reply = await call({ headers, chunks: [frame(message('abc'), { flag: 1 })] });
      expect(reply.headers['grpc-status']).toBe('13');
      expect(infoOf(reply).info).toMatchObject({ code: 'malformed_request', type: 'bad_request' });
    },
  );

  it('refuses a message over the limit by its announced length, without telling to retry', async () => {
    const reply = await call({ chunks: [frame(Buffer.alloc(10), { length: SIZE_MAX_BYTES + 1 })], end: false });
    const { info, retry } = infoOf(reply);
    expect(reply.headers['grpc-status']).toBe('8');
    expect(info).toMatchObject({ code: 'payload_too_large', meta: { limitBytes: SIZE_MAX_BYTES } });
    expect(retry).toHaveLength(0);
    expect(reply.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  });

  it('takes a message of exactly the limit', async () => {
    const overhead = message('x'.repeat(SIZE_MAX_BYTES - 10)).length - (SIZE_MAX_BYTES - 10);
    const reply = await ask('x'.repeat(SIZE_MAX_BYTES - overhead));
    expect(reply.trailers['grpc-status']).toBe('0');
  });
});

describe('the deadline of a gRPC call', () => {
  it('answers the caller in time, while the work continues', async () => {
    const gate = Promise.withResolvers<void>();
    released = gate.promise;
    const reply = await ask('slow', { 'grpc-timeout': '50m' });
    expect(reply.headers['grpc-status']).toBe('4');
    expect(infoOf(reply).info?.code).toBe('request_timeout');
    expect(port.inFlight()).toBe(1);
    gate.resolve();
    await until(() => port.inFlight() === 0, 'the work has ended');
  });

  it('also passes while the message is awaited, and releases the slot', async () => {
    const reply = await call({ headers: { 'grpc-timeout': '50m' }, end: false });
    expect(reply.headers['grpc-status']).toBe('4');
    await until(() => port.inFlight() === 0, 'the pipeline has ended');
  });

  it.each(['1', '1x', '-1S', '123456789S', 'S'])('%s is refused as malformed', async (timeout) => {
    expect((await ask('abc', { 'grpc-timeout': timeout })).headers['grpc-status']).toBe('3');
  });

  it.each(['99999999H', '5S', '5000000u'])('%s leaves the time it says', async (timeout) => {
    expect((await ask('abc', { 'grpc-timeout': timeout })).trailers['grpc-status']).toBe('0');
  });
});

describe('a caller that leaves', () => {
  it.each([
    ['before its message is complete', false],
    ['while the work is done', true],
  ])('%s does not crash the server and holds no slot', async (_, complete) => {
    const gate = Promise.withResolvers<void>();
    released = gate.promise;
    const stream = session.request({ ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc', ...GOOD });
    stream.on('error', () => {});
    const bytes = frame(message('slow'));
    if (complete) stream.end(bytes);
    else stream.write(bytes.subarray(0, 6));
    await until(() => port.inFlight() === 1, 'the call has begun');
    stream.close(constants.NGHTTP2_CANCEL);
    if (complete) gate.resolve();
    await until(() => port.inFlight() === 0, 'the call has ended');
    gate.resolve();
    expect((await ask('abc')).trailers['grpc-status']).toBe('0');
  });
});
