import { gzipSync } from 'node:zlib';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExportTraceServiceRequestSchema } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { CollectTraceRequestSchema } from '../../gen/spandrel/v1/traces_pb.js';
import { createPartCount, type PartCount } from '../../src/transport/message-scan.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { spentOn } from '../support/processor-time.ts';

const REFUSED = expect.objectContaining({ code: 'payload_too_large' });

const checkParts: PartCount['add'] = (desc, bytes) => createPartCount().add(desc, bytes);

/** Repeats an empty field with this number. */
function repeat(number: number, count: number): Buffer {
  return Buffer.alloc(count * 2, Buffer.from([(number << 3) | 2, 0]));
}

const spansNumber = CollectTraceRequestSchema.field.spans.number;

describe('a message of many parts', () => {
  it.each([
    ['empty spans', repeat(spansNumber, 400_001)],
    ['unknown fields', repeat(15, 400_001)],
    ['empty spans in the largest body', repeat(spansNumber, 5_242_880)],
  ])('is refused before it is decoded: %s', (_, bytes) => {
    const refusing = spentOn(() => expect(() => checkParts(CollectTraceRequestSchema, bytes)).toThrow(REFUSED));
    const decoding = spentOn(() => fromBinary(CollectTraceRequestSchema, repeat(spansNumber, 400_001)));
    expect(refusing).toBeLessThan(decoding);
  });

  it('is refused wherever in it they are', () => {
    const attributes = repeat(9, 400_001);
    const length = (bytes: number) => [
      (bytes & 0x7f) | 0x80,
      ((bytes >> 7) & 0x7f) | 0x80,
      ((bytes >> 14) & 0x7f) | 0x80,
      bytes >> 21,
    ];
    const inside = (number: number, content: Buffer) =>
      Buffer.concat([Buffer.from([(number << 3) | 2, ...length(content.length)]), content]);
    const bytes = inside(1, inside(2, inside(2, attributes)));
    expect(() => checkParts(ExportTraceServiceRequestSchema, bytes)).toThrow(REFUSED);
  });

  it('passes up to there, and what is broken is left to the decoder', () => {
    checkParts(CollectTraceRequestSchema, repeat(spansNumber, 400_000));
    checkParts(CollectTraceRequestSchema, Buffer.alloc(100_000, 0xff));
  });

  it('passes as an export of 8,000 spans of 20 attributes', () => {
    const attributes = Array.from({ length: 20 }, (_, index) => ({
      key: `key.${index}`,
      value: { value: { case: 'stringValue' as const, value: 'some value' } },
    }));
    const spans = Array.from({ length: 8_000 }, () => ({ name: 'chat', attributes }));
    const request = create(ExportTraceServiceRequestSchema, { resourceSpans: [{ scopeSpans: [{ spans }] }] });
    checkParts(ExportTraceServiceRequestSchema, toBinary(ExportTraceServiceRequestSchema, request));
  });
});

describe('a call with a message of many parts', () => {
  const path = '/spandrel.v1.TraceService/CollectTrace';
  const many = repeat(spansNumber, 400_001);
  const json = Buffer.from(`{"spans":[${'{},'.repeat(400_000)}{}]}`);
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  it.each([
    ['protobuf', many, {}],
    ['compressed protobuf', gzipSync(many), { 'content-encoding': 'gzip' }],
    ['JSON', json, {}],
    ['compressed JSON', gzipSync(json), { 'content-encoding': 'gzip' }],
  ])('is refused over Connect in %s', async (name, body, encoding) => {
    const type = name.includes('JSON') ? 'application/json' : 'application/proto';
    const headers = { 'content-type': type, 'x-auth-token': app.projectKey, ...encoding };
    const answer = await fetch(`${app.address}${path}`, { method: 'POST', headers, body });
    expect(await answer.json()).toMatchObject({
      code: 'resource_exhausted',
      message: expect.stringContaining('parts'),
    });
  });

  it('is refused over gRPC and by the paths of OpenTelemetry', async () => {
    const client = new Client(new URL(app.address).host, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set('x-auth-token', app.projectKey);
    const asIs = (bytes: Buffer) => bytes;
    const error = await new Promise((resolve) => {
      client.makeUnaryRequest(path, asIs, asIs, many, metadata, resolve);
    });
    client.close();
    expect(error).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: expect.stringContaining('parts') });
    const headers = { 'content-type': 'application/x-protobuf', 'x-auth-token': app.projectKey };
    const unknown = repeat(15, 800_001);
    const answer = await fetch(`${app.address}/v1/traces`, { method: 'POST', headers, body: unknown });
    expect(answer.status).toBe(413);
  });
});
