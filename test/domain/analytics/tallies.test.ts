import { expect, it } from 'vitest';
import { createDistribution, EXACT_VALUES_MAX } from '../../../src/domain/analytics/distribution.ts';
import { noSums } from '../../../src/domain/analytics/sums.ts';
import { createTallies } from '../../../src/domain/analytics/tallies.ts';
import { ANY_TRACE, type AnalyticsQuery } from '../../../src/domain/analytics/trace-analytics-store.ts';
import { keyedGroupHash } from '../../../src/domain/group-parts.ts';

const HOUR_MS = 3_600_000;
const QUERY: AnalyticsQuery = {
  projectNumber: 1,
  expiredBeforeMs: null,
  fromMs: 0,
  toMs: 100 * HOUR_MS,
  interval: 'hour',
  groupBy: 'user_id',
  conditions: ANY_TRACE,
  hasPercentiles: true,
  groupsMax: 10,
  bucketsMax: 1_000,
};

/** User n has a trace in each of n hours. */
function summarise(query: AnalyticsQuery, limits: { cellsMax: number; valuesMax: number }) {
  const tallies = createTallies(query, keyedGroupHash('key'), limits);
  let passes = 0;
  while (tallies.beginPass()) {
    passes += 1;
    for (let hour = 0; hour < 40; hour += 1) {
      for (let user = hour + 1; user <= 40; user += 1) {
        const durations = { firstTokensMs: [], totalTimesMs: [user * hour] };
        tallies.add(hour * HOUR_MS, { group: `user ${user}`, sums: { ...noSums(), traces: 1 }, ...durations });
      }
    }
    tallies.endPass();
  }
  return { passes, answer: tallies.answer() };
}

it('counts the same whether there is room for all groups or for a few at a time', () => {
  const whole = summarise(QUERY, { cellsMax: 10_000, valuesMax: 10_000 });
  expect(whole.passes).toBe(1);
  expect(whole.answer).toMatchObject({ kind: 'buckets', isTruncated: true });
  const fewCells = summarise(QUERY, { cellsMax: 400, valuesMax: 10_000 });
  const fewValues = summarise(QUERY, { cellsMax: 10_000, valuesMax: 9 });
  for (const { passes, answer } of [fewCells, fewValues]) {
    expect(passes).toBeGreaterThan(1);
    expect(answer).toEqual(whole.answer);
  }
});

it('refuses more buckets than an answer may hold, also where one group has too many of them', () => {
  const tooMany = { kind: 'too_many_buckets' };
  expect(summarise({ ...QUERY, bucketsMax: 300 }, { cellsMax: 10_000, valuesMax: 10_000 }).answer).toEqual(tooMany);
  expect(summarise(QUERY, { cellsMax: 10, valuesMax: 10_000 }).answer).toEqual(tooMany);
});

it('answers percentiles by nearest rank, exactly up to 10,000 values and within one in a hundred beyond', () => {
  expect(createDistribution().percentiles()).toBeNull();
  for (const [count, p50, p95, p99] of [
    [1, 1, 1, 1],
    [2, 1, 2, 2],
    [3, 2, 3, 3],
    [20, 10, 19, 20],
    [EXACT_VALUES_MAX, 5_000, 9_500, 9_900],
  ] as const) {
    const values = createDistribution();
    for (let value = count; value >= 1; value -= 1) values.add(value);
    expect(values.percentiles()).toEqual({ p50, p95, p99 });
  }
  for (const factor of [0, 1, 7, 1_000, 123_457]) {
    const values = createDistribution();
    for (let value = 1; value <= 30_000; value += 1) values.add(value * factor);
    expect(values.size()).toBeLessThan(3_000);
    const { p50 = 0, p95 = 0, p99 = 0 } = values.percentiles() ?? {};
    expect(Math.abs(p50 - 15_000 * factor)).toBeLessThanOrEqual(150 * factor);
    expect(Math.abs(p95 - 28_500 * factor)).toBeLessThanOrEqual(285 * factor);
    expect(Math.abs(p99 - 29_700 * factor)).toBeLessThanOrEqual(297 * factor);
  }
});
