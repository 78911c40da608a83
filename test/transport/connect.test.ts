import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { gzipSync } from 'node:zlib';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ErrorInfo, ErrorInfoSchema, RetryInfoSchema } from '../../gen/google/rpc/error_details_pb.js';
import { EventService } from '../../gen/spandrel/v1/events_pb.js';
import { type GetTraceRequest, GetTraceRequestSchema, TraceService } from '../../gen/spandrel/v1/traces_pb.js';
import { Fault, validationFault } from '../../src/domain/fault.ts';
import { readInfo } from '../support/error-info.ts';
import { GOOD, INGEST_MAX_BYTES, type Port, SIZE_MAX_BYTES, startPort, TLS, until } from '../support/port.ts';

const PATH = '/spandrel.v1.TraceService/GetTrace';
let released = Promise.resolve();
let port: Port;
let secure: Port;

async function serve(_: unknown, message: unknown): Promise<object> {
  const { traceId } = message as GetTraceRequest;
  if (traceId === 'missing') throw new Fault('trace_not_found', 'There is no such träce.');
  if (traceId === 'busy') throw new Fault('unavailable', 'The queue is full.', { retryAfterSeconds: 3 });
  if (traceId === 'bug') throw new TypeError('secret detail of the code');
  if (traceId === 'slow') await released;
  if (traceId === 'invalid')
    throw validationFault('json', [{ field: 'traceId', type: 'custom', message: 'traceId is odd' }]);
  return traceId === undefined ? {} : { view: { case: 'trace', value: { traceId } } };
}

beforeAll(async () => {
  port = await startPort({ serve });
  secure = await startPort({ serve, tls: true });
});
afterAll(async () => {
  await Promise.all([port.drain(500), secure.drain(500)]);
});

type Protocol = 'connect' | 'connect+json' | 'grpc-web' | 'grpc';
type Http = 'HTTP/1.1' | 'h2c' | 'TLS h2' | 'TLS HTTP/1.1';
type Surface = { readonly protocol: Protocol; readonly http: Http };

const SURFACES: readonly Surface[] = (['connect', 'connect+json', 'grpc-web', 'grpc'] as const).flatMap((protocol) =>
  (['HTTP/1.1', 'h2c', 'TLS h2', 'TLS HTTP/1.1'] as const)
    .filter((http) => protocol !== 'grpc' || !http.includes('1.1'))
    .map((http) => ({ protocol, http })),
);

function transportOf({ protocol, http }: Surface): Transport {
  const baseUrl = http.startsWith('TLS') ? `https://localhost:${secure.port}` : port.address;
  const httpVersion = http.includes('1.1') ? '1.1' : '2';
  const options = { baseUrl, httpVersion, nodeOptions: http.startsWith('TLS') ? { ca: TLS.cert } : {} } as const;
  if (protocol === 'grpc') return createGrpcTransport(options as Parameters<typeof createGrpcTransport>[0]);
  if (protocol === 'grpc-web') return createGrpcWebTransport(options);
  return createConnectTransport({ ...options, useBinaryFormat: protocol === 'connect' });
}

async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: unknown) => ConnectError.from(error),
  );
}

function infoOf(error: ConnectError) {
  const infos = error.findDetails(ErrorInfoSchema);
  expect(infos, `exactly one ErrorInfo: ${error.message}`).toHaveLength(1);
  return readInfo(infos[0] as ErrorInfo);
}

