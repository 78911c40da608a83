import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceDateField, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { addKey, custom, hex } from '../../support/fixtures.ts';
import { rpcFilters } from '../../support/rpc-filters.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const { listTraceFacets, suggestTraceValues } = TraceService.method;
const HOUR_MS = 3_600_000;
const START = Date.now() - HOUR_MS;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await sendTraces();
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });

async function sendTraces(): Promise<void> {
  const evaluation = { name: 'tone', evaluator_id: 'tone', passed: true, label: 'kind' };
  const old = START - 40 * 24 * HOUR_MS;
  await send({ model: 'gpt-5', metadata: { user_id: 'Anna', labels: ['a', 'a', 'b'] }, evaluations: [evaluation] });
  await send({ model: 'gpt-5', metadata: { user_id: 'Anna', plan: 'Pro', labels: ['b'] } });
  await send({ model: 'claude', metadata: { user_id: 'annabel', plan: 'Free', origin: 'evaluation' } });
  await send({ type: 'tool', error: 'broken', metadata: { user_id: 'Ærin', plan: 7 }, input: 'a pangolin' });
  await send({ model: 'gpt-3', metadata: { user_id: 'Anna' }, atMs: old });
}

type Sent = {
  readonly type?: string;
  readonly model?: string;
  readonly error?: string;
  readonly input?: string;
  readonly metadata: object;
  readonly evaluations?: readonly object[];
  readonly atMs?: number;
};

async function send({ type = 'llm', metadata, evaluations = [], atMs = START, input = 'hi', ...more }: Sent) {
  const timestamps = { started_at: atMs, finished_at: atMs };
  const span = { type, span_id: hex(16), name: type, timestamps, input: { type: 'text', value: input }, ...more };
  const body = { trace_id: hex(32), spans: [span, { ...span, span_id: hex(16) }], metadata, evaluations };
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: key(), body });
  expect(answer.status, answer.text).toBe(200);
}

type ListRequest = SurfaceCase<typeof listTraceFacets>['rpc']['request'];
type ValuesRequest = SurfaceCase<typeof suggestTraceValues>['rpc']['request'];
type Expected = Pick<SurfaceCase, 'status'> & Partial<SurfaceCase>;

function listCase(body: object, request: ListRequest, expected: Expected): SurfaceCase {
  const rest = { verb: 'POST', path: '/api/traces/facets', body };
  return { name: JSON.stringify(body), headers: key(), rest, rpc: { method: listTraceFacets, request }, ...expected };
}

function valuesCase(body: object, request: ValuesRequest, expected: Expected): SurfaceCase {
  const rest = { verb: 'POST', path: '/api/traces/facets/values', body };
  return {
    name: JSON.stringify(body),
    headers: key(),
    rest,
    rpc: { method: suggestTraceValues, request },
    ...expected,
  };
}

/** Exact counts. */
function exactly(counts: Readonly<Record<string, number>>): readonly object[] {
  return Object.entries(counts).map(([value, count]) => ({ value, count, countRelation: 'eq' }));
}

async function expectFacets(
  body: object,
  request: ListRequest,
  facets: Readonly<Record<string, object>>,
): Promise<void> {
  const check = (answer: Body) =>
    expect(answer).toEqual({ facets: Object.entries(facets).map(([name, values]) => ({ name, values })) });
  await expectEverywhere(app.address, listCase(body, request, { status: 200, check }));
}

async function expectValues(
  body: object,
  request: ValuesRequest,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  const check = (answer: Body) => expect(answer).toEqual({ values: exactly(counts) });
  await expectEverywhere(app.address, valuesCase(body, request, { status: 200, check }));
}

