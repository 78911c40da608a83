import { describe, expect, it } from 'vitest';
import { createBackfills } from '../../src/domain/management/backfill.ts';
import { createShareBackfill } from '../../src/domain/pricing/share-backfill.ts';
import { SPANS_READ_THROUGH_MAX } from '../../src/domain/traces/trace-aggregates.ts';
import type { Wait } from '../../src/scheduling/schedule.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { pricesOfNobody } from '../support/pricing.ts';
import { type Body, callRest } from '../support/surfaces.ts';
import { createTestDatabase } from '../support/test-database.ts';

const HOUR_MS = 3_600_000;
const NOW = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
const MODEL = 'gpt-4o-2024-11-20';

/** Jobs do not run: each test decides when the backfill does. */
const waitForTheEnd: Wait = (_, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

function span(id: string, parent: string | null, type: string, [prompt, completion]: readonly [number, number]): Body {
  return {
    span_id: id,
    parent_id: parent,
    type,
    model: MODEL,
    metrics: { prompt_tokens: prompt, completion_tokens: completion },
    timestamps: { started_at: NOW, finished_at: NOW + 1 },
  };
}

const AGENT = [
  span('agent', null, 'agent', [300, 30]),
  span('a', 'agent', 'llm', [100, 10]),
  span('b', 'agent', 'llm', [200, 20]),
];
const CALLS = SPANS_READ_THROUGH_MAX + 50;
const LARGE = [
  span('agent', null, 'agent', [2 * CALLS, CALLS]),
  ...Array.from({ length: CALLS }, (_, index) => span(`call ${index}`, 'agent', 'llm', [2, 1])),
];

const [IN_SPANS, IN_TRACES] = ['trace_sequence', 'sequence'].map(
  (sequence) => `${sequence} IN (SELECT sequence FROM traces WHERE span_count <= ${SPANS_READ_THROUGH_MAX})`,
);
const sumOf = (column: string) => `(SELECT sum(${column}) FROM spans WHERE ${IN_SPANS})`;
const sumOfTrace = (column: string) =>
  `(SELECT sum(${column}) FROM spans WHERE project_number = traces.project_number AND trace_sequence = traces.sequence)`;

/** Makes rows as they were before shares existed: every sum is that of what the spans report. */
const BEFORE_SHARES = [
  'UPDATE spans SET call_row = NULL, total_input = NULL, total_output = NULL, share_rates = NULL',
  `UPDATE traces SET prompt_tokens = ${sumOfTrace('prompt_tokens')}, completion_tokens = ${sumOfTrace('completion_tokens')},
    total_cost_nano_usd = ${sumOfTrace('cost_nano_usd')}`,
  `UPDATE analytics_hours SET prompt_tokens = ${sumOf('prompt_tokens')}, completion_tokens = ${sumOf('completion_tokens')},
    cost_usd = 0, cost_rest_nano_usd = ${sumOf('cost_nano_usd')}, traces = (SELECT count(*) FROM traces WHERE ${IN_TRACES}),
    spans = (SELECT count(*) FROM spans WHERE ${IN_SPANS})`,
  'UPDATE analytics_hours SET prompt_known = spans, completion_known = spans, cost_known = spans WHERE "grouping" = 1',
  'UPDATE analytics_hours SET prompt_known = traces, completion_known = traces, cost_known = traces WHERE "grouping" = 0',
  'DELETE FROM analytics_hours WHERE writer <> (SELECT min(writer) FROM analytics_hours)',
  'DELETE FROM usage_nodes',
  `UPDATE traces SET aggregates = '{"outdated":"upgrade","hasNodes":false}' WHERE span_count > ${SPANS_READ_THROUGH_MAX}`,
  "INSERT INTO backfills VALUES ('trace-shares', '', 0, NULL, 0, 0)",
].join(';\n');

/** Starts a server over traces that were stored before shares existed. */
async function openOld(traces: Readonly<Record<string, readonly Body[]>>, alsoDo = ''): Promise<TestApp> {
  const database = await createTestDatabase();
  const options = { clock: () => NOW, wait: waitForTheEnd };
  const before = await startApp({ ...options, database: { ...database, remove: async () => undefined } });
  for (const [traceId, spans] of Object.entries(traces)) await send(before, traceId, spans);
  await before.close();
  await database.execute(`${BEFORE_SHARES};${alsoDo}`);
  return { ...(await startApp({ ...options, database })), projectKey: before.projectKey, adminKey: before.adminKey };
}

async function call({ address, projectKey }: TestApp, verb: string, path: string, body?: Body): Promise<Body> {
  const headers = { 'x-auth-token': projectKey };
  const answer = await callRest(address, { verb, path, headers, ...(body === undefined ? {} : { body }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

const send = (app: TestApp, traceId: string, spans: readonly Body[]) =>
  call(app, 'POST', '/api/collector', { trace_id: traceId, spans });

const shareBackfillOf = ({ store }: TestApp) => createShareBackfill({ store: store.measuring, prices: pricesOfNobody });

/** Returns how many spans it measured. */
async function runToEnd(app: TestApp): Promise<number> {
  const { store } = app;
  const { step } = createBackfills({
    store: store.backfills,
    rewrites: { 'trace-shares': shareBackfillOf(app) },
    clock: () => NOW,
    log: { info: () => undefined },
  });
  while ((await step()) === 'more');
  const [backfill] = await store.backfills.list();
  expect(backfill).toMatchObject({ name: 'trace-shares', finishedAtMs: NOW });
  return backfill?.rowsDone ?? 0;
}

const usage = (prompt: number, completion: number, cost: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_cost: cost,
});

const ofTrace = async (app: TestApp, traceId: string) => (await call(app, 'GET', `/api/traces/${traceId}`)).metrics;

async function ofSearch(app: TestApp, traceId: string): Promise<Body> {
  const { traces } = await call(app, 'POST', '/api/traces/search', { startDate: NOW - 1, endDate: NOW + HOUR_MS });
  return traces.find((trace: Body) => trace.trace_id === traceId).metrics;
}

/** Percentiles would make analytics read the traces instead of the hourly sums. */
async function ofAnalytics(app: TestApp, grouping: 'none' | 'model'): Promise<Body> {
  const range = `from=${NOW}&to=${NOW + HOUR_MS - 1}&interval=total&group_by=${grouping}`;
  const metrics = 'metrics=traces,spans,prompt_tokens,completion_tokens,total_cost';
  const { buckets } = await call(app, 'GET', `/api/analytics?${range}&${metrics}`);
  expect(buckets.length).toBeLessThan(2);
  return buckets[0] ?? null;
}

async function expectAnalytics(app: TestApp, wanted: object): Promise<void> {
  expect(await ofAnalytics(app, 'none')).toMatchObject(wanted);
  expect(await ofAnalytics(app, 'model')).toMatchObject(wanted);
}

async function listEvents(app: TestApp): Promise<readonly Body[]> {
  const headers = { authorization: `Bearer ${app.adminKey}` };
  const path = '/api/webhooks/v1/events?from=0&to=9007199254740991&limit=200';
  return (await callRest(app.address, { path, headers })).body.data;
}

export function shareBackfillCases(): void {
  describe('traces that were stored before shares existed', () => {
    it('count once after the backfill: in the trace, in search and in analytics', async () => {
      const app = await openOld({ small: AGENT });
      expect(await ofTrace(app, 'small')).toMatchObject(usage(600, 60, 0.0021));
      await expectAnalytics(app, usage(600, 60, 0.0021));
      const events = await listEvents(app);

      expect(await runToEnd(app)).toBe(AGENT.length);
      const check = async () => {
        expect(await ofTrace(app, 'small')).toMatchObject(usage(300, 30, 0.00105));
        expect(await ofSearch(app, 'small')).toMatchObject(usage(300, 30, 0.00105));
        await expectAnalytics(app, { traces: 1, spans: 3, ...usage(300, 30, 0.00105) });
        expect(await listEvents(app)).toEqual(events);
      };
      await check();

      // A step whose progress was lost runs again.
      expect(await shareBackfillOf(app)('')).toMatchObject({ rows: 0 });
      await check();
      await app.close();
    });

    it('count once when they are large, also with a later span', async () => {
      const app = await openOld({ small: AGENT, large: LARGE });
      expect(await runToEnd(app)).toBe(AGENT.length + LARGE.length);
      const large = usage(2 * CALLS, CALLS, 0.00375);
      expect(await ofTrace(app, 'large')).toMatchObject(large);
      expect(await ofSearch(app, 'large')).toMatchObject(large);
      await expectAnalytics(app, { traces: 2, spans: 254, ...usage(800, 280, 0.0048) });
      await send(app, 'large', [span('later', 'agent', 'llm', [100, 10])]);
      expect(await ofTrace(app, 'large')).toMatchObject({ prompt_tokens: 600, completion_tokens: 260 });
      await app.close();
    });

    it('are right in analytics when a span comes before the backfill, and after it', async () => {
      const app = await openOld({ one: AGENT, other: AGENT });
      await send(app, 'one', [span('c', 'agent', 'llm', [50, 5])]);
      await expectAnalytics(app, { traces: 2, spans: 7, prompt_tokens: 950, completion_tokens: 95 });
      await send(app, 'one', [span('d', 'agent', 'llm', [1, 1])]);
      await expectAnalytics(app, { traces: 2, spans: 8, prompt_tokens: 951, completion_tokens: 96 });
      await runToEnd(app);
      await expectAnalytics(app, { traces: 2, spans: 8, prompt_tokens: 651, completion_tokens: 66 });
      await send(app, 'other', [span('c', 'agent', 'llm', [50, 5])]);
      await expectAnalytics(app, { traces: 2, spans: 9, prompt_tokens: 701, completion_tokens: 71 });
      await app.close();
    });

    it('leave nothing in analytics when they are removed before the backfill, or after it', async () => {
      const app = await openOld({ one: AGENT, other: AGENT });
      await call(app, 'DELETE', '/api/traces/one');
      await expectAnalytics(app, { traces: 1, spans: 3, ...usage(600, 60, 0.0021) });
      expect(await runToEnd(app)).toBe(AGENT.length);
      await expectAnalytics(app, { traces: 1, spans: 3, ...usage(300, 30, 0.00105) });
      await call(app, 'DELETE', '/api/traces/other');
      expect(await ofAnalytics(app, 'none')).toBeNull();
      expect(await ofAnalytics(app, 'model')).toBeNull();
      await app.close();
    });

    it('keep the request of a span that turns out not to be a call', async () => {
      const outer = '{"attributes":{"operation.name":"ai.generateText"}}';
      const app = await openOld({ small: [AGENT[1]] }, `UPDATE spans SET telemetry = '${outer}'`);
      const idsOf = (events: readonly Body[]) => [...new Set(events.map(({ data }) => data.gateway_request_id))];
      const ids = idsOf(await listEvents(app));
      expect(ids).toHaveLength(1);
      await runToEnd(app);
      await send(app, 'small', [{ ...AGENT[1], params: { gateway_request_id: 'another' } }]);
      expect(idsOf(await listEvents(app))).toEqual(ids);
      await app.close();
    });

    it('price the share of a span that holds more than its calls', async () => {
      const app = await openOld({ small: [span('agent', null, 'agent', [400, 30]), ...AGENT.slice(1)] });
      await runToEnd(app);
      expect(await ofTrace(app, 'small')).toMatchObject(usage(400, 30, 0.0013));
      await expectAnalytics(app, usage(400, 30, 0.0013));
      await app.close();
    });
  });
}
