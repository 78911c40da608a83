/** Sends one request over REST and over gRPC and checks both answers by the same expectation. */

import {
  create,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  getOption,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { expect } from 'vitest';
import { policy } from '../../gen/spandrel/v1/options_pb.js';
import { compileEncoder } from '../../src/transport/rest/encode.ts';
import { readStatus } from './error-info.ts';
import { checkExchange } from './openapi/exchange.ts';

export type RestCase = {
  readonly verb?: string;
  readonly path: string;
  /** A string is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Headers;
};

type Headers = { readonly [name: string]: string };

/** Tests check only the first message of a stream. */
export type Callable = DescMethodUnary | DescMethodServerStreaming;

export type SurfaceCase<M extends Callable = Callable> = {
  readonly name: string;
  readonly headers: Headers;
  readonly rest: RestCase;
  readonly rpc: { readonly method: M; readonly request: MessageInitShape<M['input']> };
  readonly status: number;
  /** The error code; undefined for success. */
  readonly code?: string;
  /** Receives the body as REST writes it, for both protocols. */
  readonly check?: (body: Body) => void;
};

// biome-ignore lint/suspicious/noExplicitAny: a test reads arbitrary JSON.
export type Body = any;

export type Answer = {
  readonly status: number;
  readonly body: Body;
  readonly headers: globalThis.Headers;
  readonly text: string;
};

/** Sends a REST request. */
export async function callRest(address: string, { verb = 'GET', path, body, headers = {} }: RestCase): Promise<Answer> {
  const sent: { body?: string } =
    body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const typed: Headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(address + path, { method: verb, headers: { ...typed, ...headers }, ...sent });
  const text = await readText(response);
  const { status, headers: received } = response;
  checkExchange({ verb, path, body: sent.body, status, headers: received, text });
  return { status, body: bodyOf(received, text), headers: received, text };
}

/** Reads only the first chunk of an endless event stream. */
async function readText(response: Response): Promise<string> {
  if (!isEvents(response.headers)) return await response.text();
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return Buffer.from(first?.value ?? new Uint8Array()).toString();
}

function isEvents(headers: globalThis.Headers): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Parses the body, or its first line. */
function bodyOf(headers: globalThis.Headers, text: string): Body {
  if (text === '' || isEvents(headers)) return null;
  return JSON.parse(headers.get('content-type') === 'application/x-ndjson' ? (text.split('\n', 1)[0] ?? '') : text);
}

export type RpcAnswer =
  | { readonly ok: true; readonly body: Body; readonly metadata: Metadata }
  | {
      readonly ok: false;
      readonly error: ServiceError;
      readonly code: string;
      readonly type: string;
      readonly meta: unknown;
    };

const kept = new Map<string, Client>();

/** Calls to this address share one connection until the returned function is called. */
export function keepConnection(address: string): () => void {
  const client = connect(address);
  kept.set(address, client);
  return () => {
    kept.delete(address);
    client.close();
  };
}

function connect(address: string): Client {
  return new Client(new URL(address).host, credentials.createInsecure(), {
    // Answers may exceed the client's default limit.
    'grpc.max_receive_message_length': -1,
  });
}

/** Calls by @grpc/grpc-js; returns the answer as REST would write it. */
export async function callRpc<M extends Callable>(
  address: string,
  { method, request, headers }: { method: M; request: MessageInitShape<M['input']>; headers: Headers },
): Promise<RpcAnswer> {
  const client = kept.get(address) ?? connect(address);
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  let initial = new Metadata();
  try {
    const message = await new Promise<Uint8Array | null>((resolve, reject) => {
      const path = `/${method.parent.typeName}/${method.name}`;
      const bytes = Buffer.from(toBinary(method.input, create(method.input, request)));
      const options = { deadline: Date.now() + 20_000 };
      const onMetadata = (received: Metadata) => {
        initial = received;
      };
      if (method.methodKind === 'server_streaming') {
        const stream = client.makeServerStreamRequest(path, asItIs, asItIs, bytes, metadata, options);
        stream
          .on('metadata', onMetadata)
          .on('error', reject)
          .on('end', () => resolve(null));
        stream.once('data', (value: Buffer) => {
          resolve(value);
          stream.cancel();
        });
        return;
      }
      const call = client.makeUnaryRequest(path, asItIs, asItIs, bytes, metadata, options, (error, value) =>
        error ? reject(error) : resolve(value as Buffer),
      );
      call.on('metadata', onMetadata);
    });
    if (message === null) return { ok: true, body: null, metadata: initial };
    const encode = compileEncoder(method.output);
    return { ok: true, body: JSON.parse(encode(fromBinary(method.output, message))), metadata: initial };
  } catch (error) {
    return { ok: false, error: error as ServiceError, ...infoOf(error as ServiceError) };
  } finally {
    if (!kept.has(address)) client.close();
  }
}

function asItIs(value: Buffer): Buffer {
  return value;
}

function infoOf(error: ServiceError): { code: string; type: string; meta: unknown } {
  const [bytes] = error.metadata?.get('grpc-status-details-bin') ?? [];
  if (!(bytes instanceof Buffer)) return { code: '', type: '', meta: {} };
  const { info } = readStatus(bytes);
  return { code: info.code, type: info.type, meta: info.meta };
}

/** The gRPC status of an HTTP status and code. */
export function grpcStatus(status: number, code: string): number {
  if (status === 409) {
    if (/_(taken|already_exists)$/.test(code)) return 6;
    return code === 'idempotency_error' ? 10 : 9;
  }
  const table: { readonly [status: number]: number } = {
    400: 3,
    422: 3,
    401: 16,
    403: 7,
    404: 5,
    413: 8,
    429: 8,
    500: 13,
    503: 14,
  };
  const found = table[status];
  if (found === undefined) throw new Error(`no gRPC status for ${status}`);
  return found;
}

/** Sends the case over REST and gRPC and checks both answers. */
export async function expectEverywhere(address: string, each: SurfaceCase): Promise<void> {
  const rest = await callRest(address, { ...each.rest, headers: { ...each.headers, ...each.rest.headers } });
  expect(rest.status, `REST: ${rest.text}`).toBe(each.status);
  const rpc = await callRpc(address, { ...each.rpc, headers: each.headers });
  if (each.code === undefined) {
    if (!rpc.ok) throw new Error(`gRPC answered ${rpc.error.code}: ${rpc.error.details}`);
    each.check?.(rest.body);
    each.check?.(rpc.body);
    expect(rest.status).toBe(getOption(each.rpc.method, policy).successStatus);
    return;
  }
  const error = rest.body.error?.code === undefined ? rest.body : rest.body.error;
  expect(error.code).toBe(each.code);
  expect(typeof error.message).toBe('string');
  expect(error.trace_id).toMatch(/^[0-9a-f]{32}$/);
  if (rpc.ok) throw new Error(`gRPC succeeded: ${JSON.stringify(rpc.body)}`);
  expect(rpc.code).toBe(each.code);
  expect(rpc.error.code).toBe(grpcStatus(each.status, each.code));
  expect(rpc.error.details).toBe(error.message);
  each.check?.(rest.body);
}