describe('facets of traces, over REST and gRPC', () => {
  it('lists the values of the filters that people use, the most frequent first, and counts each trace once', async () => {
    await expectFacets(
      {},
      {},
      {
        'spans.model': exactly({ 'gpt-5': 2, claude: 1 }),
        'spans.type': exactly({ llm: 3, tool: 1 }),
        'traces.name': exactly({ llm: 3, tool: 1 }),
        'traces.error': exactly({ false: 3, true: 1 }),
        'traces.origin': exactly({ application: 3, evaluation: 1 }),
        'metadata.user_id': exactly({ Anna: 2, annabel: 1, Ærin: 1 }),
        'metadata.thread_id': [],
        'metadata.customer_id': [],
        'metadata.labels': exactly({ b: 2, a: 1 }),
        'metadata.prompt_ids': [],
        'metadata.key': exactly({ user_id: 4, plan: 3, labels: 2, origin: 1 }),
        'evaluations.evaluator_id': exactly({ tone: 1 }),
      },
    );
  });

  it('lists the filters that are named, in that order and each once, with as many values as are wanted', async () => {
    const names = ['metadata.user_id', 'spans.model', 'spans.model'];
    await expectFacets(
      { names, limit: 1 },
      { names, limit: 1 },
      { 'metadata.user_id': exactly({ Anna: 2 }), 'spans.model': exactly({ 'gpt-5': 2 }) },
    );
  });

  it('counts only the traces that a search by the same filters, text and dates finds', async () => {
    const names = ['spans.model'];
    const filters = { 'metadata.user_id': ['Anna'] };
    const sent = rpcFilters(filters);
    await expectFacets({ names, filters }, { names, filters: sent }, { 'spans.model': exactly({ 'gpt-5': 2 }) });
    await expectFacets(
      { names, filters, negateFilters: true },
      { names, filters: sent, negateFilters: true },
      { 'spans.model': exactly({ claude: 1 }) },
    );
    const types = ['spans.type'];
    await expectFacets(
      { names: types, query: 'PANGOLIN' },
      { names: types, query: 'PANGOLIN' },
      { 'spans.type': exactly({ tool: 1 }) },
    );
    await expectFacets(
      { names, startDate: 0, endDate: START - HOUR_MS },
      { names, startDate: timestampFromMs(0), endDate: timestampFromMs(START - HOUR_MS) },
      { 'spans.model': exactly({ 'gpt-3': 1 }) },
    );
    const range = { startDate: timestampFromMs(START), dateField: TraceDateField.UPDATED };
    await expectFacets(
      { names, startDate: START, dateField: 'updated' },
      { names, ...range },
      { 'spans.model': exactly({ 'gpt-5': 2, claude: 1, 'gpt-3': 1 }) },
    );
  });

  it('suggests the values of a filter that begin with a text, whatever its letter case', async () => {
    const name = 'metadata.user_id';
    await expectValues({ name, prefix: 'ANNA' }, { name, prefix: 'ANNA' }, { Anna: 2, annabel: 1 });
    await expectValues({ name, prefix: 'æ' }, { name, prefix: 'æ' }, { Ærin: 1 });
    await expectValues({ name, prefix: 'nn' }, { name, prefix: 'nn' }, {});
    await expectValues({ name, limit: 1 }, { name, limit: 1 }, { Anna: 2 });
  });

  it('suggests the values of a key of the metadata, and those of an evaluator', async () => {
    const cases: readonly (readonly [string, string, Readonly<Record<string, number>>])[] = [
      ['metadata.value', 'plan', { 7: 1, Free: 1, Pro: 1 }],
      ['metadata.value', '__proto__', {}],
      ['evaluations.passed', 'tone', { true: 1 }],
      ['evaluations.state', 'tone', { processed: 1 }],
      ['evaluations.label', 'tone', { kind: 1 }],
      ['evaluations.label', 'other', {}],
    ];
    for (const [name, of, counts] of cases) await expectValues({ name, key: of }, { name, key: of }, counts);
  });
});

