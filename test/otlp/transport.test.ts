import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RetryInfoSchema } from '../../gen/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../gen/google/rpc/status_pb.js';
import { unavailableFault } from '../../src/domain/fault.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { addKey, custom, hex } from '../support/fixtures.ts';
import { fetchChecked } from '../support/openapi/fetch-checked.ts';
import {
  attributes,
  callGrpc,
  type ExportInit,
  exportOf,
  id,
  JSON_TYPE,
  PROTOBUF,
  post,
  readTrace,
  SURFACES,
  send,
  toOtlpJson,
  toProtobuf,
} from './sending.ts';

const NOW = Date.now();
const TRACES = '/api/otel/v1/traces';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { SPANDREL_MAX_SPANS_PER_REQUEST: '100', SPANDREL_MAX_BODY_BYTES: '100000' } });
});
afterAll(() => app.close());

function oneSpan(traceId = hex(32), changes: object = {}): ExportInit {
  const nano = BigInt(NOW) * 1_000_000n;
  return exportOf([{ traceId: id(traceId), spanId: id(hex(16)), startTimeUnixNano: nano, ...changes }]);
}

const PATHS = ['/api/otel', '', '/api', '/api/collector', '/api/otel/v1/{signal}', '/v1/{signal}'];

describe('OTLP over HTTP', () => {
  it.each(PATHS)('is taken below %s, with and without a slash at the end', async (base) => {
    for (const end of ['', '/']) {
      const traceId = hex(32);
      const path = `${base.replace('{signal}', 'traces')}/v1/traces${end}`;
      const answer = await post(app, path, toProtobuf(oneSpan(traceId)), PROTOBUF);
      expect([answer.status, answer.mediaType, answer.body.length]).toEqual([200, 'application/x-protobuf', 0]);
      expect(await readTrace(app, traceId)).toMatchObject({ span_count: 1 });
    }
  });

  it('names members of a JSON request that it does not have, beside the spans that it stores', async () => {
    const traceId = hex(32);
    const whole = JSON.parse(toOtlpJson(oneSpan(traceId)).toString());
    const sendJson = async (body: object) => {
      const answer = await post(app, TRACES, Buffer.from(JSON.stringify(body)), JSON_TYPE);
      expect(answer.status).toBe(200);
      return JSON.parse(Buffer.from(answer.body).toString());
    };
    const note = 'resource_spans: is not a member of the request, which has resourceSpans';
    const partialSuccess = { rejectedSpans: 0, errorMessage: note };
    expect(await sendJson({ resource_spans: whole.resourceSpans })).toEqual({ partialSuccess });
    expect(await sendJson({ ...whole, resource_spans: [] })).toEqual({ partialSuccess });
    expect(await sendJson({ ...whole, resource_spans: null })).toEqual({});
    expect(await readTrace(app, traceId)).toMatchObject({ span_count: 1 });
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`m${index}`, 1]));
    const { errorMessage } = (await sendJson(many)).partialSuccess;
    expect(errorMessage).toMatch(/^m0: .*; m9: is not a member of the request, which has resourceSpans; and 2 more$/);
  });

  it.each(['logs', 'metrics'])('%s are counted, answered and not kept', async (signal) => {
    const counted = async () => {
      const text = await (await fetchChecked(app.address, '/metrics')).text();
      return Number(text.match(new RegExp(`spandrel_otlp_discarded_total\\{signal="${signal}"\\} (\\d+)`))?.[1]);
    };
    const [outer, inner] = signal === 'logs' ? ['Logs', 'logRecords'] : ['Metrics', 'metrics'];
    const json = JSON.stringify({
      [`resource${outer}`]: [{ [`scope${outer}`]: [{ [inner as string]: [{}, { body: {} }] }] }],
    });
    // resource_…, scope_… and two records, one of them with a field.
    const protobuf = Buffer.from([0x0a, 0x08, 0x12, 0x06, 0x12, 0x00, 0x12, 0x02, 0x08, 0x01]);
    const before = await counted();
    for (const base of PATHS) {
      const path = `${base.replace('{signal}', signal)}/v1/${signal}`;
      const [asJson, asProtobuf] = [await post(app, path, json, JSON_TYPE), await post(app, path, protobuf, PROTOBUF)];
      expect([asJson.status, asJson.body.toString()]).toEqual([200, '{}']);
      expect([asProtobuf.status, asProtobuf.body.length]).toEqual([200, 0]);
    }
    const service = `${signal}.v1.${outer}Service`;
    expect(await callGrpc(app, { service, body: protobuf, key: app.projectKey })).toHaveLength(0);
    await expect(callGrpc(app, { service, body: protobuf, key: 'sk-lw-wrong' })).rejects.toMatchObject({ code: 16 });
    expect((await counted()) - before).toBe(2 * (2 * PATHS.length + 1));
  });

  it.each([
    ['application/x-protobuf', 'protobuf'],
    ['application/protobuf; v=1', 'protobuf'],
    ['application/json; charset=utf-8; anything', 'json'],
    ['text/plain', 'json'],
    ['text/plain', 'protobuf'],
    ['', 'json'],
    ['', 'protobuf'],
  ])('a body of type %j is read as the %s that it is, and answered so', async (type, encoding) => {
    const init = oneSpan(undefined, { attributes: attributes({ 'gen_ai.usage.input_tokens': -1 }) });
    const body = encoding === 'json' ? Buffer.from(` \n${toOtlpJson(init)}`) : toProtobuf(init);
    const answer = await post(app, TRACES, body, { 'content-type': type });
    expect(answer.status).toBe(200);
    if (encoding === 'json') {
      expect(answer.mediaType).toMatch(/^application\/json/);
      expect(answer.body.toString()).toMatch(
        /^\{"partialSuccess":\{"rejectedSpans":0,"errorMessage":"spans\[0\]\.metrics/,
      );
    } else {
      expect(answer.mediaType).toBe('application/x-protobuf');
      expect(answer.body[0]).toBe(0x0a);
    }
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['identity', (bytes: Buffer) => bytes],
  ])('takes %s', async (encoding, pack) => {
    for (const [body, headers] of [
      [toProtobuf(oneSpan()), PROTOBUF],
      [Buffer.from(toOtlpJson(oneSpan())), JSON_TYPE],
    ] as const) {
      const answer = await post(app, TRACES, pack(body), { ...headers, 'content-encoding': encoding });
      expect([answer.status, answer.body.toString()]).toEqual([200, headers === JSON_TYPE ? '{}' : '']);
    }
  });

  it('an empty request is answered with success in its encoding', async () => {
    expect(await post(app, TRACES, '{}', JSON_TYPE)).toMatchObject({ status: 200, body: Buffer.from('{}') });
    expect(await post(app, TRACES, new Uint8Array(0), PROTOBUF)).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  });
});

