import { readdirSync, readFileSync } from 'node:fs';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ExportTraceServiceRequestSchema } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { runWithoutPauses } from '../../src/domain/steps.ts';
import { collectBatch } from '../../src/domain/traces/collector/collector.ts';
import { toBatchDraft } from '../../src/domain/traces/otlp/batch.ts';
import { readJsonExport } from '../../src/domain/traces/otlp/json-export.ts';
import type { OtlpExport, OtlpSpan } from '../../src/domain/traces/otlp/span.ts';
import { parseJson, scanJson } from '../../src/json/json-text.ts';
import { readWireExport } from '../../src/rpc/traces/otlp-wire.ts';
import { LIMITS, NO_LOSSES, PROJECT, pricing } from '../domain/traces/collector/collecting.ts';
import { attributes, type ExportInit, exportOf, id, toOtlpJson, toProtobuf } from './sending.ts';

function readProtobuf(bytes: Uint8Array): OtlpExport {
  return runWithoutPauses(readWireExport(bytes, LIMITS.spansMax));
}

function readJson(text: string): OtlpExport {
  const bytes = Buffer.from(text);
  const facts = scanJson(bytes);
  return runWithoutPauses(readJsonExport(parseJson(bytes, facts, 'values'), facts, LIMITS.spansMax));
}

function onlySpan({ spans }: OtlpExport): OtlpSpan {
  return spans[0] as OtlpSpan;
}

/** The one span of a request in JSON. */
function spanOf(members: string): OtlpSpan {
  const ids = '"traceId":"0123456789ABCDEF0123456789abcdef","spanId":"0123456789ABCDEF"';
  return onlySpan(
    readJson(`{"resourceSpans":[{"scopeSpans":[{"spans":[{${ids}${members === '' ? '' : `,${members}`}}]}]}]}`),
  );
}

const VALUES: ExportInit = exportOf(
  [
    {
      traceId: id('0123456789abcdef0123456789abcdef'),
      spanId: id('0123456789abcdef'),
      parentSpanId: id('00000000000000ff'),
      name: 'every kind of value',
      kind: 4,
      traceState: 'a=b',
      startTimeUnixNano: 1_790_000_000_123_456_789n,
      endTimeUnixNano: 1_790_000_001_000_000_000n,
      attributes: attributes({
        text: 'é\u0000😀',
        empty: '',
        zero: 0,
        no: false,
        whole: 9_007_199_254_740_991n,
        beyond: 9_007_199_254_740_993n,
        negative: -9_223_372_036_854_775_808n,
        real: 0.5,
        bytes: new Uint8Array([0, 255, 1]),
        list: ['a', 1, [true]],
        object: { a: { b: 'c' } },
        'langwatch.reserved.x': 'dropped',
      }),
      events: [{ name: 'e', timeUnixNano: 5n, attributes: attributes({ a: 1 }) }],
      links: [
        { traceId: id('ff'.repeat(16)), spanId: id('ee'.repeat(8)), traceState: 's', attributes: attributes({ b: 2 }) },
      ],
      status: { code: 2, message: 'm' },
    },
  ],
  { 'service.name': 's' },
);

describe('both encodings', () => {
  it('are read into the same spans, with every kind of value as it was', () => {
    const { spans } = readProtobuf(toProtobuf(VALUES));
    expect(readJson(toOtlpJson(VALUES)).spans).toEqual(spans);
    expect(spans).toEqual([
      {
        traceId: '0123456789abcdef0123456789abcdef',
        spanId: '0123456789abcdef',
        parentId: '00000000000000ff',
        name: 'every kind of value',
        kind: 4,
        startNano: 1_790_000_000_123_456_789n,
        endNano: 1_790_000_001_000_000_000n,
        attributes: new Map<string, unknown>([
          ['text', 'é\u0000😀'],
          ['empty', ''],
          ['zero', 0],
          ['no', false],
          ['whole', 9_007_199_254_740_991],
          ['beyond', '9007199254740993'],
          ['negative', '-9223372036854775808'],
          ['real', 0.5],
          ['bytes', 'AP8B'],
          ['list', ['a', 1, [true]]],
          ['object', { a: { b: 'c' } }],
        ]),
        events: [{ name: 'e', timeNano: 5n, attributes: new Map([['a', 1]]) }],
        links: [{ traceId: 'ff'.repeat(16), spanId: 'ee'.repeat(8), traceState: 's', attributes: new Map([['b', 2]]) }],
        status: { code: 2, message: 'm' },
        scope: { name: 'tests', version: '1.0.0' },
        resource: new Map([['service.name', 's']]),
      },
    ]);
  });

  it('what is not sent takes the default of its field', () => {
    const bare = exportOf([{ traceId: id('01'.repeat(16)), spanId: id('01'.repeat(8)) }]);
    const expected = {
      parentId: undefined,
      name: '',
      kind: 0,
      startNano: 0n,
      endNano: 0n,
      status: { code: 0, message: '' },
    };
    expect(onlySpan(readProtobuf(toProtobuf(bare)))).toMatchObject(expected);
    expect(spanOf('')).toMatchObject(expected);
    expect(spanOf('"events":null,"attributes":null,"status":null,"unknown":{"a":[1]}')).toMatchObject(expected);
  });
});