describe('a request for facets that is not valid', () => {
  const refused = (message: RegExp): Expected => ({
    status: 422,
    code: 'validation_error',
    check: (body: Body) => expect(body.message).toMatch(message),
  });

  it('is refused where a filter is unknown, is of a number or needs a key, with the nearest name', async () => {
    for (const [name, nearest] of [
      ['spans.modle', /names\.0 must be one of the expected values, the nearest is spans\.model/],
      ['traces.duration_ms', /names\.0: traces\.duration_ms compares numbers and has no values to list/],
      ['metadata.value', /names\.0: metadata\.value needs a key; SuggestTraceValues takes one/],
    ] as const) {
      await expectEverywhere(app.address, listCase({ names: [name] }, { names: [name] }, refused(nearest)));
    }
    for (const [name, nearest] of [
      ['metadata.user', /name must be one of the expected values, the nearest is metadata\.user_id/],
      ['evaluations.score', /name: evaluations\.score compares numbers and has no values to list/],
      ['__proto__', /name must be one of the expected values/],
    ] as const) {
      await expectEverywhere(app.address, valuesCase({ name }, { name }, refused(nearest)));
    }
    const { body } = await callRest(app.address, {
      ...{ verb: 'POST', path: '/api/traces/facets', headers: key() },
      body: { names: ['traces.total_cost'] },
    });
    const [{ meta }] = body.reasons;
    expect(meta.expected).toContain('spans.model');
    expect(meta.expected).not.toContain('traces.total_cost');
    expect(meta.expected).not.toContain('metadata.value');
  });

  it('is refused where a key is missing or has no meaning', async () => {
    const missing = { name: 'metadata.value' };
    await expectEverywhere(app.address, valuesCase(missing, missing, refused(/key is required for metadata/)));
    const meaningless = { name: 'spans.model', key: 'plan' };
    const check = refused(/key must be empty for spans\.model/);
    await expectEverywhere(app.address, valuesCase(meaningless, meaningless, check));
  });

  it('is refused beyond its limits', async () => {
    const name = 'spans.model';
    const prefix = 'p'.repeat(201);
    const names = Array.from({ length: 21 }, () => name);
    for (const [body, field] of [
      [{ limit: 0 }, 'limit'],
      [{ limit: 51 }, 'limit'],
      [{ names }, 'names'],
    ] as const) {
      await expectEverywhere(app.address, listCase(body, body, refused(new RegExp(field))));
    }
    for (const [body, field] of [
      [{ name, limit: 51 }, 'limit'],
      [{ name, prefix }, 'prefix'],
      [{ name: 'metadata.value', key: 'k'.repeat(1_001) }, 'key'],
    ] as const) {
      await expectEverywhere(app.address, valuesCase(body, body, refused(new RegExp(field))));
    }
  });

  it('is refused with bad filters, dates in reverse and unknown members, as a search is', async () => {
    const filters = { nope: [] };
    const sent = rpcFilters(filters);
    await expectEverywhere(app.address, listCase({ filters }, { filters: sent }, refused(/is not a filter/)));
    const name = 'spans.model';
    const bad = refused(/is not a filter/);
    await expectEverywhere(app.address, valuesCase({ name, filters }, { name, filters: sent }, bad));
    const [startDate, endDate] = [timestampFromMs(START), timestampFromMs(START - 1)];
    await expectEverywhere(
      app.address,
      listCase(
        { startDate: START, endDate: START - 1 },
        { startDate, endDate },
        refused(/startDate must not be after endDate/),
      ),
    );
    for (const path of ['/api/traces/facets', '/api/traces/facets/values']) {
      const answer = await callRest(app.address, { verb: 'POST', path, headers: key(), body: { name, limits: 5 } });
      expect([answer.status, answer.body.fields.at(-1)], path).toEqual([422, 'limits']);
      expect(answer.text).toContain('the nearest is limit');
    }
  });

  it('is refused without a credential, with a wrong one, or without the permission', async () => {
    const narrow = await addKey(app, { bindings: [custom('PROJECT', app.projectId, ['project:view'])] });
    for (const denied of [
      { headers: {}, status: 401, code: 'missing_credentials' },
      { headers: { authorization: 'Bearer nope' }, status: 401, code: 'invalid_credentials' },
      { headers: { authorization: `Bearer ${narrow}` }, status: 403, code: 'api_key_permission_denied' },
    ]) {
      await expectEverywhere(app.address, listCase({}, {}, denied));
      await expectEverywhere(app.address, valuesCase({ name: 'spans.model' }, { name: 'spans.model' }, denied));
    }
  });
});
