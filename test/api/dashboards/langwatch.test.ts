/** The requests that LangWatch's SDK, command line and MCP server send, as their sources have them. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TimeseriesService } from '../../../gen/spandrel/v1/timeseries_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';

const DAY_MS = 86_400_000;
/** A Monday. */
const MONDAY = Date.UTC(2026, 2, 2);

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: () => MONDAY + 7 * DAY_MS });
  for (const [day, user] of [
    [0, 'ada'],
    [0, 'ada'],
    [0.02, 'bob'],
    [1, 'bob'],
    [-1, 'eve'],
  ] as const) {
    await send(MONDAY + day * DAY_MS + 3_600_000, user);
  }
});
afterAll(async () => {
  await app.close();
});

const headers = () => ({ 'x-auth-token': app.projectKey });

async function send(startedAtMs: number, user: string): Promise<void> {
  const body = { ...llmTrace(startedAtMs, hex(32)), metadata: { user_id: user, labels: [`of-${user}`] } };
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', body, headers: headers() });
  expect(answer.status, answer.text).toBe(200);
}

const RANGE = { startDate: MONDAY, endDate: MONDAY + 2 * DAY_MS - 1 };
const COUNT = { metric: 'metadata.trace_id', aggregation: 'cardinality' };
const traces = '0/metadata.trace_id/cardinality';

async function query(body: object): Promise<Body> {
  const answer = await callRest(app.address, {
    verb: 'POST',
    path: '/api/analytics/timeseries',
    body: { ...RANGE, series: [COUNT], timeZone: 'UTC', ...body },
    headers: headers(),
  });
  return { status: answer.status, text: answer.text, ...answer.body };
}

describe('POST /api/analytics/timeseries', () => {
  it('counts traces by day, and those of the range before, alike over every surface', async () => {
    await expectEverywhere(app.address, {
      name: 'timeseries',
      headers: headers(),
      rest: {
        verb: 'POST',
        path: '/api/analytics/timeseries',
        // As the command line sends it.
        body: { ...RANGE, series: [COUNT], timeZone: 'UTC' },
      },
      rpc: {
        method: TimeseriesService.method.queryTimeseries,
        request: {
          startDate: { seconds: BigInt(MONDAY / 1_000), nanos: 0 },
          endDate: { seconds: BigInt(MONDAY / 1_000 + 172_799), nanos: 999_000_000 },
          series: [COUNT],
        },
      },
      status: 200,
      check: (body) =>
        expect(body).toEqual({
          currentPeriod: [
            { date: '2026-03-02T00:00:00.000Z', [traces]: 3 },
            { date: '2026-03-03T00:00:00.000Z', [traces]: 1 },
          ],
          previousPeriod: [{ date: '2026-03-01T00:00:00.000Z', [traces]: 1 }],
        }),
    });
  });

  it('counts days of the time zone, whole ranges, and intervals of several hours', async () => {
    const west = await query({ timeZone: 'America/New_York' });
    expect(west.currentPeriod).toEqual([
      { date: '2026-03-01T05:00:00.000Z', [traces]: 3 },
      { date: '2026-03-02T05:00:00.000Z', [traces]: 1 },
    ]);
    expect((await query({ timeScale: 'full' })).currentPeriod).toEqual([{ date: 'full', [traces]: 4 }]);
    expect((await query({ timeScale: 180 })).currentPeriod[0]).toEqual({
      date: '2026-03-02T00:00:00.000Z',
      [traces]: 3,
    });
    const p95 = { metric: 'performance.completion_time', aggregation: 'p95' };
    for (const timeScale of [45, 180, 2 * 1_440]) {
      const { currentPeriod, text } = await query({ timeScale, series: [COUNT, p95] });
      expect(currentPeriod[0], text).toHaveProperty(['1/performance.completion_time/p95'], 1_200);
      const counts = currentPeriod.map((point: Body) => point[traces] as number);
      expect(counts.reduce((sum: number, count: number) => sum + count)).toBe(4);
      for (const { date } of currentPeriod) expect(Date.parse(date) % (timeScale * 60_000)).toBe(0);
    }
    expect((await query({ timeScale: 10_080 })).currentPeriod).toEqual([
      { date: '2026-03-02T00:00:00.000Z', [traces]: 4 },
    ]);
  });

  it('gives each metric of the command line that this server sums up', async () => {
    const { currentPeriod, text } = await query({
      timeScale: 'full',
      series: [
        COUNT,
        { metric: 'metadata.user_id', aggregation: 'cardinality' },
        { metric: 'performance.total_cost', aggregation: 'sum' },
        { metric: 'performance.completion_time', aggregation: 'p95' },
        { metric: 'performance.total_tokens', aggregation: 'sum' },
        { metric: 'performance.total_tokens', aggregation: 'avg' },
        { metric: 'evaluations.evaluation_pass_rate', aggregation: 'avg' },
        { metric: 'evaluations.evaluation_runs', aggregation: 'cardinality' },
      ],
    });
    const [point] = currentPeriod ?? [];
    const sum = point?.['4/performance.total_tokens/sum'];
    expect(point, text).toMatchObject({
      [traces]: 4,
      '1/metadata.user_id/cardinality': 2,
      '2/performance.total_cost/sum': expect.any(Number),
      '3/performance.completion_time/p95': expect.any(Number),
      '5/performance.total_tokens/avg': sum / 4,
      '7/evaluations.evaluation_runs/cardinality': 0,
    });
    expect(sum).toBeGreaterThan(0);
    // No evaluation has a verdict: that is not a rate of 0.
    expect(Object.keys(point)).not.toContain('6/evaluations.evaluation_pass_rate/avg');
  });

  it('groups as the MCP server asks, and filters', async () => {
    const grouped = await query({ timeScale: 'full', groupBy: 'metadata.user_id' });
    expect(grouped.currentPeriod).toEqual([
      { date: 'full', 'metadata.user_id': { ada: { [traces]: 2 }, bob: { [traces]: 2 } } },
    ]);
    const filtered = await query({ timeScale: 'full', filters: { 'metadata.labels': ['of-ada'] } });
    expect(filtered.currentPeriod).toEqual([{ date: 'full', [traces]: 2 }]);
    const failed = await query({ timeScale: 'full', filters: { 'traces.error': ['true'] } });
    expect(failed.currentPeriod).toEqual([{ date: 'full', [traces]: 0 }]);
  });

  it.each([
    ['a metric that it does not sum up', { series: [{ metric: 'sentiment.thumbs_up_down', aggregation: 'avg' }] }],
    ['the mean of durations', { series: [{ metric: 'performance.completion_time', aggregation: 'avg' }] }],
    ['a pipeline', { series: [{ ...COUNT, pipeline: { field: 'user_id', aggregation: 'avg' } }] }],
    ['filters of one series', { series: [{ ...COUNT, filters: { 'spans.model': ['m'] } }] }],
    ['a key where there is none', { series: [{ ...COUNT, key: 'k' }] }],
    ['no series', { series: [] }],
    ['eleven series', { series: Array(11).fill(COUNT) }],
    ['an unknown grouping', { groupBy: 'topics.topics' }],
    ['a grouping that its series lacks', { groupBy: 'evaluations.evaluation_label' }],
    ['an unknown filter', { filters: { 'topics.topics': ['t'] } }],
    ['two values of a filter', { filters: { 'metadata.labels': ['a', 'b'] } }],
    ['failed traces by model', { filters: { 'traces.error': ['true'] }, groupBy: 'metadata.model' }],
    ['a subkey', { series: [{ ...COUNT, subkey: 'k' }] }],
    ['a query', { query: 'words' }],
    ['a key of the grouping', { groupBy: 'metadata.model', groupByKey: 'k' }],
    ['single traces', { traceIds: ['t'] }],
    ['negated filters', { negateFilters: true }],
    ['a time scale of text', { timeScale: 'daily' }],
    ['an unknown time zone', { timeZone: 'Mars/Olympus' }],
    ['a range that ends before it begins', { endDate: MONDAY - 1 }],
    ['seconds', { startDate: MONDAY / 1_000 }],
  ])('refuses %s', async (_name, body) => {
    const { status, text } = await query(body);
    expect(status, text).toBe(422);
  });
});

