import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { EvaluationGrouping } from '../../../gen/spandrel/v1/evaluation_analytics_pb.js';
import { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';
import { mint, restrictedTo } from '../keys/keys-client.ts';
import { createClient } from './evaluations-client.ts';

const { queryEvaluationAnalytics } = EvaluationService.method;
const MATCH = 'langevals/exact_match';
const DAY_MS = 86_400_000;
/** The start of a day. */
const FIRST_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 2 * DAY_MS;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  for (const [day, outputs] of [['right', 'right', 'wrong'], ['wrong']].entries()) {
    for (const [index, output] of outputs.entries()) {
      const trace_id = `analysed-${day}-${index}`;
      const startedAt = FIRST_MS + day * DAY_MS + index;
      const span = { span_id: 's', type: 'span', timestamps: { started_at: startedAt, finished_at: startedAt + 5 } };
      await client.rest('/api/collector', { trace_id, spans: [span] });
      const data = { output, expected_output: 'right' };
      await client.rest(`/api/evaluations/${MATCH}/evaluate`, { data, trace_id, evaluator_id: 'match' });
    }
  }
  const custom = { evaluation_id: 'labelled', name: 'tone', evaluator_id: 'tone', label: 'rude', score: 0.25 };
  await client.rest('/api/collector', { trace_id: 'analysed-0-0', spans: [], evaluations: [custom] });
  await client.rest('/api/evaluations/langevals/llm_score/evaluate', {
    data: { output: 'o' },
    trace_id: 'analysed-1-0',
  });
});
afterAll(async () => {
  await app.close();
});

const client = createClient(() => app);
const RANGE = { from: FIRST_MS, to: FIRST_MS + 2 * DAY_MS };

const INTERVALS: { readonly [word: string]: number } = { day: AnalyticsInterval.DAY, total: AnalyticsInterval.TOTAL };
const GROUPINGS: { readonly [word: string]: number } = {
  evaluator_id: EvaluationGrouping.EVALUATOR_ID,
  label: EvaluationGrouping.LABEL,
};

type AnalyticsQuery = Body & { readonly from?: number; readonly to?: number };

function query(sent: AnalyticsQuery, expected: Pick<SurfaceCase, 'status'> & Partial<SurfaceCase>): SurfaceCase {
  const { from, to, interval, group_by: groupBy, evaluator_id: evaluatorId, metrics, label, limit } = sent;
  const parameters = Object.entries(sent).map(([name, value]): [string, string] => [name, String(value)]);
  return {
    name: JSON.stringify(parameters),
    headers: client.key(),
    rest: { path: `/api/analytics/evaluations?${new URLSearchParams(parameters)}` },
    rpc: {
      method: queryEvaluationAnalytics,
      request: {
        ...(from === undefined ? {} : { startedFrom: timestampFromMs(from) }),
        ...(to === undefined ? {} : { startedTo: timestampFromMs(to) }),
        ...(interval === undefined ? {} : { interval: INTERVALS[interval] ?? 99 }),
        ...(groupBy === undefined ? {} : { groupBy: GROUPINGS[groupBy] ?? 99 }),
        ...{ evaluatorId, metrics, label, limit },
      },
    },
    ...expected,
  };
}

const ask = (parameters: AnalyticsQuery, check: (body: Body) => void) =>
  expectEverywhere(app.address, query({ ...RANGE, ...parameters }, { status: 200, check }));

