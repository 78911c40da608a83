import { request as httpRequest } from 'node:http';
import { createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyService } from '../../gen/spandrel/v1/keys_pb.js';
import { GOOD, type Port, startPort } from '../support/port.ts';
import { callRpc } from '../support/surfaces.ts';

/** Long enough for compression, and highly compressible. */
const LONG = 'x'.repeat(5_000);

let port: Port;
beforeAll(async () => {
  const headers = { 'x-idempotent-replay': 'true' };
  port = await startPort({ serve: () => ({ apiKey: { name: LONG } }), fallback: 'rest', headers });
});
afterAll(() => port.drain(500));

const transports: { readonly [name: string]: () => Transport } = {
  'connect over HTTP/1.1': () => createConnectTransport({ baseUrl: port.address, httpVersion: '1.1' }),
  'connect over HTTP/2': () => createConnectTransport({ baseUrl: port.address, httpVersion: '2' }),
  'gRPC-Web': () => createGrpcWebTransport({ baseUrl: port.address, httpVersion: '1.1' }),
  'gRPC the long way': () => createGrpcTransport({ baseUrl: port.address, useBinaryFormat: false }),
};

describe.each(Object.keys(transports))('%s', (name) => {
  const keys = () => createClient(ApiKeyService, transports[name]?.() as Transport);

  it('says in front that an answer was given before, and knows where the call came from', async () => {
    let headers = new Headers();
    const onHeader = (received: Headers) => {
      headers = received;
    };
    await keys().createApiKey({ name: 'a' }, { headers: GOOD, onHeader });
    expect(headers.get('x-idempotent-replay')).toBe('true');
    expect(port.lastCall()).toMatchObject({ transport: 'connect', remoteAddress: '127.0.0.1' });
  });
});

describe('REST', () => {
  it('says in front that an answer was given before, and knows where the call came from', async () => {
    const response = await fetch(`${port.address}/api/api-keys/key1`, { headers: GOOD });
    expect(response.headers.get('x-idempotent-replay')).toBe('true');
    expect(port.lastCall()).toMatchObject({ transport: 'rest', remoteAddress: '127.0.0.1' });
  });
});

describe('unary gRPC on the short path', () => {
  it('says in front that an answer was given before, and knows where the call came from', async () => {
    const method = ApiKeyService.method.createApiKey;
    const answer = await callRpc(port.address, { method, request: { name: 'a' }, headers: GOOD });
    if (!answer.ok) throw answer.error;
    expect(answer.metadata.get('x-idempotent-replay')).toEqual(['true']);
    expect(port.lastCall()).toMatchObject({ transport: 'grpc', remoteAddress: '127.0.0.1' });
  });
});

type Sent = { readonly verb: string; readonly path: string; readonly headers: { readonly [name: string]: string } };

/** Uses node:http, because client libraries would decompress the answer. */
function send({
  verb,
  path,
  headers,
}: Sent): Promise<{ readonly encoding: string | undefined; readonly bytes: number }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(port.address + path, { method: verb, headers: { ...GOOD, ...headers } }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => resolve({ encoding: response.headers['content-encoding'], bytes }));
    });
    request.on('error', reject);
    request.end(verb === 'GET' ? undefined : '{}');
  });
}

describe('an answer with a secret in it is not compressed', () => {
  const json = { 'content-type': 'application/json' };

  it('over REST', async () => {
    const accept = { 'accept-encoding': 'gzip' };
    expect((await send({ verb: 'GET', path: '/api/api-keys/key1', headers: accept })).encoding).toBe('gzip');
    const created = await send({ verb: 'POST', path: '/api/api-keys', headers: { ...json, ...accept } });
    expect(created.encoding).toBeUndefined();
    expect(created.bytes).toBeGreaterThan(LONG.length);
  });

  it('over Connect', async () => {
    const path = (name: string) => `/spandrel.v1.ApiKeyService/${name}`;
    const headers = { ...json, 'accept-encoding': 'gzip', 'connect-protocol-version': '1' };
    expect((await send({ verb: 'POST', path: path('GetApiKey'), headers })).encoding).toBe('gzip');
    const created = await send({ verb: 'POST', path: path('CreateApiKey'), headers });
    expect(created.encoding).toBeUndefined();
    expect(created.bytes).toBeGreaterThan(LONG.length);
  });

  it('over gRPC-Web, where one without is', async () => {
    const headers = {
      'content-type': 'application/grpc-web+proto',
      'grpc-accept-encoding': 'gzip',
      'x-grpc-web': '1',
    };
    const call = (name: string) =>
      new Promise<number>((resolve, reject) => {
        const path = `${port.address}/spandrel.v1.ApiKeyService/${name}`;
        const request = httpRequest(path, { method: 'POST', headers: { ...GOOD, ...headers } }, (response) => {
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
          });
          response.on('end', () => resolve(bytes));
        });
        request.on('error', reject);
        request.end(Buffer.alloc(5));
      });
    expect(await call('GetApiKey')).toBeLessThan(LONG.length);
    expect(await call('CreateApiKey')).toBeGreaterThan(LONG.length);
  });
});