describe('what is refused', () => {
  const tooLarge = Buffer.alloc(100_001, 0x20);
  const cases: readonly (readonly [
    name: string,
    expected: readonly [number, number],
    body: Buffer | string,
    headers: object,
  ])[] = [
    ['no credential', [401, 16], '{}', { 'x-auth-token': '' }],
    ['a wrong credential', [401, 16], '{}', { 'x-auth-token': 'sk-lw-wrong' }],
    ['an unknown content encoding', [415, 12], '{}', { 'content-encoding': 'zstd' }],
    ['a broken compression', [400, 3], '{}', { 'content-encoding': 'gzip' }],
    ['too many bytes', [413, 8], tooLarge, {}],
    ['too many bytes once unpacked', [413, 8], gzipSync(tooLarge), { 'content-encoding': 'gzip' }],
  ];
  it.each(cases)('%s', async (_, [status, code], body, headers) => {
    const sent = { 'x-auth-token': app.projectKey, ...headers };
    const asJson = await post(app, TRACES, body, { ...JSON_TYPE, ...sent });
    expect([asJson.status, JSON.parse(asJson.body.toString()).code]).toEqual([status, code]);
    expect(JSON.parse(asJson.body.toString())).toMatchObject({
      error: expect.any(String),
      message: expect.any(String),
    });
    const asProtobuf = await post(app, TRACES, body, { ...PROTOBUF, ...sent });
    expect([asProtobuf.status, asProtobuf.mediaType]).toEqual([status, 'application/x-protobuf']);
    expect(fromBinary(StatusSchema, asProtobuf.body)).toMatchObject({ code });
    expect(asProtobuf.headers.get('retry-after')).toBeNull();
  });

  it.each([
    ['text that is not JSON', '{"resourceSpans":'],
    ['a list in place of the request', '[]'],
    ['a text in place of a list', '{"resourceSpans":"many"}'],
    ['a number in place of a span', '{"resourceSpans":[{"scopeSpans":[{"spans":[1]}]}]}'],
    ['more levels than JSON may have', `{"resourceSpans":${'['.repeat(200)}${']'.repeat(200)}}`],
  ])('JSON with %s', async (_, body) => {
    const answer = await post(app, TRACES, body, JSON_TYPE);
    expect([answer.status, JSON.parse(answer.body.toString()).code]).toEqual([400, 3]);
  });

  it.each([
    ['a number in place of an id', '{"traceId":1}'],
    ['an instant that is none', '{"startTimeUnixNano":"soon"}'],
  ])('JSON with %s refuses that span alone', async (_, span) => {
    const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`;
    const answer = await post(app, TRACES, body, JSON_TYPE);
    const { partialSuccess } = JSON.parse(answer.body.toString());
    expect([answer.status, partialSuccess.rejectedSpans]).toEqual([200, 1]);
  });

  it('protobuf that is none', async () => {
    const body = Buffer.from([0x0a, 0xff, 0xff]);
    const answer = await post(app, TRACES, body, PROTOBUF);
    expect([answer.status, fromBinary(StatusSchema, answer.body).code]).toEqual([400, 3]);
    const service = 'trace.v1.TraceService';
    await expect(callGrpc(app, { service, body, key: app.projectKey })).rejects.toMatchObject({ code: 3 });
    await expect(callGrpc(app, { service, body, key: app.projectKey, gzip: true })).rejects.toMatchObject({ code: 3 });
  });

  it.each(SURFACES)('by %s: too many spans, as a whole and not to be sent again', async (surface) => {
    const traceId = hex(32);
    const { resourceSpans = [] } = oneSpan(traceId);
    const spans = Array.from({ length: 101 }, () => ({ traceId: id(traceId), spanId: id(hex(16)) }));
    await expect(
      send(app, surface, { resourceSpans: [...resourceSpans, { scopeSpans: [{ spans }] }] }),
    ).rejects.toMatchObject({ code: 8, message: expect.stringContaining('Too many spans') });
    expect(await readTrace(app, traceId)).toMatchObject({ code: 'trace_not_found' });
  });

  it.each(SURFACES)('by %s: a key that may not send', async (surface) => {
    const scope = [custom('PROJECT', app.projectId, ['traces:view'])];
    const token = await addKey(app, { bindings: scope });
    await expect(send(app, surface, oneSpan(), token)).rejects.toMatchObject({ code: 7 });
  });

  it('a store that cannot take anything, with when to try again', async () => {
    const full = await startApp({
      wrapStore: (store) => ({
        ...store,
        traces: { ...store.traces, append: () => Promise.reject(unavailableFault('The disk is full.', 5)) },
      }),
    });
    try {
      const asJson = await post(full, TRACES, toOtlpJson(oneSpan()), JSON_TYPE);
      expect([asJson.status, asJson.headers.get('retry-after')]).toEqual([503, '5']);
      const asProtobuf = await post(full, TRACES, toProtobuf(oneSpan()), PROTOBUF);
      expect([asProtobuf.status, asProtobuf.headers.get('retry-after')]).toEqual([503, '5']);
      const { code, details } = fromBinary(StatusSchema, asProtobuf.body);
      expect(code).toBe(14);
      expect(details.map(({ typeUrl }) => typeUrl)).toContain(`type.googleapis.com/${RetryInfoSchema.typeName}`);
      await expect(send(full, 'gRPC', oneSpan())).rejects.toMatchObject({ code: 14 });
    } finally {
      await full.close();
    }
  });

  it('other methods on its paths', async () => {
    const { status, headers } = await fetchChecked(app.address, TRACES);
    expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });
});