describe.each(SURFACES)('$protocol over $http', (surface) => {
  const traces = () => createClient(TraceService, transportOf(surface));

  it('answers, and says which request and trace it was', async () => {
    let headers = new Headers();
    const found = await traces().getTrace(
      { traceId: 'abc' },
      {
        headers: { ...GOOD, 'x-request-id': 'mine-1' },
        onHeader: (received) => {
          headers = received;
        },
      },
    );
    expect(found.view.value).toMatchObject({ traceId: 'abc' });
    expect(headers.get('x-request-id')).toBe('mine-1');
    expect(headers.get('traceparent')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  it('has the details of a failure', async () => {
    const error = await failureOf(traces().getTrace({ traceId: 'missing' }, { headers: GOOD }));
    expect(error).toMatchObject({ code: Code.NotFound, rawMessage: 'There is no such träce.' });
    expect(infoOf(error)).toMatchObject({ type: 'not_found', code: 'trace_not_found' });
    const invalid = await failureOf(traces().getTrace({ traceId: 'invalid' }, { headers: GOOD }));
    expect(infoOf(invalid)).toMatchObject({ type: 'unprocessable_entity', meta: { fields: ['traceId'] } });
    const events = createClient(EventService, transportOf(surface));
    expect(infoOf(await failureOf(events.getEvent({ id: 'x' })))).toMatchObject({ type: 'unauthenticated' });
  });

  it('says when to try again', async () => {
    const error = await failureOf(traces().getTrace({ traceId: 'busy' }, { headers: GOOD }));
    expect(error.code).toBe(Code.Unavailable);
    expect(error.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBe(3n);
  });

  it('reveals nothing about a bug', async () => {
    const error = await failureOf(traces().getTrace({ traceId: 'bug' }, { headers: GOOD }));
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: 'An unknown error occurred' });
    expect(infoOf(error)?.code).toBe('internal_error');
  });

  it('proves the credential before it reads the message', async () => {
    const decodedBefore = port.decoded() + secure.decoded();
    const error = await failureOf(
      traces().getTrace({ traceId: 'x'.repeat(200_000) }, { headers: { authorization: 'Bearer bad' } }),
    );
    expect(error.code).toBe(Code.Unauthenticated);
    expect(infoOf(error)?.code).toBe('invalid_credentials');
    expect(port.decoded() + secure.decoded()).toBe(decodedBefore);
  });

  it('refuses a message over the limit without telling to retry', async () => {
    const error = await failureOf(traces().getTrace({ traceId: 'x'.repeat(SIZE_MAX_BYTES) }, { headers: GOOD }));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(infoOf(error)).toMatchObject({ code: 'payload_too_large', meta: { limitBytes: SIZE_MAX_BYTES } });
    expect(error.findDetails(RetryInfoSchema)).toHaveLength(0);
    expect(port.inFlight() + secure.inFlight()).toBe(0);
  });

  it('holds each rpc to its own limit', async () => {
    const spans = [{ spanId: 's', input: { type: 'text', valueJson: JSON.stringify('x'.repeat(2 * SIZE_MAX_BYTES)) } }];
    await traces().collectTrace({ traceId: 't', spans }, { headers: GOOD });
  });

  it('answers at the deadline, while the work continues', async () => {
    const gate = Promise.withResolvers<void>();
    released = gate.promise;
    const error = await failureOf(traces().getTrace({ traceId: 'slow' }, { headers: GOOD, timeoutMs: 100 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
    gate.resolve();
    await until(() => port.inFlight() + secure.inFlight() === 0, 'the work has ended');
  });
});

type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

async function post(
  path: string,
  {
    headers = {},
    body = '{}',
    method = 'POST',
  }: { headers?: object; body?: string | Uint8Array<ArrayBuffer> | null; method?: string },
): Promise<Answer> {
  const sent = body === null ? {} : { body };
  const response = await fetch(port.address + path, {
    method,
    ...sent,
    headers: { 'content-type': 'application/json', ...GOOD, ...headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The error of a Connect answer, with the one ErrorInfo it must have. */
function connectError({ text }: Answer): {
  readonly code: string;
  readonly message: string;
  readonly info: { readonly code: string; readonly meta?: object };
} {
  const { code, message, details } = JSON.parse(text);
  const infos = details.filter(({ type }: { type: string }) => type === 'google.rpc.ErrorInfo');
  expect(infos).toHaveLength(1);
  return { code, message, info: readInfo(fromBinary(ErrorInfoSchema, Buffer.from(infos[0].value, 'base64'))) };
}

describe('a request the library itself refuses', () => {
  it.each([
    ['broken JSON', '{'],
    ['a field of the wrong type', '{"traceId":{"$ne":""}}'],
    ['JSON that is not an object', '[]'],
  ])('%s is malformed, and names no type of the contract', async (_, body) => {
    const answer = await post(PATH, { body });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toMatch(/spandrel\.v1\./);
    expect(connectError(answer)).toMatchObject({ code: 'invalid_argument', info: { code: 'malformed_request' } });
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  });

  it('names the field that has the wrong type', async () => {
    const { info } = connectError(await post(PATH, { body: '{"traceId":5}' }));
    expect(info.meta).toEqual({ detail: 'trace_id has a value of the wrong type' });
  });

  it('a binary message that is none is malformed', async () => {
    const answer = await post(PATH, {
      headers: { 'content-type': 'application/proto' },
      body: Uint8Array.of(255, 255, 255),
    });
    expect(answer.status).toBe(400);
    expect(connectError(answer).info.code).toBe('malformed_request');
  });

  it.each(['br', 'deflate', 'zstd'])('compression by %s is unimplemented', async (encoding) => {
    const answer = await post(PATH, { headers: { 'content-encoding': encoding }, body: 'x' });
    expect(answer.status).toBe(501);
    expect(connectError(answer)).toMatchObject({ code: 'unimplemented', info: { code: 'unsupported_encoding' } });
  });

  it('broken gzip is malformed', async () => {
    const answer = await post(PATH, { headers: { 'content-encoding': 'gzip' }, body: 'not gzip at all' });
    expect(answer.status).toBe(400);
    expect(connectError(answer).info.code).toBe('malformed_request');
  });

  it('good gzip is fine', async () => {
    const answer = await post(PATH, {
      headers: { 'content-encoding': 'gzip' },
      body: new Uint8Array(gzipSync('{"traceId":"zip"}')),
    });
    expect(answer).toMatchObject({ status: 200 });
    expect(JSON.parse(answer.text)).toMatchObject({ trace: { traceId: 'zip' } });
  });

  it('an unknown rpc is unimplemented in each protocol', async () => {
    const connect = await post('/spandrel.v1.TraceService/Nope', { headers: { 'connect-protocol-version': '1' } });
    expect(connect.status).toBe(404);
    expect(connectError(connect)).toMatchObject({ code: 'unimplemented', info: { code: 'route_not_found' } });
    for (const type of ['application/grpc', 'application/grpc-web+proto']) {
      const answer = await post('/no.such.Service/Nope', { headers: { 'content-type': type } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('grpc-status')).toBe('12');
      expect(answer.headers.get('grpc-status-details-bin')).toMatch(/./);
    }
  });

  it('a method that the rpc does not take is not allowed', async () => {
    const answer = await post(PATH, { method: 'PUT', body: null });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST, GET, OPTIONS');
    expect(connectError(answer)).toMatchObject({
      message: 'This path takes only POST, GET, OPTIONS.',
      info: { code: 'method_not_allowed' },
    });
  });

  it('another content type is unsupported', async () => {
    const answer = await post(PATH, { headers: { 'content-type': 'text/plain' } });
    expect(answer.status).toBe(415);
    expect(connectError(answer).code).toBe('unimplemented');
  });

  it('gRPC-Web in text is refused with what to send instead', async () => {
    for (const type of ['application/grpc-web-text', 'application/grpc-web-text+proto']) {
      const answer = await post(PATH, { headers: { 'content-type': type } });
      expect(answer.status).toBe(415);
      expect(connectError(answer).message).toContain('application/grpc-web+proto');
    }
  });

  it('x-gzip is gzip', async () => {
    const headers = { 'content-encoding': 'x-gzip' };
    const answer = await post(PATH, { headers, body: gzipSync('{"traceId":"abc"}') });
    expect(answer.status).toBe(200);
  });

  it('a compressed message without an encoding is an internal error over gRPC-Web', async () => {
    const packed = gzipSync(Buffer.from([0x0a, 1, 0x61]));
    const body = Buffer.concat([Buffer.from([1, 0, 0, 0, packed.length]), packed]);
    const answer = await post(PATH, { headers: { 'content-type': 'application/grpc-web+proto' }, body });
    expect(answer.text).toContain('grpc-status: 13');
  });

  it.each(['Host: a b\r\n', 'Host: ]\r\n', ''])('a host of %j takes nothing down', async (host) => {
    const text = await rawHttp1(
      `POST ${PATH} HTTP/1.0\r\n${host}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect((await post(PATH, { body: '{"traceId":"abc"}' })).status).toBe(200);
  });
});

function rawHttp1(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(port.port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', reject).on('close', () => resolve(received));
  });
}

/** How long a server discards what still arrives after a refusal. */
const LINGER_MS = 1_000;
/** Attempts that a busy machine may spoil. */
const SLOW_MAX = 20;

describe('a body that will not be read', () => {
  it('ends the connection on HTTP/1.1, after the answer', async () => {
    const answer = await new Promise<{ status: number; connection: string | undefined }>((resolve, reject) => {
      const request = httpRequest(
        port.address + PATH,
        { method: 'POST', headers: { 'content-type': 'application/json' } },
        (response) => {
          response
            .resume()
            .on('end', () => resolve({ status: response.statusCode ?? 0, connection: response.headers.connection }));
        },
      );
      request.on('error', reject);
      request.write('{"traceId":"');
    });
    expect(answer).toEqual({ status: 401, connection: 'close' });
  });

  it('reaches the client with its refusal even when the client sends the whole body first', async () => {
    const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${INGEST_MAX_BYTES}\r\n\r\n`;
    for (let answered = 0, slow = 0; answered < 5; ) {
      const socket = connectTcp(port.port, '127.0.0.1').pause();
      const startedAtMs = performance.now();
      let sentMs = Number.POSITIVE_INFINITY;
      const received = await new Promise<Buffer | null>((resolve) => {
        socket.on('error', () => resolve(null));
        socket.on('close', () => resolve(null));
        socket.write(head);
        socket.write(Buffer.alloc(INGEST_MAX_BYTES, 'x'), () => {
          sentMs = performance.now() - startedAtMs;
          socket.on('data', resolve).resume();
        });
      });
      socket.destroy();
      // The server reads on for a second: on a busy machine a client may take longer to send everything.
      if (received === null && sentMs > LINGER_MS / 2 && slow < SLOW_MAX) slow += 1;
      else {
        expect(received?.toString('latin1')).toMatch(/^HTTP\/1\.1 401 /);
        answered += 1;
      }
    }
  });

  it('resets the stream without an error on HTTP/2', async () => {
    const session = connectHttp2(port.address);
    const stream = session.request({ ':method': 'POST', ':path': PATH, 'content-type': 'application/json' });
    stream.write('{');
    const status = await new Promise((resolve) => stream.on('response', (headers) => resolve(headers[':status'])));
    stream.resume();
    await until(() => stream.closed, 'the stream is closed');
    expect(status).toBe(401);
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    session.destroy();
  });

  it('is not sent by a client that expects 100-continue', async () => {
    const callWith = (authorization: string) =>
      new Promise<string[]>((resolve, reject) => {
        const seen: string[] = [];
        const headers = {
          'content-type': 'application/json',
          expect: '100-continue',
          'content-length': 15,
          authorization,
        };
        const request = httpRequest(port.address + PATH, { method: 'POST', headers }, (response) => {
          seen.push(String(response.statusCode));
          response.resume().on('end', () => resolve(seen));
        });
        request.on('error', reject).on('continue', () => {
          seen.push('100');
          request.end('{"traceId":"a"}');
        });
        request.flushHeaders();
      });
    expect(await callWith('Bearer bad')).toEqual(['401']);
    expect(await callWith(GOOD.authorization)).toEqual(['100', '200']);
  });
});

describe('a caller that leaves', () => {
  it.each(['HTTP/1.1', 'h2c'] as const)('holds no place (%s)', async (http) => {
    const gate = Promise.withResolvers<void>();
    released = gate.promise;
    const abort = new AbortController();
    const client = createClient(TraceService, transportOf({ protocol: 'connect', http }));
    const call = failureOf(client.getTrace({ traceId: 'slow' }, { headers: GOOD, signal: abort.signal }));
    await until(() => port.inFlight() === 1, 'the call has begun');
    abort.abort();
    gate.resolve();
    expect((await call).code).toBe(Code.Canceled);
    await until(() => port.inFlight() === 0, 'the pipeline has ended');
  });

  it('before its message is complete holds no slot', async () => {
    const socket = connectTcp(port.port, '127.0.0.1');
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    );
    await until(() => port.inFlight() === 1, 'the call has begun');
    socket.destroy();
    await until(() => port.inFlight() === 0, 'the pipeline has ended');
  });
});

it.each(['application/json', 'application/grpc-web+proto'])(
  'a deadline also passes while the message is awaited (%s)',
  async (type) => {
    const timeout = type === 'application/json' ? 'Connect-Timeout-Ms: 50' : 'Grpc-Timeout: 50m';
    const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: ${type}\r\n${timeout}\r\n`;
    const text = await rawHttp1(`${head}Content-Length: 99\r\n\r\n{`);
    expect(text).toMatch(/"code":"deadline_exceeded"|grpc-status: 4/);
    await until(() => port.inFlight() === 0, 'the pipeline has ended');
  },
);

it('callers that hang up in the middle of an answer leave no trace in the log', async () => {
  const noise: unknown[] = [];
  const warning = vi.spyOn(process, 'emitWarning').mockImplementation((...about) => void noise.push(about));
  const error = vi.spyOn(console, 'error').mockImplementation((...about) => void noise.push(about));
  const own = await startPort({
    serve: () => ({ view: { case: 'trace', value: { metadataJson: 'x'.repeat(20_000_000) } } }),
  });
  for (const type of ['application/json', 'application/grpc-web+proto']) {
    const body = type === 'application/json' ? '{}' : '\0\0\0\0\0';
    const socket = connectTcp(own.port, '127.0.0.1');
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'data');
    socket.resetAndDestroy();
    const session = connectHttp2(own.address);
    const stream = session.request({ ':method': 'POST', ':path': PATH, 'content-type': type, ...GOOD });
    stream.on('error', () => {}).end(body);
    await once(stream, 'data');
    session.destroy();
  }
  await own.drain(1_000);
  warning.mockRestore();
  error.mockRestore();
  expect(noise).toEqual([]);
});

it.each(['application/proto', 'application/json', 'application/grpc-web+proto'])(
  'what a caller has sent who leaves before its end is not served (%s)',
  async (type) => {
    const requests: unknown[] = [];
    const own = await startPort({
      serve: (_, message) => {
        requests.push(message);
        return {};
      },
    });
    const message = toBinary(GetTraceRequestSchema, create(GetTraceRequestSchema, { traceId: 'abc' }));
    const prefix = Buffer.from([0, 0, 0, 0, message.length]);
    const bodies = {
      'application/proto': message,
      'application/json': Buffer.from('{"traceId":"abc"}'),
      'application/grpc-web+proto': Buffer.concat([prefix, message]),
    };
    const session = connectHttp2(own.address);
    const stream = session.request({ ':method': 'POST', ':path': PATH, 'content-type': type, ...GOOD });
    stream.on('error', () => {}).write(bodies[type as keyof typeof bodies]);
    // The answer shows that the server has read all earlier frames.
    await new Promise((resolve) => session.ping(resolve));
    session.destroy();
    await own.drain(500);
    expect(requests).toEqual([]);
  },
);

it('gRPC with gzip is served by the library and is answered', async () => {
  const session = connectHttp2(port.address);
  const zipped = gzipSync(toBinary(GetTraceRequestSchema, create(GetTraceRequestSchema, { traceId: 'abc' })));
  const prefix = Buffer.alloc(5, 1);
  prefix.writeUInt32BE(zipped.length, 1);
  const stream = session.request({
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/grpc',
    'grpc-encoding': 'gzip',
    te: 'trailers',
    ...GOOD,
  });
  stream.end(Buffer.concat([prefix, zipped]));
  const status = await new Promise((resolve) =>
    stream.on('trailers', (trailers) => resolve(trailers['grpc-status'])).resume(),
  );
  expect(status).toBe('0');
  session.destroy();
});
