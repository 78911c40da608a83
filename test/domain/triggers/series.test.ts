import { describe, expect, it } from 'vitest';
import { observe, questionOf, seriesProblems } from '../../../src/domain/triggers/series.ts';

const series = (metric: string, aggregation: string, groupBy = 'none') => ({ metric, aggregation, groupBy });
const TOTALS = {
  traces: 20,
  spans: 60,
  errors: 3,
  promptTokens: 100,
  completionTokens: null,
  totalCostUsd: 0.5,
  firstTokenMs: null,
  totalTimeMs: { p50: 100, p95: 900, p99: 990 },
};
const bucket = (changes: object = {}, group: string | null = null) => ({
  startMs: 0,
  endMs: 1,
  group,
  totals: { ...TOTALS, ...changes },
});

describe('the series of a trigger', () => {
  it.each([
    ['traces', 'sum', 20],
    ['spans', 'avg', 3],
    ['errors', 'share', 15],
    ['total_cost', 'avg', 0.025],
    ['total_time_ms', 'p95', 900],
  ])('reads %s %s', (metric, aggregation, value) => {
    const answer = { of: 'traces', buckets: [bucket()] } as const;
    expect(observe(series(metric, aggregation), 'GT', answer)).toEqual({ kind: 'value', value, group: null });
  });

  it('has no data where the window has none, but counts no traces as 0', () => {
    const none = { of: 'traces', buckets: [] } as const;
    expect(observe(series('errors', 'share'), 'GT', none)).toEqual({ kind: 'no_data' });
    expect(observe(series('traces', 'sum'), 'LT', none)).toEqual({ kind: 'value', value: 0, group: null });
    const unknown = { of: 'traces', buckets: [bucket()] } as const;
    expect(observe(series('completion_tokens', 'sum'), 'GT', unknown)).toEqual({ kind: 'no_data' });
  });

  it('takes the worst group, by the direction of the comparison', () => {
    const answer = { of: 'traces', buckets: [bucket({ errors: 1 }, 'a'), bucket({ errors: 9 }, 'b')] } as const;
    expect(observe(series('errors', 'sum', 'model'), 'GTE', answer)).toMatchObject({ value: 9, group: 'b' });
    expect(observe(series('errors', 'sum', 'model'), 'LT', answer)).toMatchObject({ value: 1, group: 'a' });
  });

  it('asks analytics for the window and the filters that they can apply', () => {
    const filters = [{ name: 'spans.model', key: null, values: ['gpt-5'] }];
    const question = questionOf({ series: series('errors', 'sum'), filters }, { fromMs: 1, toMs: 2 });
    expect(question).toMatchObject({
      of: 'traces',
      request: { fromMs: 1, toMs: 2, interval: 'total', conditions: { model: 'gpt-5', userId: null, label: null } },
    });
    const judged = [{ name: 'evaluations.evaluator_id', key: null, values: ['evaluator_1'] }];
    expect(
      questionOf({ series: series('evaluation_score', 'p95'), filters: judged }, { fromMs: 1, toMs: 2 }),
    ).toMatchObject({
      of: 'evaluations',
      request: { conditions: { evaluatorId: 'evaluator_1' } },
    });
    expect(seriesProblems({ series: series('evaluation_score', 'p95'), filters })).toHaveLength(1);
    expect(seriesProblems({ series: series('evaluation_score', 'p95'), filters: judged })).toEqual([]);
  });
});
