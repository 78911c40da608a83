/** Traces by the versions of prompts that their spans name, over REST and gRPC. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnalyticsGrouping, AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { SpendGrouping, SpendService } from '../../../gen/spandrel/v1/spend_pb.js';
import { TimeseriesService } from '../../../gen/spandrel/v1/timeseries_pb.js';
import { SpanType, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { attributes, exportOf, id, send as sendSpans, type Value } from '../../otlp/sending.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { rpcFilters } from '../../support/rpc-filters.ts';
import { type Body, callRest, callRpc, expectEverywhere } from '../../support/surfaces.ts';
import { act, createPrompt, inPath } from '../prompts/prompts-client.ts';

const NOW = Date.now() - 60_000;
const [FROM, TO] = [NOW - 1_000, NOW + 30_000];
const HANDLE = 'help/greeting';

let app: TestApp;
let prompt: Body;
const traces = { typescript: hex(32), python: hex(32), early: hex(32), elsewhere: hex(32), none: hex(32) };

beforeAll(async () => {
  app = await startApp();
  await createPrompt(app, { handle: HANDLE });
  prompt = await act(app, 'PUT', inPath(HANDLE), { body: { prompt: 'Dear {{name}}', commitMessage: 'Politer' } });
  await sendCall(traces.typescript, {
    'langwatch.prompt.id': prompt.id,
    'langwatch.prompt.handle': HANDLE,
    'langwatch.prompt.version.id': prompt.versionId,
    'langwatch.prompt.version.number': 2,
  });
  await sendCall(traces.python, { 'langwatch.prompt.id': `${HANDLE}:2` });
  await collect(traces.early, { 'langwatch.prompt.id': prompt.id, 'langwatch.prompt.version.number': '1' });
  const elsewhere = { 'langwatch.prompt.handle': 'elsewhere', 'langwatch.prompt.version.id': 'v_9' };
  await collectByRpc(traces.elsewhere, elsewhere);
  await collect(traces.none, {});
});
afterAll(() => app.close());

const key = () => ({ 'x-auth-token': app.projectKey });

/** As SDKs do: a span that compiled the prompt, and then the call, which costs 10 and 10 tokens. */
async function sendCall(traceId: string, named: { readonly [key: string]: Value }): Promise<void> {
  const span = (name: string, said: { readonly [key: string]: Value }) => ({
    ...{ traceId: id(traceId), spanId: id(hex(16)), name, attributes: attributes(said) },
    startTimeUnixNano: BigInt(NOW) * 1_000_000n,
    endTimeUnixNano: BigInt(NOW + 100) * 1_000_000n,
  });
  const call = { 'langwatch.span.type': 'llm', 'gen_ai.request.model': 'gpt-5', 'gen_ai.usage.input_tokens': 10 };
  const spans = [span('Prompt.compile', named), span('chat', { ...call, 'gen_ai.usage.output_tokens': 10 })];
  await sendSpans(app, 'JSON', exportOf(spans));
}

async function collect(traceId: string, params: object): Promise<void> {
  const timestamps = { started_at: NOW, finished_at: NOW + 100 };
  const call = { model: 'gpt-5', metrics: { prompt_tokens: 10, completion_tokens: 10 } };
  const body = { trace_id: traceId, spans: [{ type: 'llm', span_id: hex(16), timestamps, params, ...call }] };
  const { status, text } = await callRest(app.address, { verb: 'POST', path: '/api/collector', headers: key(), body });
  expect(status, text).toBe(200);
}

async function collectByRpc(traceId: string, params: object): Promise<void> {
  const timestamps = { startedAt: timestampFromMs(NOW), finishedAt: timestampFromMs(NOW + 100) };
  const metrics = { promptTokens: 10n, completionTokens: 10n };
  const said = { type: SpanType.LLM, model: 'gpt-5', paramsJson: JSON.stringify(params), timestamps, metrics };
  const request = { traceId, spans: [{ spanId: hex(16), ...said }] };
  const answer = await callRpc(app.address, { method: TraceService.method.collectTrace, headers: key(), request });
  expect(answer).toMatchObject({ ok: true });
}

type Name = keyof typeof traces;

