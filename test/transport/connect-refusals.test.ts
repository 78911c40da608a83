import { once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GOOD, type Port, startPort, until } from '../support/port.ts';

const PATH = '/spandrel.v1.TraceService/GetTrace';
let port: Port;
beforeAll(async () => {
  port = await startPort({ fallback: 'rest' });
});
afterAll(() => port.drain(500));

describe('a gRPC call the router refuses', () => {
  it.each([
    ['an unknown rpc', '/spandrel.v1.TraceService/Nope'],
    ['an unknown service', '/no.such.Service/Nope'],
  ])('%s is UNIMPLEMENTED by @grpc/grpc-js', async (_, path) => {
    const client = new Client(`127.0.0.1:${port.port}`, credentials.createInsecure());
    const error = await new Promise<ServiceError | null>((resolve) => {
      client.makeUnaryRequest(
        path,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        Buffer.alloc(0),
        { deadline: Date.now() + 10_000 },
        resolve,
      );
    });
    client.close();
    expect(error?.code).toBe(status.UNIMPLEMENTED);
    expect(error?.details).toBe('There is no such rpc.');
    expect(error?.metadata.get('grpc-status-details-bin')).toHaveLength(1);
  });

  it.each([
    ['an unknown rpc', '/spandrel.v1.TraceService/Nope', 'application/grpc', true],
    ['a message that is still being sent', '/no.such.Service/Nope', 'application/grpc', false],
    ['an unsupported content type', PATH, 'application/grpc+thrift', true],
  ])('%s is answered by trailers only', async (_, path, type, end) => {
    const session = connectHttp2(port.address);
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type, te: 'trailers', ...GOOD });
    stream.write(Buffer.alloc(5));
    if (end) stream.end();
    const [headers, flags] = await once(stream, 'response');
    expect(headers).toMatchObject({ ':status': 200, 'grpc-status': '12', 'x-request-id': expect.any(String) });
    expect(flags & constants.NGHTTP2_FLAG_END_STREAM).toBeTruthy();
    stream.resume();
    await until(() => stream.closed, 'the stream is closed');
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    session.destroy();
  });
});

describe('a Connect call the router refuses', () => {
  it.each([{}, { 'connect-protocol-version': '1' }])('to an unknown rpc is unimplemented (%j)', async (version) => {
    for (const path of ['/spandrel.v1.TraceService/Nope', '/no.such.Service/Nope']) {
      const headers = { 'content-type': 'application/json', ...version, ...GOOD };
      const response = await fetch(port.address + path, { method: 'POST', body: '{}', headers });
      expect(response.status).toBe(404);
      const error = { code: 'unimplemented', message: 'There is no such rpc.' };
      expect(await response.json()).toMatchObject({ ...error, details: [{ type: 'google.rpc.ErrorInfo' }] });
      const options = await fetch(port.address + path, { method: 'OPTIONS', headers: version });
      expect(options.status).toBe(204);
    }
  });
});

describe('a deadline further away than timers reach', () => {
  const slow = () => new Promise<object>((resolve) => setTimeout(resolve, 100, {}));
  let patient: Port;
  beforeAll(async () => {
    patient = await startPort({ serve: slow });
  });
  afterAll(() => patient.drain(500));

  it.each(['2147483648', '9999999999'])('of Connect is not a deadline of now (%s ms)', async (timeout) => {
    const response = await fetch(patient.address + PATH, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', 'connect-timeout-ms': timeout, ...GOOD },
    });
    expect(await response.text()).toBe('{}');
    expect(response.status).toBe(200);
  });

  it.each(['99999999H', '2147484S', '99999999M'])('of gRPC-Web is not a deadline of now (%s)', async (timeout) => {
    const response = await fetch(patient.address + PATH, {
      method: 'POST',
      body: new Uint8Array(5),
      headers: { 'content-type': 'application/grpc-web+proto', 'grpc-timeout': timeout, ...GOOD },
    });
    expect(await response.text()).toContain('grpc-status: 0');
  });

  it('of gRPC in the library is not a deadline of now', async () => {
    const session = connectHttp2(patient.address);
    const stream = session.request({
      ':method': 'POST',
      ':path': PATH,
      'content-type': 'application/grpc+json',
      'grpc-timeout': '99999999H',
      te: 'trailers',
      ...GOOD,
    });
    stream.end(Buffer.from('\0\0\0\0\x02{}', 'latin1'));
    const [trailers] = await once(stream.resume(), 'trailers', { signal: AbortSignal.timeout(5_000) });
    expect(trailers['grpc-status']).toBe('0');
    session.destroy();
  });

  it.each([
    ['connect-timeout-ms', '12345678901', 'application/json'],
    ['connect-timeout-ms', '-1', 'application/json'],
    ['grpc-timeout', '999999999S', 'application/grpc-web+proto'],
  ])('in more digits than the protocol has is still refused (%s: %s)', async (name, timeout, type) => {
    const response = await fetch(patient.address + PATH, {
      method: 'POST',
      body: type === 'application/json' ? '{}' : new Uint8Array(5),
      headers: { 'content-type': type, [name]: timeout, ...GOOD },
    });
    const text = await response.text();
    expect(`${response.headers.get('grpc-status')} ${text}`).toMatch(/invalid_argument|^3 |grpc-status: 3/);
  });
});

describe('OPTIONS on an rpc path', () => {
  it('lists the methods of the path', async () => {
    const answer = await fetch(port.address + PATH, { method: 'OPTIONS' });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('allow')).toBe('POST, GET, OPTIONS');
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
    expect(answer.headers.get('traceparent')).toMatch(/^00-/);
    expect(await answer.text()).toBe('');
  });

  it('does so over HTTP/2 as well', async () => {
    const session = connectHttp2(port.address);
    const stream = session.request({ ':method': 'OPTIONS', ':path': PATH });
    const [headers] = await once(stream, 'response');
    expect(headers).toMatchObject({ ':status': 204, allow: 'POST, GET, OPTIONS' });
    session.destroy();
  });
});
