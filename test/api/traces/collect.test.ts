import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SpanType, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, asMessage, custom, hex, llmTrace } from '../../support/fixtures.ts';
import { fetchChecked } from '../../support/openapi/fetch-checked.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const NOW = Date.now();
const { collectTrace } = TraceService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(async () => {
  await app.close();
});

const ACCEPTED = {
  message: 'Trace received successfully.',
  partialSuccess: { rejectedSpans: 0, rejectedEvaluations: 0, errorMessage: '' },
};

function collectCase(
  each: Partial<SurfaceCase<typeof collectTrace>> & {
    name: string;
    body: Body;
    message: Record<string, unknown>;
    status: number;
  },
): SurfaceCase {
  return {
    headers: { 'x-auth-token': app.projectKey },
    rest: { verb: 'POST', path: '/api/collector', body: each.body },
    rpc: { method: collectTrace, request: each.message },
    ...each,
  };
}

const oneSpan = (extra: object = {}) => ({
  span_id: hex(16),
  type: 'span',
  timestamps: { started_at: NOW, finished_at: NOW + 5 },
  ...extra,
});
const oneSpanMessage = (extra: object = {}) => ({
  spanId: hex(16),
  type: SpanType.SPAN,
  timestamps: { startedAt: timestampFromMs(NOW), finishedAt: timestampFromMs(NOW + 5) },
  ...extra,
});

describe('collecting a trace, over REST and gRPC', () => {
  it('T1: a trace with every field of the interface is accepted', async () => {
    const body = llmTrace(NOW);
    await expectEverywhere(
      app.address,
      collectCase({
        name: 'whole',
        body,
        message: asMessage(body),
        status: 200,
        check: (answer) => expect(answer).toEqual(ACCEPTED),
      }),
    );
  });

  it('T5: one bad span never costs its neighbours', async () => {
    const traceId = hex(32);
    const bad = { span_id: 'bad', timestamps: { started_at: NOW, finished_at: NOW } };
    const badMessage = {
      spanId: 'bad',
      timestamps: { startedAt: timestampFromMs(NOW), finishedAt: timestampFromMs(NOW) },
    };
    await expectEverywhere(
      app.address,
      collectCase({
        name: 'partial',
        body: { trace_id: traceId, spans: [oneSpan(), bad, oneSpan()] },
        message: { traceId, spans: [oneSpanMessage(), badMessage, oneSpanMessage()] },
        status: 200,
        check: (answer) =>
          expect(answer.partialSuccess).toEqual({
            rejectedSpans: 1,
            rejectedEvaluations: 0,
            errorMessage: 'spans[1].type: is required',
          }),
      }),
    );
  });

  it('T5: a request with nothing to store is refused and stores nothing', async () => {
    const traceId = hex(32);
    await expectEverywhere(
      app.address,
      collectCase({
        name: 'nothing',
        body: { trace_id: traceId, spans: [{ span_id: 'x' }], metadata: { user_id: 'u' } },
        message: { traceId, spans: [{ spanId: 'x' }], metadataJson: '{"user_id":"u"}' },
        status: 400,
        code: 'validation_error',
        check: (answer) => {
          expect(answer.error).toBe('Validation error: spans[0].type: is required');
          expect(answer.message).toBe(answer.error);
        },
      }),
    );
    expect(
      (await callRest(app.address, { path: `/api/traces/${traceId}`, headers: { 'x-auth-token': app.projectKey } }))
        .status,
    ).toBe(404);
  });

  it('a trace without an id is refused', async () => {
    await expectEverywhere(
      app.address,
      collectCase({
        name: 'no id',
        body: { spans: [oneSpan()] },
        message: { spans: [oneSpanMessage()] },
        status: 400,
        code: 'validation_error',
        check: (answer) => expect(answer.message).toBe('Trace ID not defined'),
      }),
    );
  });

  it('a call without a credential is refused before its body is read', async () => {
    await expectEverywhere(
      app.address,
      collectCase({
        name: 'no credential',
        headers: {},
        body: 'no json',
        message: {},
        status: 401,
        code: 'missing_credentials',
      }),
    );
  });

  it('a wrong credential is refused', async () => {
    const wrong = `sk-lw-${'A'.repeat(42)}2fwxgK`;
    await expectEverywhere(
      app.address,
      collectCase({
        name: 'wrong',
        headers: { authorization: `Bearer ${wrong}` },
        body: {},
        message: {},
        status: 401,
        code: 'invalid_credentials',
      }),
    );
  });

  it('an API key without traces:create in the project is refused', async () => {
    const token = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['traces:view'])] });
    await expectEverywhere(
      app.address,
      collectCase({
        name: 'narrow',
        headers: { authorization: `Bearer ${token}` },
        body: llmTrace(NOW),
        message: asMessage(llmTrace(NOW)),
        status: 403,
        code: 'api_key_permission_denied',
        check: (answer) =>
          expect(answer).toMatchObject({ permission: 'traces:create', projectId: app.projectId, userId: null }),
      }),
    );
  });

  it('an admin key names its project, and an unknown one is not confirmed', async () => {
    const body = llmTrace(NOW);
    const named = { authorization: `Bearer ${app.adminKey}`, 'x-project-id': app.projectId };
    await expectEverywhere(
      app.address,
      collectCase({ name: 'named', headers: named, body, message: asMessage(body), status: 200 }),
    );
    const unnamed = { authorization: `Bearer ${app.adminKey}` };
    await expectEverywhere(
      app.address,
      collectCase({
        name: 'unnamed',
        headers: unnamed,
        body,
        message: asMessage(body),
        status: 401,
        code: 'project_scope_required',
      }),
    );
    const unknown = { ...unnamed, 'x-project-id': 'project_nope' };
    await expectEverywhere(
      app.address,
      collectCase({
        name: 'unknown',
        headers: unknown,
        body,
        message: asMessage(body),
        status: 401,
        code: 'unknown_project',
      }),
    );
  });

  it('free JSON that is not JSON costs its own field only', async () => {
    const traceId = hex(32);
    const { callRpc } = await import('../../support/surfaces.ts');
    const answer = await callRpc(app.address, {
      method: collectTrace,
      headers: { 'x-auth-token': app.projectKey },
      request: { traceId, spans: [oneSpanMessage({ paramsJson: '{oops' }), oneSpanMessage()] },
    });
    const partialSuccess = { rejectedSpans: 0, errorMessage: 'spans[0].params: must be valid JSON' };
    expect(answer).toMatchObject({ ok: true, body: { partialSuccess } });
  });
});