describe('the metadata of a trace', () => {
  it('has all names of its prompts, those too that only the project knows', async () => {
    const metadataOf = async (name: Name) =>
      (await callRest(app.address, { path: `/api/traces/${traces[name]}`, headers: key() })).body.metadata;
    const named = { prompt_ids: [prompt.id, prompt.versionId, HANDLE, `${HANDLE}:2`] };
    expect(await metadataOf('typescript')).toEqual(named);
    expect(await metadataOf('python')).toEqual(named);
    expect((await metadataOf('early')).prompt_ids).toContain(`${HANDLE}:1`);
    expect(await metadataOf('elsewhere')).toEqual({ prompt_ids: ['v_9', 'elsewhere', 'elsewhere:v_9'] });
    expect(await metadataOf('none')).toEqual({});
  });
});

describe('filters, over REST and gRPC', () => {
  const OF_HANDLE: readonly Name[] = ['typescript', 'python', 'early'];
  it.each<[filter: string, named: () => string, names: readonly Name[]]>([
    ['prompt.id', () => HANDLE, OF_HANDLE],
    ['prompt.id', () => prompt.id, OF_HANDLE],
    ['prompt.id', () => 'elsewhere', ['elsewhere']],
    ['prompt.id', () => 'unknown', []],
    ['prompt.version', () => `${HANDLE}:2`, ['typescript', 'python']],
    ['prompt.version', () => `${HANDLE}:1`, ['early']],
    ['prompt.version', () => prompt.versionId, ['typescript', 'python']],
    ['prompt.version', () => 'v_9', ['elsewhere']],
  ])('by %s find the traces that have the value, case %#', async (filter, named, names) => {
    const filters = { [filter]: [named()] };
    await expectEverywhere(app.address, {
      ...{ name: filter, headers: key(), status: 200 },
      rest: { verb: 'POST', path: '/api/traces/search', body: { filters } },
      rpc: { method: TraceService.method.searchTraces, request: { filters: rpcFilters(filters) } },
      check: ({ traces: found }) =>
        expect(found.map(({ trace_id }: Body) => trace_id).sort()).toEqual(names.map((name) => traces[name]).sort()),
    });
  });

  it('have values with counts: each prompt by one name, and each version', async () => {
    const names = ['prompt.id', 'prompt.version'];
    const exactly = (counts: Readonly<Record<string, number>>) =>
      Object.entries(counts).map(([value, count]) => ({ value, count, countRelation: 'eq' }));
    await expectEverywhere(app.address, {
      ...{ name: 'facets', headers: key(), status: 200 },
      rest: { verb: 'POST', path: '/api/traces/facets', body: { names } },
      rpc: { method: TraceService.method.listTraceFacets, request: { names } },
      check: ({ facets }) =>
        expect(facets).toEqual([
          { name: 'prompt.id', values: exactly({ [HANDLE]: 3, elsewhere: 1 }) },
          { name: 'prompt.version', values: exactly({ [`${HANDLE}:2`]: 2, 'elsewhere:v_9': 1, [`${HANDLE}:1`]: 1 }) },
        ]),
    });
    const body = { name: 'prompt.version', prefix: 'Help' };
    await expectEverywhere(app.address, {
      ...{ name: 'values', headers: key(), status: 200 },
      rest: { verb: 'POST', path: '/api/traces/facets/values', body },
      rpc: { method: TraceService.method.suggestTraceValues, request: body },
      check: ({ values }) => expect(values).toEqual(exactly({ [`${HANDLE}:2`]: 2, [`${HANDLE}:1`]: 1 })),
    });
  });
});

