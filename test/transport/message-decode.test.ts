import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { create, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExportTraceServiceRequestSchema } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { AnyValueSchema } from '../../gen/opentelemetry/proto/common/v1/common_pb.js';
import { CollectTraceRequestSchema, SpanType } from '../../gen/spandrel/v1/traces_pb.js';
import { createCooperativeRunner } from '../../src/domain/steps.ts';
import { decodeMessage } from '../../src/transport/message-decode.ts';
import { startApp, type TestApp } from '../support/app.ts';

/** Decodes with a clock by which every step takes too long, so that it yields after each. */
function decodeSlowly(desc: DescMessage, bytes: Uint8Array) {
  let now = 0;
  let turns = 0;
  const runCooperatively = createCooperativeRunner({
    nowMs: () => {
      now += 100;
      return now;
    },
    yieldToEventLoop: async () => {
      turns += 1;
      await yieldToEventLoop();
    },
  });
  return Promise.resolve(decodeMessage(desc, bytes, runCooperatively)).then((message) => ({ message, turns }));
}

const text = (length: number) => fc.string({ maxLength: length });
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text(100).map((value) => ({ value: { case: 'stringValue' as const, value } })),
    fc.integer().map((value) => ({ value: { case: 'intValue' as const, value: BigInt(value) } })),
    fc.array(tie('value'), { maxLength: 3 }).map((values) => ({
      value: { case: 'arrayValue' as const, value: { values } },
    })),
  ),
})).value;

describe('a large message', () => {
  it('decodes to the same message as in one step, with any large field', async () => {
    const span = fc.record({
      name: text(50),
      attributes: fc.array(fc.record({ key: text(20), value: anyValue }), { maxLength: 5 }),
    });
    const request = fc.record({
      spans: fc.array(span, { minLength: 1, maxLength: 20 }),
      copies: fc.integer({ min: 1, max: 400 }),
      largeText: fc.boolean(),
      largeList: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ spans, copies, largeText, largeList }) => {
        const filled = Array.from({ length: copies }, () => spans).flat();
        const large = [
          ...(largeText ? [{ name: 'x'.repeat(200_000) }] : []),
          ...(largeList ? [{ attributes: [{ key: 'list', value: listOf(30_000) }] }] : []),
        ];
        const bytes = toBinary(
          ExportTraceServiceRequestSchema,
          create(ExportTraceServiceRequestSchema, {
            resourceSpans: [
              { resource: { attributes: [{ key: 'a', value: listOf(1) }] }, scopeSpans: [{ spans: filled as never }] },
              { scopeSpans: [{ spans: large }, { scope: { name: 'two' }, spans: filled as never }] },
            ],
          }),
        );
        const { message } = await decodeSlowly(ExportTraceServiceRequestSchema, bytes);
        expect(toBinary(ExportTraceServiceRequestSchema, message as never)).toEqual(bytes);
      }),
      { numRuns: 15 },
    );
  });

  it('merges what comes in parts', async () => {
    const part = (value: string) => ({ values: [{ value: { case: 'stringValue' as const, value } }] });
    const one = toBinary(
      AnyValueSchema,
      create(AnyValueSchema, { value: { case: 'arrayValue', value: part('x'.repeat(100_000)) } }),
    );
    const twice = Buffer.concat([one, one]);
    const { message } = await decodeSlowly(AnyValueSchema, twice);
    expect(message).toEqual(fromBinary(AnyValueSchema, twice));
  });

  it('gives others their turns', async () => {
    const spans = Array.from({ length: 5_000 }, () => ({ name: 'x'.repeat(100) }));
    const request = create(ExportTraceServiceRequestSchema, { resourceSpans: [{ scopeSpans: [{ spans }] }] });
    const { turns } = await decodeSlowly(
      ExportTraceServiceRequestSchema,
      toBinary(ExportTraceServiceRequestSchema, request),
    );
    expect(turns).toBeGreaterThanOrEqual(7);
  });

  it('is refused where it is broken', async () => {
    const bytes = Buffer.alloc(100_000, 0xff);
    await expect(decodeSlowly(ExportTraceServiceRequestSchema, bytes)).rejects.toMatchObject({
      code: 'malformed_request',
    });
    const cut = toBinary(AnyValueSchema, create(AnyValueSchema, listOf(60_000))).subarray(0, 100_000);
    await expect(decodeSlowly(AnyValueSchema, cut)).rejects.toMatchObject({ code: 'malformed_request' });
  });
});

function listOf(count: number) {
  const values = Array.from({ length: count }, (_, index) => ({
    value: { case: 'intValue' as const, value: BigInt(index) },
  }));
  return { value: { case: 'arrayValue' as const, value: { values } } };
}

describe('a call with a large message', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  function bytesOf(traceId: string): Uint8Array {
    const instant = { seconds: 1_700_000_000n, nanos: 0 };
    const spans = Array.from({ length: 2_000 }, (_, index) => ({
      spanId: `span-${index}`,
      type: SpanType.SPAN,
      name: 'x'.repeat(100),
      timestamps: { startedAt: instant, finishedAt: instant },
    }));
    return toBinary(CollectTraceRequestSchema, create(CollectTraceRequestSchema, { traceId, spans }));
  }

  const envelope = (bytes: Uint8Array, isPacked = false) => {
    const frame = Buffer.concat([Buffer.alloc(5), bytes]);
    frame[0] = isPacked ? 1 : 0;
    frame.writeUInt32BE(bytes.length, 1);
    return frame;
  };

  it.each([
    ['Connect', 'application/proto', (bytes: Uint8Array) => Buffer.from(bytes), {}],
    ['Connect, compressed', 'application/proto', gzipSync, { 'content-encoding': 'gzip' }],
    ['gRPC-Web', 'application/grpc-web+proto', envelope, {}],
    [
      'gRPC-Web, compressed',
      'application/grpc-web+proto',
      (bytes: Uint8Array) => envelope(gzipSync(bytes), true),
      { 'grpc-encoding': 'gzip' },
    ],
  ])('stores all of it over %s', async (name, type, pack, encoding) => {
    const traceId = `large-${name.replaceAll(/\W/g, '')}`;
    const headers = { 'content-type': type, 'x-auth-token': app.projectKey, ...encoding };
    const answer = await fetch(`${app.address}/spandrel.v1.TraceService/CollectTrace`, {
      method: 'POST',
      headers,
      body: pack(bytesOf(traceId)),
    });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    const read = await fetch(`${app.address}/api/traces/${traceId}`, { headers: { 'x-auth-token': app.projectKey } });
    expect(await read.json()).toMatchObject({ span_count: 2_000 });
  });
});