describe('JSON', () => {
  it.each([
    ['"1790000000123456789"', 1_790_000_000_123_456_789n],
    ['1790000000123456789', 1_790_000_000_123_456_789n],
    ['1.79e18', 1_790_000_000_000_000_000n],
    ['{"low":-1,"high":1}', 8_589_934_591n],
    ['{"low":5,"high":0}', 5n],
    ['null', 0n],
  ])('an instant may be %s', (spelled, expected) => {
    expect(spanOf(`"startTimeUnixNano":${spelled}`).startNano).toBe(expected);
  });

  it.each([
    ['"SPAN_KIND_CLIENT"', 3],
    ['3', 3],
    ['"SPAN_KIND_OF_LATER"', 0],
  ])('a kind may be %s', (spelled, expected) => {
    expect(spanOf(`"kind":${spelled}`).kind).toBe(expected);
  });

  it('a status may be given by its name', () => {
    expect(spanOf('"status":{"code":"STATUS_CODE_ERROR"}').status.code).toBe(2);
  });

  it.each([
    ['{"intValue":"42"}', 42],
    ['{"intValue":9007199254740993}', '9007199254740993'],
    ['{"doubleValue":"NaN"}', 'NaN'],
    ['{"doubleValue":2}', 2],
    ['{"boolValue":false}', false],
    ['{"kvlistValue":{"values":[{"key":"__proto__","value":{"intValue":1}}]}}', JSON.parse('{"__proto__":1}')],
    ['{}', null],
  ])('a value may be %s', (spelled, expected) => {
    expect(spanOf(`"attributes":[{"key":"k","value":${spelled}}]`).attributes.get('k')).toEqual(expected);
  });
});

/** Collects a recording of all requests of a client. */
function collected(file: string) {
  const bytes = readFileSync(new URL(`./recorded/${file}`, import.meta.url));
  const read = file.endsWith('.json') ? readJson(bytes.toString()) : readProtobuf(bytes);
  // Later than every recording.
  const at = { project: PROJECT, nowMs: Date.UTC(2100, 0, 1), expiredBeforeMs: null };
  return runWithoutPauses(
    collectBatch(runWithoutPauses(toBatchDraft(read)), at, { limits: LIMITS, prices: pricing, losses: NO_LOSSES }),
  );
}

describe('recorded requests of published clients', () => {
  const files = readdirSync(new URL('./recorded/', import.meta.url)).filter((file) => !file.includes('-logs.'));

  it('are those of six clients', () => {
    expect(files.length).toBeGreaterThanOrEqual(6);
  });

  it.each(files)('%s: nothing of it is refused, and every call of a model has its model', (file) => {
    for (const { collected: trace, isStorable } of collected(file)) {
      expect(isStorable).toBe(true);
      expect([trace.refusedSpans, trace.refusedEvaluations, trace.notes, trace.cuts]).toEqual([[], [], [], 0]);
      const calls = trace.append.spans.filter(({ type }) => type === 'llm');
      expect(calls.filter(({ model }) => model === null)).toEqual([]);
    }
  });

  it('the exporters of OpenTelemetry say the same in every encoding', () => {
    const seen = ['opentelemetry-json.json', 'opentelemetry-protobuf.bin', 'opentelemetry-grpc.bin'].map((file) =>
      collected(file).flatMap(({ collected: { append } }) =>
        append.spans.map(({ name, type, model, inputJson, outputJson, promptTokens, costNanoUsd, errorJson }) => [
          [name, type, model, inputJson, outputJson],
          [promptTokens, costNanoUsd, errorJson, append.metadataJson],
        ]),
      ),
    );
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
    expect(seen[0]).toHaveLength(3);
  });

  it('nothing of the protobuf is unknown to our declaration of it', () => {
    for (const file of files.filter((name) => name.endsWith('.bin'))) {
      const bytes = readFileSync(new URL(`./recorded/${file}`, import.meta.url));
      const [all, known] = [true, false].map((readUnknownFields) =>
        toBinary(
          ExportTraceServiceRequestSchema,
          fromBinary(ExportTraceServiceRequestSchema, bytes, { readUnknownFields }),
        ),
      );
      expect(known).toEqual(all);
    }
  });
});