describe('the collector over REST', () => {
  const post = (body: string | Buffer, headers: { [name: string]: string } = {}) =>
    fetchChecked(app.address, '/api/collector', {
      method: 'POST',
      headers: { 'x-auth-token': app.projectKey, 'content-type': 'application/json', ...headers },
      body,
    });
  const text = () => JSON.stringify(llmTrace(NOW));

  it.each([
    ['gzip', (plain: string) => gzipSync(plain), 'gzip'],
    ['gzip by its old name', (plain: string) => gzipSync(plain), 'X-Gzip'],
    ['zlib deflate', (plain: string) => deflateSync(plain), 'deflate'],
    ['raw deflate', (plain: string) => deflateRawSync(plain), 'deflate'],
    ['brotli', (plain: string) => brotliCompressSync(plain), 'br'],
    ['identity', (plain: string) => Buffer.from(plain), 'identity'],
  ])('a body in %s is read', async (_name, pack, encoding) => {
    expect((await post(pack(text()), { 'content-encoding': encoding })).status).toBe(200);
  });

  it('an unknown encoding is 415 and says what is accepted', async () => {
    const answer = await post(text(), { 'content-encoding': 'zstd' });
    expect(answer.status).toBe(415);
    expect(answer.headers.get('accept-encoding')).toBe('identity, gzip, deflate, br');
  });

  it.each([
    ['broken compression', Buffer.from('nonsense'), { 'content-encoding': 'gzip' }],
    ['unparsable text', Buffer.from('{"trace_id":'), {}],
    ['text after the value', Buffer.from('{} {}'), {}],
    ['an empty body', Buffer.alloc(0), {}],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}],
    ['a number beyond a double', Buffer.from('{"trace_id":"a","expected_output":1e400}'), {}],
    ['an array', Buffer.from('[]'), {}],
  ])('%s is 400 malformed_request in both texts', async (_name, body, headers) => {
    const answer = await post(body, headers as { [name: string]: string });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: 'Invalid body, expecting json',
      message: 'Invalid body, expecting json',
      code: 'malformed_request',
    });
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'application/octet-stream'])(
    'JSON sent as %s is stored, and anything else says which header to send',
    async (type) => {
      expect((await post(text(), { 'content-type': type })).status).toBe(200);
      const answer = await post('a=b', { 'content-type': type });
      expect(answer.status).toBe(400);
      const message = 'Invalid body, expecting json; send the header Content-Type: application/json';
      expect(await answer.json()).toMatchObject({ error: message, message, code: 'malformed_request' });
    },
  );

  it('a refusal names the posted trace beside the ids of the call', async () => {
    const answer = await post('{"trace_id":"posted","spans":[{}]}');
    const body = (await answer.json()) as Body;
    expect(body.trace).toEqual({ traceId: body.trace_id, spanId: body.span_id, postedTraceId: 'posted' });
    expect(body.postedTraceId).toBeUndefined();
  });

  it('the answer names what an event leaves out of metadata and labels', async () => {
    const labels = Array.from({ length: 70 }, (_, index) => `l${index}`);
    const trace = { ...llmTrace(NOW), metadata: { labels, note: 'x'.repeat(5000) } };
    const { partialSuccess } = (await (await post(JSON.stringify(trace))).json()) as Body;
    expect(partialSuccess).toEqual({
      rejectedSpans: 0,
      rejectedEvaluations: 0,
      errorMessage:
        'metadata.labels: events carry the first 64 of 70; metadata: events carry none of it above 4096 bytes',
    });
    expect(((await (await post(JSON.stringify(trace))).json()) as Body).partialSuccess.errorMessage).toBe('');
  });

  it('MUST NOT write much for few bytes: the events of one request repeat 8 MiB of labels and metadata, and the answer says so', async () => {
    const labels = Array.from({ length: 64 }, (_, index) => String.fromCharCode(1).repeat(250) + index);
    const spans = Array.from({ length: 120 }, () => ({ ...oneSpan(), type: 'llm', model: 'gpt-5' }));
    const body = JSON.stringify({ trace_id: hex(32), metadata: { labels, user_id: 'repeated' }, spans });
    const { partialSuccess } = (await (await post(body)).json()) as Body;
    const repeats = Math.floor((8 * 1024 * 1024) / JSON.stringify(labels).length);
    expect(partialSuccess.errorMessage).toBe(
      `metadata: the events of ${120 - repeats} spans carry no labels and no metadata; those of one request repeat at most 8388608 characters of both`,
    );
    const page = await callRest(app.address, {
      path: `/api/webhooks/v1/events?from=0&to=${NOW + 60_000}&limit=200`,
      headers: { authorization: `Bearer ${app.adminKey}` },
    });
    const told = page.body.data.filter((event: Body) => event.data.end_user_id === 'repeated');
    const counts = told.map((event: Body) => event.data.labels.length);
    expect([counts.length, counts.filter((count: number) => count === 64).length]).toEqual([120, repeats]);
  });

  it('stores of an expected output as much as a trace shows of it, and says so', async () => {
    const lines = Array.from({ length: 3 }, () => 'x'.repeat(600_000));
    const trace = { ...llmTrace(NOW), expected_output: lines };
    const { partialSuccess } = (await (await post(JSON.stringify(trace))).json()) as Body;
    expect(partialSuccess).toMatchObject({ errorMessage: 'expected_output: cut to 1310720 bytes' });
    const short = { ...llmTrace(NOW), expected_output: lines.slice(1) };
    expect(((await (await post(JSON.stringify(short))).json()) as Body).partialSuccess.errorMessage).toBe('');
  });

  it('a nesting above 128 is refused with its own text', async () => {
    const answer = await post(`{"trace_id":"t","expected_output":${'['.repeat(128)}${']'.repeat(128)}}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      message: 'Validation error: body nested deeper than 128 levels',
      code: 'malformed_request',
    });
  });

  it('a trailing slash, doubled slashes and charset parameters are tolerated', async () => {
    const headers = { 'x-auth-token': app.projectKey, 'content-type': 'application/json; charset=UTF-8' };
    const sent = { method: 'POST', headers, body: text() };
    expect((await fetchChecked(app.address, '//api//collector/', sent)).status).toBe(200);
  });

  it('T9: a body of exactly the limit passes and one byte more is 413', async () => {
    const limited = await startApp({ environment: { SPANDREL_MAX_BODY_BYTES: '2000' } });
    try {
      const bare = JSON.stringify({ ...llmTrace(NOW), pad: '' });
      const padded = (bytes: number) =>
        JSON.stringify({ ...llmTrace(NOW), pad: 'x'.repeat(bytes - Buffer.byteLength(bare)) });
      const send = (body: string) =>
        fetchChecked(limited.address, '/api/collector', {
          method: 'POST',
          headers: { 'x-auth-token': limited.projectKey, 'content-type': 'application/json' },
          body,
        });
      expect((await send(padded(2000))).status).toBe(200);
      const refused = await send(padded(2001));
      expect(refused.status).toBe(413);
      expect(await refused.json()).toMatchObject({
        error: 'Payload Too Large',
        code: 'payload_too_large',
        limitBytes: 2000,
      });
    } finally {
      await limited.close();
    }
  });
});