describe('members of LangWatch that are not available here', () => {
  const named = { subkey: '', pipeline: null, filters: { 'spans.model': [] } };
  const silent = { query: '', traceIds: [], negateFilters: false, groupByKey: null };

  it('count as absent where they say nothing', async () => {
    const { status, text } = await query({ ...silent, series: [{ ...COUNT, ...named }] });
    expect(status, text).toBe(200);
  });

  it('are named each where they say something', async () => {
    const series = [COUNT, { ...COUNT, subkey: 'k', pipeline: { field: 0 }, filters: { 'spans.model': ['m'] } }];
    const { fields, reasons } = await query({ series, query: 'words', traceIds: ['t'], negateFilters: true });
    const ofSeries = ['series.1.filters', 'series.1.pipeline', 'series.1.subkey'];
    expect(fields.toSorted()).toEqual(['negateFilters', 'query', ...ofSeries, 'traceIds']);
    expect(reasons).toContainEqual(expect.objectContaining({ message: 'query is not available on this server' }));
  });
});

describe('the command line of LangWatch', () => {
  it('makes, lists, changes and deletes graphs of a dashboard', async () => {
    const ask = async (verb: string, path: string, body?: object) =>
      await callRest(app.address, {
        verb,
        path,
        headers: { authorization: `Bearer ${app.projectKey}`, ...headers() },
        ...(body && { body }),
      });
    const { body: dashboard } = await ask('POST', '/api/dashboards', { name: 'From the command line' });
    const { body: graph, status } = await ask('POST', '/api/graphs', {
      name: 'Cost',
      graph: { graphId: 'custom', graphType: 'line', series: [COUNT], includePrevious: true, timeScale: 1440 },
      dashboardId: dashboard.id,
      filters: { 'spans.model': ['gpt-5-mini'] },
      colSpan: 2,
    });
    expect([status, graph.dashboardId, graph.colSpan]).toEqual([201, dashboard.id, 2]);
    const { body: listed } = await ask('GET', `/api/graphs?dashboardId=${dashboard.id}`);
    expect(listed).toEqual([graph]);
    const { body: renamed } = await ask('PATCH', `/api/graphs/${graph.id}`, { name: 'Costs' });
    expect(renamed.name).toBe('Costs');
    expect((await ask('DELETE', `/api/graphs/${graph.id}`)).body).toEqual({ id: graph.id, deleted: true });
    const missing = await ask('GET', `/api/graphs/${graph.id}`);
    expect([missing.status, missing.body.error]).toEqual([404, 'Graph not found']);
    expect((await ask('DELETE', `/api/dashboards/${dashboard.id}`)).body.name).toBe('From the command line');
  });
});
