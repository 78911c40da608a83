/** Sends exports of spans over every transport. */

import { create, fromBinary, type MessageInitShape, toBinary, toJson } from '@bufbuild/protobuf';
import { Client, compressionAlgorithms, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { StatusSchema } from '../../gen/google/rpc/status_pb.js';
import {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import type { AnyValueSchema, KeyValueSchema } from '../../gen/opentelemetry/proto/common/v1/common_pb.js';
import type { SpanSchema } from '../../gen/opentelemetry/proto/trace/v1/trace_pb.js';
import type { TestApp } from '../support/app.ts';
import { fetchChecked } from '../support/openapi/fetch-checked.ts';
import { callRest } from '../support/surfaces.ts';

export type ExportInit = MessageInitShape<typeof ExportTraceServiceRequestSchema>;
export type SpanInit = MessageInitShape<typeof SpanSchema>;
export type Value =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | readonly Value[]
  | { readonly [key: string]: Value };

/** Attributes in wire form. */
export function attributes(of: { readonly [key: string]: Value }): MessageInitShape<typeof KeyValueSchema>[] {
  return Object.entries(of).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: Value): MessageInitShape<typeof AnyValueSchema> {
  if (typeof value === 'string') return { value: { case: 'stringValue', value } };
  if (typeof value === 'boolean') return { value: { case: 'boolValue', value } };
  if (typeof value === 'bigint') return { value: { case: 'intValue', value } };
  if (value instanceof Uint8Array) return { value: { case: 'bytesValue', value } };
  if (typeof value === 'number') {
    return Number.isInteger(value)
      ? { value: { case: 'intValue', value: BigInt(value) } }
      : { value: { case: 'doubleValue', value } };
  }
  if (Array.isArray(value)) return { value: { case: 'arrayValue', value: { values: value.map(anyValue) } } };
  return { value: { case: 'kvlistValue', value: { values: attributes(value as { [key: string]: Value }) } } };
}

export function id(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

export function exportOf(spans: readonly SpanInit[], resource: { readonly [key: string]: Value } = {}): ExportInit {
  const scope = { name: 'tests', version: '1.0.0' };
  return {
    resourceSpans: [{ resource: { attributes: attributes(resource) }, scopeSpans: [{ scope, spans: [...spans] }] }],
  };
}

export function toProtobuf(init: ExportInit): Buffer {
  return Buffer.from(toBinary(ExportTraceServiceRequestSchema, create(ExportTraceServiceRequestSchema, init)));
}

/** OTLP JSON: the JSON of protobuf with ids in hex. */
export function toOtlpJson(init: ExportInit): string {
  const json = toJson(ExportTraceServiceRequestSchema, create(ExportTraceServiceRequestSchema, init));
  return JSON.stringify(json, (key, value) =>
    /^(trace|span|parentSpan)Id$/.test(key) ? Buffer.from(value, 'base64').toString('hex').toUpperCase() : value,
  );
}

export type Headers = { readonly [name: string]: string };
export type Posted = {
  readonly status: number;
  readonly mediaType: string;
  readonly headers: globalThis.Headers;
  readonly body: Buffer;
};

export async function post(app: TestApp, path: string, body: Uint8Array | string, headers: Headers): Promise<Posted> {
  const sent = { method: 'POST', headers: { 'x-auth-token': app.projectKey, ...headers }, body };
  const response = await fetchChecked(app.address, path, sent);
  const mediaType = response.headers.get('content-type') ?? '';
  return {
    status: response.status,
    mediaType,
    headers: response.headers,
    body: Buffer.from(await response.arrayBuffer()),
  };
}

export const PROTOBUF: Headers = { 'content-type': 'application/x-protobuf' };
export const JSON_TYPE: Headers = { 'content-type': 'application/json' };

/** The result of an export, independent of the encoding. */
export type Report = { readonly rejectedSpans: number; readonly errorMessage: string };

export type Surface = 'protobuf' | 'JSON' | 'gRPC' | 'gRPC with gzip';
export const SURFACES: readonly Surface[] = ['protobuf', 'JSON', 'gRPC', 'gRPC with gzip'];

/** Throws an error with the gRPC status as its code, unless it succeeds. */
export async function send(app: TestApp, surface: Surface, init: ExportInit, key = app.projectKey): Promise<Report> {
  const auth = { 'x-auth-token': key };
  if (surface === 'JSON') {
    const { status, body } = await post(app, '/api/otel/v1/traces', toOtlpJson(init), { ...JSON_TYPE, ...auth });
    const read = JSON.parse(body.toString());
    if (status !== 200) throw Object.assign(new Error(read.message), { code: read.code, status });
    return read.partialSuccess ?? { rejectedSpans: 0, errorMessage: '' };
  }
  if (surface === 'protobuf') {
    const { status, body } = await post(app, '/v1/traces', toProtobuf(init), { ...PROTOBUF, ...auth });
    if (status !== 200) {
      const { code, message } = fromBinary(StatusSchema, body);
      throw Object.assign(new Error(message), { code, status });
    }
    return reportIn(body);
  }
  return reportIn(
    await callGrpc(app, { service: 'trace.v1.TraceService', body: toProtobuf(init), key, gzip: surface !== 'gRPC' }),
  );
}

function reportIn(bytes: Uint8Array): Report {
  const { partialSuccess } = fromBinary(ExportTraceServiceResponseSchema, bytes);
  const { rejectedSpans = 0n, errorMessage = '' } = partialSuccess ?? {};
  return { rejectedSpans: Number(rejectedSpans), errorMessage };
}

type GrpcCall = { readonly service: string; readonly body: Buffer; readonly key: string; readonly gzip?: boolean };

/** Rejects with a ServiceError. */
export async function callGrpc(app: TestApp, { service, body, key, gzip = false }: GrpcCall): Promise<Buffer> {
  const algorithm = gzip ? compressionAlgorithms.gzip : compressionAlgorithms.identity;
  const client = new Client(new URL(app.address).host, credentials.createInsecure(), {
    'grpc.default_compression_algorithm': algorithm,
  });
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key}`);
  const pass = (value: Buffer) => value;
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      const deadline = Date.now() + 20_000;
      const done = (error: ServiceError | null, value?: Buffer) => (error ? reject(error) : resolve(value as Buffer));
      const path = `/opentelemetry.proto.collector.${service}/Export`;
      client.makeUnaryRequest(path, pass, pass, body, metadata, { deadline }, done);
    });
  } finally {
    client.close();
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads arbitrary JSON.
export async function readTrace(app: TestApp, traceId: string): Promise<any> {
  const { body } = await callRest(app.address, {
    path: `/api/traces/${traceId}`,
    headers: { 'x-auth-token': app.projectKey },
  });
  return body;
}
