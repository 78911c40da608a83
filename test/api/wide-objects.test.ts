import { request as httpRequest } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EvaluatorService } from '../../gen/spandrel/v1/evaluators_pb.js';
import { GatewayService, ReportedRequestStatus } from '../../gen/spandrel/v1/gateway_pb.js';
import { SpanType, TraceService } from '../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../support/app.ts';
import { hex } from '../support/fixtures.ts';
import { callRest, expectEverywhere } from '../support/surfaces.ts';

const MEMBERS_MAX = 10_000;
const NOW = Date.now();
const REASON = 'must not hold an object of more than 10000 members';

const DIGITS = 'must not hold more than 20000 numbers that must be kept as text, such as integers beyond 2^53';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const key = () => ({ 'x-auth-token': app.projectKey });

/** JSON text of an object with `members` members. */
function wideText(members: number): string {
  const texts: string[] = [];
  for (let index = 0; index < members; index += 1) texts.push(`"k${index}":1`);
  return `{${texts.join(',')}}`;
}

const WIDE = wideText(MEMBERS_MAX + 1);
const WIDEST = wideText(MEMBERS_MAX);

describe('an object of more than 10,000 members, over REST and gRPC,', () => {
  it('drops one span, one evaluation or one value of metadata, and no other', async () => {
    const traceId = hex(32);
    const times = `"timestamps":{"started_at":${NOW},"finished_at":${NOW}}`;
    const span = (id: string, more: string) => `{"span_id":"${id}","type":"span",${times}${more}}`;
    const body = `{"trace_id":"${traceId}","spans":[${[
      span('a', `,"params":${WIDE}`),
      span('b', `,"input":{"type":"json","value":[{"deep":${WIDE}}]}`),
      span('c', `,"params":${WIDEST}`),
    ].join(',')}],"evaluations":[{"name":"e","passed":true,"inputs":${WIDE}}],"metadata":${WIDE}}`;
    const timestamps = { startedAt: timestampFromMs(NOW), finishedAt: timestampFromMs(NOW) };
    await expectEverywhere(app.address, {
      name: 'wide',
      headers: key(),
      rest: { verb: 'POST', path: '/api/collector', body },
      rpc: {
        method: TraceService.method.collectTrace,
        request: {
          traceId,
          spans: [
            { spanId: 'a', type: SpanType.SPAN, timestamps, paramsJson: WIDE },
            { spanId: 'b', type: SpanType.SPAN, timestamps, input: { type: 'json', valueJson: `[{"deep":${WIDE}}]` } },
            { spanId: 'c', type: SpanType.SPAN, timestamps, paramsJson: WIDEST },
          ],
          evaluations: [{ name: 'e', passed: true, inputsJson: WIDE }],
          metadataJson: WIDE,
        },
      },
      status: 200,
      check: ({ partialSuccess }) =>
        expect(partialSuccess).toEqual({
          rejectedSpans: 2,
          rejectedEvaluations: 1,
          errorMessage: [
            `spans[0].params: ${REASON}`,
            `spans[1].input: ${REASON}`,
            `evaluations[0].inputs: ${REASON}`,
            `metadata: ${REASON}`,
          ].join('; '),
        }),
    });
  });

  it('rejects one reported request, and no other', async () => {
    const records = ['gw-1', 'gw-2'].map((name) => `${name}-${hex(8)}`);
    const [bad = '', good = ''] = records;
    const record = (id: string, metadata: string) =>
      `{"gateway_request_id":"${id}","status":"success","occurred_at":${NOW},"metadata":${metadata}}`;
    const rpcRecord = (gatewayRequestId: string, metadataJson: string) => ({
      gatewayRequestId,
      status: ReportedRequestStatus.SUCCESS,
      occurredAt: timestampFromMs(NOW),
      metadataJson,
    });
    await expectEverywhere(app.address, {
      name: 'wide',
      headers: key(),
      rest: {
        verb: 'POST',
        path: '/api/gateway/v1/requests',
        body: `{"records":[${record(bad, WIDE)},${record(good, '{}')}]}`,
      },
      rpc: {
        method: GatewayService.method.reportRequests,
        request: { records: [rpcRecord(bad, WIDE), rpcRecord(`${good}-2`, '{}')] },
      },
      status: 200,
      check: (answer) =>
        expect(answer).toEqual({
          accepted: 1,
          rejected: [{ index: 0, code: 'invalid_record', message: `metadata: ${REASON}` }],
        }),
    });
  });

  it('refuses a management operation, which names where it was', async () => {
    await expectEverywhere(app.address, {
      name: 'wide',
      headers: key(),
      rest: { verb: 'POST', path: '/api/evaluators', body: `{"name":"Wide","config":{"settings":${WIDE}}}` },
      rpc: {
        method: EvaluatorService.method.createEvaluator,
        request: { name: 'Wide', configJson: `{"settings":${WIDE}}` },
      },
      status: 422,
      code: 'validation_error',
      check: (body) => expect(body).toMatchObject({ fields: ['config'], message: expect.stringContaining(REASON) }),
    });
  });
});

