import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { drawSeed, inParallel, report } from '../support/scenario.ts';
import {
  attributes,
  callGrpc,
  exportOf,
  id,
  JSON_TYPE,
  PROTOBUF,
  post,
  type SpanInit,
  send,
  toOtlpJson,
  toProtobuf,
} from './sending.ts';

const TRACES = '/v1/traces';
const BOMB_BYTES = 64 * 1024 * 1024;
const GROWTH_MAX_BYTES = 64 * 1024 * 1024;
const BOMBS = 50;
const RUNS = 100_000;
const SERVICE = 'trace.v1.TraceService';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

function spanNow(changes: SpanInit = {}): SpanInit {
  return { traceId: id(hex(32)), spanId: id(hex(16)), startTimeUnixNano: BigInt(Date.now()) * 1_000_000n, ...changes };
}

describe('X1: decompression bombs', () => {
  it('are refused on every way of OTLP, and take no memory', async () => {
    const zeros = Buffer.alloc(BOMB_BYTES);
    const packed = [
      ['gzip', gzipSync(zeros)],
      ['br', brotliCompressSync(zeros, { params: { 1: 5 } })],
      ['deflate', deflateSync(zeros)],
    ] as const;
    // Warms up decoders and the router for compressed messages.
    await send(app, 'gRPC with gzip', exportOf([spanNow()]));
    await post(app, TRACES, gzipSync(toProtobuf(exportOf([spanNow()]))), { ...PROTOBUF, 'content-encoding': 'gzip' });
    const before = process.memoryUsage().rss;
    const bombs = Array.from({ length: BOMBS }, (_, index) => packed[index % packed.length] ?? packed[0]);
    const statuses = await Promise.all(
      bombs.map(async ([encoding, body], index) => {
        const headers = { ...(index % 2 === 0 ? PROTOBUF : JSON_TYPE), 'content-encoding': encoding };
        return (await post(app, TRACES, body, headers)).status;
      }),
    );
    expect(statuses.filter((status) => status !== 413 && status !== 503)).toEqual([]);
    expect(statuses).toContain(413);
    await expect(
      callGrpc(app, { service: SERVICE, body: zeros, key: app.projectKey, gzip: true }),
    ).rejects.toMatchObject({ code: 8 });
    // The gRPC client in this process also holds the bomb, unpacked and packed.
    expect(process.memoryUsage().rss - before).toBeLessThan(GROWTH_MAX_BYTES + 2 * BOMB_BYTES);
    expect(await send(app, 'protobuf', exportOf([spanNow()]))).toEqual({ rejectedSpans: 0, errorMessage: '' });
  });
});

describe('as much as an exporter sends at once', () => {
  it('is taken: the 8,192 spans of a batch of the OpenTelemetry Collector, with 23 attributes each', async () => {
    const own = attributes(
      Object.fromEntries(Array.from({ length: 23 }, (_, index) => [`app.attribute.${index}`, 'value'])),
    );
    const spans = Array.from({ length: 8_192 }, () => spanNow({ name: 'step', attributes: own, flags: 1 }));
    const body = exportOf(spans);
    expect(toProtobuf(body).length).toBeLessThan(10 * 1024 * 1024);
    for (const surface of ['protobuf', 'gRPC'] as const) {
      expect([surface, await send(app, surface, body)]).toEqual([surface, { rejectedSpans: 0, errorMessage: '' }]);
    }
  });
});

describe('what no exporter sends', () => {
  it('a resource, a span and a value of too many members cost only the spans they are of', async () => {
    const wide = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`k${index}`, 1]));
    const good = exportOf([spanNow()]).resourceSpans ?? [];
    const bad = [
      ...(exportOf([spanNow()], wide).resourceSpans ?? []),
      ...(exportOf([spanNow({ attributes: attributes(wide) }), spanNow({ attributes: attributes({ wide }) })])
        .resourceSpans ?? []),
    ];
    for (const surface of ['protobuf', 'JSON', 'gRPC'] as const) {
      const { rejectedSpans, errorMessage } = await send(app, surface, { resourceSpans: [...good, ...bad] });
      expect([surface, rejectedSpans]).toEqual([surface, 3]);
      expect(errorMessage).toMatch(/^spans\[1\]: must not hold an object of more than 10000 members; spans\[2\]/);
    }
  });

  it('values that nest too deep are reported or refused, and never fail the server', async () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const nested = (levels: number): unknown =>
      levels === 0 ? { intValue: 1 } : { arrayValue: { values: [nested(levels - 1)] } };
    const text = exportOf([spanNow({ attributes: attributes({ 'input.value': deep(100_000) }) })]);
    expect(await send(app, 'protobuf', text)).toEqual({ rejectedSpans: 0, errorMessage: '' });
    for (const levels of [20, 35, 60, 1000]) {
      const span = { traceId: hex(32), spanId: hex(16), startTimeUnixNano: `${Date.now()}000000` };
      const body = {
        resourceSpans: [{ scopeSpans: [{ spans: [{ ...span, attributes: [{ key: 'k', value: nested(levels) }] }] }] }],
      };
      const { status } = await post(app, TRACES, JSON.stringify(body), JSON_TYPE);
      expect([levels, status < 500]).toEqual([levels, true]);
    }
  });

  it('X4: fuzzed requests are answered, and none of them with a failure of the server', async () => {
    const seed = drawSeed();
    const valid = exportOf([
      spanNow({
        attributes: attributes({ 'input.value': '{"a":1}', 'gen_ai.usage.input_tokens': 5, list: ['a', { b: 1 }] }),
      }),
      spanNow({
        events: [{ name: 'exception', attributes: attributes({ 'exception.message': 'x' }) }],
        status: { code: 2 },
      }),
    ]);
    const [protobuf, json] = [toProtobuf(valid), Buffer.from(toOtlpJson(valid))];
    const change = fc.record({
      at: fc.nat(),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
      cut: fc.nat({ max: 4 }),
    });
    const request = fc.record({
      isJson: fc.boolean(),
      isDeclared: fc.boolean(),
      changes: fc.array(change, { maxLength: 4 }),
      isGrpc: fc.nat({ max: 9 }).map((draw) => draw === 0),
    });
    const seen = new Map<number, number>();
    await inParallel(
      fc.sample(request, { numRuns: RUNS, seed }),
      16,
      async ({ isJson, isDeclared, changes, isGrpc }) => {
        let body = isJson ? json : protobuf;
        for (const { at, bytes, cut } of changes) {
          const offset = at % body.length;
          body = Buffer.concat([
            body.subarray(0, offset),
            bytes,
            body.subarray(offset + bytes.length - Math.min(cut, bytes.length)),
          ]);
        }
        if (isGrpc && !isJson) {
          const code = await callGrpc(app, { service: SERVICE, body, key: app.projectKey }).then(
            () => 0,
            (error: { code: number }) => error.code,
          );
          expect([0, 3, 8]).toContain(code);
          return;
        }
        const { status } = await post(app, TRACES, body, isDeclared ? (isJson ? JSON_TYPE : PROTOBUF) : {});
        seen.set(status, (seen.get(status) ?? 0) + 1);
      },
    );
    expect([...seen.keys()].filter((status) => status !== 200 && status !== 400)).toEqual([]);
    // Some must be readable, and some not.
    expect(seen.get(200)).toBeGreaterThan(0);
    expect(seen.get(400)).toBeGreaterThan(0);
    report({ id: 'X4-otlp', seed, n: RUNS, pass: true });
  });
});
