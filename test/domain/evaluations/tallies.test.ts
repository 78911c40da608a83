import { describe, expect, it } from 'vitest';
import { createDistribution, EXACT_VALUES_MAX, SIGNED_BINS } from '../../../src/domain/analytics/distribution.ts';
import type { EvaluationAnalyticsQuery } from '../../../src/domain/analytics/trace-analytics-store.ts';
import { type CountedEvaluation, createEvaluationTallies } from '../../../src/domain/evaluations/analytics/tallies.ts';

const QUERY: EvaluationAnalyticsQuery = {
  projectNumber: 1,
  expiredBeforeMs: null,
  fromMs: 0,
  toMs: 1_000_000,
  interval: 'minute',
  groupBy: 'label',
  conditions: { evaluatorId: null, label: null, monitorId: null },
  hasPercentiles: true,
  groupsMax: 100,
  bucketsMax: 10,
};

function evaluation(over: Partial<CountedEvaluation>): CountedEvaluation {
  const nothing = { label: null, monitorId: null, passed: null, score: null };
  return { evaluatorId: 'e', ...nothing, status: 'processed', startMs: 0, ...over };
}

describe('percentiles of any numbers', () => {
  it('are exact while there are few, and within one part in a hundred beyond', () => {
    for (const count of [EXACT_VALUES_MAX, 3 * EXACT_VALUES_MAX]) {
      const values = createDistribution(SIGNED_BINS);
      const all = Array.from({ length: count }, (_, index) => (index - count / 4) / count);
      for (const value of all) values.add(value);
      const { p50 = 0, p95 = 0 } = values.percentiles() ?? {};
      const exact = (percent: number) => all[Math.ceil((percent * count) / 100) - 1] ?? 0;
      const error = count > EXACT_VALUES_MAX ? 0.01 : 0;
      expect(Math.abs(p50 - exact(50))).toBeLessThanOrEqual(error * exact(50));
      expect(Math.abs(p95 - exact(95))).toBeLessThanOrEqual(error * exact(95));
    }
  });

  it('distinguish zero and negative ones', () => {
    const values = createDistribution(SIGNED_BINS);
    for (let index = 0; index < 2 * EXACT_VALUES_MAX; index += 1) values.add(index % 10 === 0 ? 0 : -0.5);
    const { p50 = 0, p95 = 1 } = values.percentiles() ?? {};
    expect(Math.abs(p50 + 0.5)).toBeLessThanOrEqual(0.005);
    expect(p95).toBe(0);
    const huge = createDistribution(SIGNED_BINS);
    for (let index = 0; index <= EXACT_VALUES_MAX; index += 1) huge.add(1e300);
    expect(Math.abs((huge.percentiles()?.p50 ?? 0) / 1e300 - 1)).toBeLessThanOrEqual(0.01);
  });
});

describe('tallies of evaluations', () => {
  it('refuse more buckets than an answer may have, and stop where there is more than can be counted', () => {
    const few = createEvaluationTallies(QUERY);
    for (let minute = 0; minute < 11; minute += 1) few.add(evaluation({ startMs: minute * 60_000 }));
    expect(few.answer()).toEqual({ kind: 'too_many_buckets' });
    const cells = createEvaluationTallies(QUERY, { cellsMax: 2, valuesMax: 100 });
    expect([1, 2, 3].map((label) => cells.add(evaluation({ label: `${label}` })))).toEqual([true, true, false]);
    expect(cells.answer()).toEqual({ kind: 'too_many_buckets' });
    const scores = createEvaluationTallies(QUERY, { cellsMax: 100, valuesMax: 2 });
    expect([0, 1, 2].map((score) => scores.add(evaluation({ score })))).toEqual([true, true, false]);
    // The scores of a minute are let go when the next one begins.
    const two = createEvaluationTallies(QUERY, { cellsMax: 100, valuesMax: 2 });
    for (const startMs of [0, 1, 60_000, 60_001]) expect(two.add(evaluation({ score: 1, startMs }))).toBe(true);
    expect(two.answer()).toMatchObject({ buckets: [{ totals: { scored: 2 } }, { totals: { scored: 2 } }] });
  });

  it('put groups in the order of their names, the nameless last, and count no verdict where there is none', () => {
    const tallies = createEvaluationTallies({ ...QUERY, interval: 'total', groupsMax: 2 });
    for (const label of ['b', null, 'b', 'a', null]) tallies.add(evaluation({ label, status: 'error' }));
    expect(tallies.answer()).toMatchObject({
      isTruncated: true,
      buckets: [
        { group: 'b', totals: { evaluations: 2, errors: 2, passRate: null, scoreMean: null, scores: null } },
        { group: null, totals: { evaluations: 2 } },
      ],
    });
  });
});