describe('more than 20,000 integers that a double does not hold, over REST and gRPC,', () => {
  const long = (count: number) =>
    `[${Array.from({ length: count }, (_, index) => 10n ** 19n + BigInt(index)).join(',')}]`;

  it.each([
    ['are refused in one span', [20_001], 400],
    ['are refused in several spans', [10_000, 10_001], 400],
    ['are kept up to there', [10_000, 10_000], 200],
  ])('%s of one request', async (_, counts, status) => {
    const traceId = hex(32);
    const spans = counts.map((count, index) => ({
      spanId: `s${index}`,
      type: SpanType.SPAN,
      paramsJson: `{"n":${long(count)}}`,
    }));
    const times = `"timestamps":{"started_at":${NOW},"finished_at":${NOW}}`;
    const texts = spans.map(
      ({ spanId, paramsJson }) => `{"span_id":"${spanId}","type":"span",${times},"params":${paramsJson}}`,
    );
    const timestamps = { startedAt: timestampFromMs(NOW), finishedAt: timestampFromMs(NOW) };
    await expectEverywhere(app.address, {
      name: 'long',
      headers: key(),
      rest: { verb: 'POST', path: '/api/collector', body: `{"trace_id":"${traceId}","spans":[${texts.join(',')}]}` },
      rpc: {
        method: TraceService.method.collectTrace,
        request: { traceId, spans: spans.map((span) => ({ ...span, timestamps })) },
      },
      status,
      ...(status === 400 ? { code: 'validation_error' } : {}),
      check: (body) => {
        if (status === 400) expect(body.message).toBe(`Validation error: body ${DIGITS}`);
        else expect(body.partialSuccess).toMatchObject({ rejectedSpans: 0, errorMessage: '' });
      },
    });
    if (status !== 200) return;
    const stored = await callRest(app.address, { verb: 'GET', path: `/api/trace/${traceId}`, headers: key() });
    expect(stored.text.split('10000000000000009999').length - 1).toBe(counts.length);
  });

  it('are refused in one report', async () => {
    const gatewayRequestId = `gw-${hex(8)}`;
    const metadata = `{"n":${long(20_001)}}`;
    const record = `{"gateway_request_id":"${gatewayRequestId}","status":"success","occurred_at":${NOW},"metadata":${metadata}}`;
    await expectEverywhere(app.address, {
      name: 'long',
      headers: key(),
      rest: { verb: 'POST', path: '/api/gateway/v1/requests', body: `{"records":[${record}]}` },
      rpc: {
        method: GatewayService.method.reportRequests,
        request: {
          records: [
            {
              gatewayRequestId,
              status: ReportedRequestStatus.SUCCESS,
              occurredAt: timestampFromMs(NOW),
              metadataJson: metadata,
            },
          ],
        },
      },
      status: 400,
      code: 'validation_error',
      check: (body) => expect(JSON.stringify(body)).toContain(DIGITS),
    });
  });
});

describe('a body that is such an object itself', () => {
  it.each([
    ['/api/collector', 400],
    ['/api/evaluators', 422],
    ['/api/gateway/v1/requests', 400],
  ])('is refused as a whole at %s', async (path, status) => {
    const answer = await callRest(app.address, { verb: 'POST', path, body: WIDE, headers: key() });
    expect(answer.status).toBe(status);
    expect(answer.body.error.code ?? answer.body.code).toBe('validation_error');
    expect(answer.text).toContain(REASON);
  });
});

describe('over Connect and gRPC-Web in JSON', () => {
  const post = (headers: Record<string, string>, body: Buffer) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const path = '/spandrel.v1.TraceService/CollectTrace';
      const call = httpRequest(
        app.address + path,
        { method: 'POST', headers: { ...headers, ...key() } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: readable(Buffer.concat(chunks)) }),
          );
        },
      );
      call.on('error', reject).end(body);
    });
  /** Errors are plain, compressed, or in trailers that encode a space as %20. */
  const readable = (bytes: Buffer): string => {
    const packedAt = bytes.indexOf(Buffer.from([0x1f, 0x8b]));
    const text = (packedAt < 0 ? bytes : gunzipSync(bytes.subarray(packedAt))).toString();
    return text.replaceAll('%20', ' ');
  };
  const framed = (flag: number, body: Buffer) => {
    const frame = Buffer.alloc(5 + body.length);
    frame[0] = flag;
    frame.writeUInt32BE(body.length, 1);
    frame.set(body, 5);
    return frame;
  };
  // Unknown members are ignored, but parsed.
  const message = Buffer.from(`{"spans":[{"unknown":${WIDE}}]}`);

  it.each([
    ['Connect', { 'content-type': 'application/json' }, message],
    ['Connect, compressed', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, gzipSync(message)],
  ])('is refused (%s)', async (_, headers, body) => {
    const answer = await post(headers, body);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(REASON);
  });

  it.each([
    ['gRPC-Web', {}, framed(0, message)],
    ['gRPC-Web, compressed', { 'grpc-encoding': 'gzip' }, framed(1, gzipSync(message))],
    ['gRPC-Web, behind another message', {}, Buffer.concat([framed(0, Buffer.from('{}')), framed(0, message)])],
  ])('is refused (%s)', async (_, headers, body) => {
    const answer = await post({ 'content-type': 'application/grpc-web+json', ...headers }, body);
    expect(answer.text).toContain(REASON);
  });

  it.each([
    ['nested deeper than 128 levels', `${'['.repeat(1_000)}${']'.repeat(1_000)}`, 'nested deeper than 128 levels'],
    [
      'with more long integers than a document may hold',
      `[${'9007199254740993,'.repeat(20_000)}9007199254740993]`,
      DIGITS,
    ],
  ])('a message %s is refused as well', async (_, unknown, reason) => {
    const answer = await post({ 'content-type': 'application/json' }, Buffer.from(`{"unknown":${unknown}}`));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(reason);
  });

  it('and an object of 10,000 members is not', async () => {
    const body = Buffer.from(`{"traceId":"${hex(32)}","metadataJson":"{\\"a\\":1}","unknown":${WIDEST}}`);
    const answer = await post({ 'content-type': 'application/json' }, body);
    expect(answer.text).not.toContain(REASON);
  });
});