describe('analytics of evaluations', () => {
  it('sum up scores and verdicts of an evaluator by day', async () => {
    await ask({ evaluator_id: 'match' }, (body) => {
      const { buckets, ...rest } = body;
      expect(rest).toEqual({ ...RANGE, interval: 'day', group_by: 'none', truncated: false });
      const [start, next] = [FIRST_MS, FIRST_MS + DAY_MS];
      const none = { group: null, skipped: 0, errors: 0 };
      expect(buckets).toEqual([
        {
          ...{ start, end: next, ...none, evaluations: 3, processed: 3, passed: 2, failed: 1, pass_rate: 2 / 3 },
          ...{ scored: 3, score_mean: 2 / 3, score_min: 0, score_max: 1, score_p50: 1, score_p95: 1 },
        },
        {
          ...{
            start: next,
            end: next + DAY_MS,
            ...none,
            evaluations: 1,
            processed: 1,
            passed: 0,
            failed: 1,
            pass_rate: 0,
          },
          ...{ scored: 1, score_mean: 0, score_min: 0, score_max: 0, score_p50: 0, score_p95: 0 },
        },
      ]);
    });
  });

  it('distinguish evaluators and labels, and return only the requested metrics', async () => {
    const metrics = 'evaluations, skipped,score_mean';
    await ask({ group_by: 'evaluator_id', interval: 'total', metrics }, ({ buckets, group_by }) => {
      expect(group_by).toBe('evaluator_id');
      const [start, end] = [RANGE.from, RANGE.to + 1];
      expect(buckets).toEqual([
        { start, end, group: 'langevals/llm_score', evaluations: 1, skipped: 1, score_mean: null },
        { start, end, group: 'match', evaluations: 4, skipped: 0, score_mean: 0.5 },
        { start, end, group: 'tone', evaluations: 1, skipped: 0, score_mean: 0.25 },
      ]);
    });
    await ask({ group_by: 'label', interval: 'total', metrics: 'evaluations' }, ({ buckets }) => {
      expect(buckets.map(({ group, evaluations }: Body) => [group, evaluations])).toEqual([
        ['rude', 1],
        [null, 5],
      ]);
    });
    await ask({ label: 'rude', metrics: 'score' }, ({ buckets }) => {
      expect(buckets).toHaveLength(1);
      expect(Object.keys(buckets[0]).filter((key) => key.startsWith('score'))).toHaveLength(6);
    });
  });

  it('keep the groups with the most evaluations', async () => {
    await ask({ group_by: 'evaluator_id', interval: 'total', limit: 1 }, ({ buckets, truncated }) => {
      expect([buckets.map(({ group }: Body) => group), truncated]).toEqual([['match'], true]);
    });
  });

  it('are refused for a range, a metric or a grouping that is none', async () => {
    const refused = { status: 422, code: 'validation_error' };
    for (const wrong of [
      { from: 5, to: 4 },
      { to: 5 },
      { ...RANGE, metrics: 'x' },
      { ...RANGE, group_by: 'model' },
      { ...RANGE, limit: 0 },
    ]) {
      await expectEverywhere(app.address, query(wrong, refused));
    }
    const hour = 3_600_000;
    const { status, body } = await callRest(app.address, {
      path: `/api/analytics/evaluations?from=0&to=${hour}&interval=century`,
      headers: client.key(),
    });
    expect([status, body.code]).toEqual([422, 'validation_error']);
  });

  it('are for those with the permission, and of their own project', async () => {
    const wrong = { 'x-auth-token': `${app.projectKey.slice(0, -1)}!` };
    await expectEverywhere(app.address, query(RANGE, { status: 401, code: 'missing_credentials', headers: {} }));
    await expectEverywhere(app.address, query(RANGE, { status: 401, code: 'invalid_credentials', headers: wrong }));
    const { token } = await mint(app, restrictedTo(app, 'evaluations:view'));
    const headers = { 'x-auth-token': token, 'x-project-id': app.projectId };
    await expectEverywhere(app.address, query(RANGE, { status: 403, code: 'api_key_permission_denied', headers }));
    const project = {
      verb: 'POST',
      path: '/api/projects',
      headers: { 'x-auth-token': app.adminKey },
      body: { name: 'Other' },
    };
    const { body } = await callRest(app.address, project);
    const check = ({ buckets }: Body) => expect(buckets).toEqual([]);
    await expectEverywhere(app.address, query(RANGE, { status: 200, headers: { 'x-auth-token': body.apiKey }, check }));
  });
});