describe('analytics, over REST and gRPC', () => {
  type Asked = { readonly group_by: string; readonly prompt_id?: string; readonly prompt_version?: string };
  const groupsOf = ({ buckets }: Body) =>
    buckets.map(({ group, traces: count, prompt_tokens }: Body) => [group, count, prompt_tokens]);

  async function expectGroups(asked: Asked, groupBy: AnalyticsGrouping, expected: readonly unknown[]): Promise<void> {
    const { prompt_id: promptId, prompt_version: promptVersion } = asked;
    const query = new URLSearchParams({ ...asked, from: String(FROM), to: String(TO), interval: 'total' });
    const range = { startedFrom: timestampFromMs(FROM), startedTo: timestampFromMs(TO) };
    const filters = { ...(promptId && { promptId }), ...(promptVersion && { promptVersion }) };
    await expectEverywhere(app.address, {
      ...{ name: String(query), headers: key(), status: 200 },
      rest: { path: `/api/analytics?${query}` },
      rpc: {
        method: TraceService.method.queryAnalytics,
        request: { ...range, ...filters, groupBy, interval: AnalyticsInterval.TOTAL },
      },
      check: (body) => expect(groupsOf(body)).toEqual(expected),
    });
  }

  it('group whole traces by prompt and by version, and count those with a name of one', async () => {
    const byVersion = [
      ['elsewhere:v_9', 1, 10],
      [`${HANDLE}:1`, 1, 10],
      [`${HANDLE}:2`, 2, 20],
    ];
    await expectGroups({ group_by: 'prompt.id' }, AnalyticsGrouping.PROMPT_ID, [
      ['elsewhere', 1, 10],
      [HANDLE, 3, 30],
      [null, 1, 10],
    ]);
    await expectGroups({ group_by: 'prompt.version' }, AnalyticsGrouping.PROMPT_VERSION, [...byVersion, [null, 1, 10]]);
    const ofPrompt = { group_by: 'prompt.version', prompt_id: prompt.id };
    await expectGroups(ofPrompt, AnalyticsGrouping.PROMPT_VERSION, byVersion.slice(1));
    const ofVersion = { group_by: 'none', prompt_version: prompt.versionId };
    await expectGroups(ofVersion, AnalyticsGrouping.NONE, [[null, 2, 20]]);
  });

  it('are there for charts, by the names of filters', async () => {
    const metric = { metric: 'metadata.trace_id', aggregation: 'cardinality' };
    const filters = { 'prompt.id': [HANDLE] };
    await expectEverywhere(app.address, {
      ...{ name: 'timeseries', headers: key(), status: 200 },
      rest: {
        ...{ verb: 'POST', path: '/api/analytics/timeseries' },
        body: { startDate: FROM, endDate: TO, series: [metric], groupBy: 'prompt.version', timeScale: 'full', filters },
      },
      rpc: {
        method: TimeseriesService.method.queryTimeseries,
        request: {
          ...{ startDate: timestampFromMs(FROM), endDate: timestampFromMs(TO), series: [metric] },
          ...{ groupBy: 'prompt.version', timeScaleJson: '"full"', filters: rpcFilters(filters) },
        },
      },
      check: ({ currentPeriod: [point] }) =>
        expect(point['prompt.version']).toEqual({
          [`${HANDLE}:1`]: { '0/metadata.trace_id/cardinality': 1 },
          [`${HANDLE}:2`]: { '0/metadata.trace_id/cardinality': 2 },
        }),
    });
  });
});

describe('spend, over REST and gRPC', () => {
  it.each<[query: string, request: () => object, expected: readonly unknown[]]>([
    [
      'group_by=prompt.version',
      () => ({ groupBy: SpendGrouping.PROMPT_VERSION }),
      [
        [`${HANDLE}:2`, 2],
        ['elsewhere:v_9', 1],
        [`${HANDLE}:1`, 1],
        [null, 1],
      ],
    ],
    [
      `group_by=prompt.id&prompt_id=${HANDLE}`,
      () => ({ groupBy: SpendGrouping.PROMPT_ID, promptId: HANDLE }),
      [[HANDLE, 3]],
    ],
    ['prompt_version=v_9', () => ({ promptVersion: 'v_9' }), [[null, 1]]],
    ['prompt_id=', () => ({ promptId: '' }), [[null, 1]]],
  ])('of requests in linked traces: %s', async (query, request, expected) => {
    const range = { occurredFrom: timestampFromMs(FROM), occurredTo: timestampFromMs(TO) };
    await expectEverywhere(app.address, {
      ...{ name: query, headers: { authorization: `Bearer ${app.adminKey}` }, status: 200 },
      rest: { path: `/api/gateway/v1/spend?from=${FROM}&to=${TO}&${query}` },
      rpc: { method: SpendService.method.querySpend, request: { ...range, ...request() } },
      check: ({ data }) => expect(data.map(({ group, requests }: Body) => [group, requests])).toEqual(expected),
    });
  });
});
