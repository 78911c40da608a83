import { expect, it } from 'vitest';
import { compareRanks, createRanking } from '../../../src/domain/analytics/group-ranking.ts';
import { createIntervalSums, type GroupSums, totalsOf } from '../../../src/domain/analytics/interval-sums.ts';
import { createNumberIds } from '../../../src/domain/analytics/number-ids.ts';
import { sumsOfTrace } from '../../../src/domain/analytics/sums.ts';
import { createTallies } from '../../../src/domain/analytics/tallies.ts';
import { ANY_TRACE, type AnalyticsQuery } from '../../../src/domain/analytics/trace-analytics-store.ts';
import { keyedGroupHash } from '../../../src/domain/group-parts.ts';
import { drawSeed, seeded } from '../../support/scenario.ts';

const HOUR_MS = 3_600_000;

it('finds the first groups of many, and all that tie with the last of them', () => {
  const random = seeded(drawSeed());
  const below = (count: number) => Math.floor(random() * count);
  for (const groupsMax of [1, 3, 100, 5_000, 20_000]) {
    const ranking = createRanking<{ traces: number; costUsd: number }>(groupsMax);
    const all = Array.from({ length: 12_000 }, () => ({ traces: below(40), costUsd: below(30) }));
    for (const group of all) ranking.add(group);
    const sorted = all.toSorted(compareRanks);
    const last = sorted[groupsMax - 1];
    const expected = last === undefined ? sorted : sorted.filter((each) => compareRanks(each, last) <= 0);
    expect(ranking.end()).toEqual({ groups: expected, count: 12_000 });
  }
});

it('gives each number one id, as long as there are ids', () => {
  const ids = createNumberIds(3_000);
  const numbers = Array.from({ length: 3_000 }, (_, index) => (index % 3 === 0 ? index : index * 2 ** 40) - 1);
  const expected = numbers.map((_, index) => index);
  expect(numbers.map(ids.idOf)).toEqual(expected);
  expect(numbers.toReversed().map(ids.idOf)).toEqual(expected.toReversed());
  expect(numbers.map((_, id) => ids.numberOf(id))).toEqual(numbers);
  expect(ids.idOf(2 ** 52)).toBeUndefined();
});

it('sums traces up by interval as tallies do, in any order', () => {
  const random = seeded(drawSeed());
  const below = (count: number) => Math.floor(random() * count);
  const orNull = (value: number) => (random() < 0.2 ? null : value);
  const traces = Array.from({ length: 3_000 }, () => ({
    startMs: below(50 * 24) * HOUR_MS + below(HOUR_MS),
    spanCount: below(5),
    hasError: random() < 0.1,
    promptTokens: orNull(below(100)),
    completionTokens: orNull(below(100)),
    totalCostNanoUsd: orNull(below(3_000_000_000)),
    totalTimeMs: orNull(below(1_000)),
    firstTokenMs: orNull(below(1_000)),
  }));
  for (const interval of ['minute', 'hour', 'day', 'week', 'month', 'total'] as const) {
    const query = { ...QUERY, interval };
    const sums = createIntervalSums(query);
    const group: GroupSums = new Map();
    for (const trace of traces) sums.add(group, trace);
    const found = [...group.values()].map((sum) => ({ ...sum.span, group: null, totals: totalsOf(sum) }));
    const tallies = createTallies(query, keyedGroupHash('key'));
    while (tallies.beginPass()) {
      for (const trace of traces.toSorted((one, other) => one.startMs - other.startMs)) {
        tallies.add(trace.startMs, {
          group: null,
          sums: sumsOfTrace(trace),
          firstTokensMs: trace.firstTokenMs === null ? [] : [trace.firstTokenMs],
          totalTimesMs: trace.totalTimeMs === null ? [] : [trace.totalTimeMs],
        });
      }
      tallies.endPass();
    }
    const buckets = found.toSorted((one, other) => one.startMs - other.startMs);
    expect({ kind: 'buckets', buckets, isTruncated: false }).toEqual(tallies.answer());
  }
});

it('says when the sums by interval need more memory than they may', () => {
  const sums = { spanCount: 1, hasError: false, promptTokens: 0, completionTokens: null, totalCostNanoUsd: null };
  const one = { ...sums, startMs: 0, totalTimeMs: 1, firstTokenMs: null };
  const cells = createIntervalSums(QUERY, { cellsMax: 1, valuesMax: 10 });
  const group: GroupSums = new Map();
  cells.add(group, one);
  expect(cells.isFull()).toBe(false);
  cells.add(group, { ...one, startMs: HOUR_MS });
  expect(cells.isFull()).toBe(true);
  const values = createIntervalSums(QUERY, { cellsMax: 10, valuesMax: 1 });
  for (let count = 0; count < 2; count += 1) values.add(new Map(), one);
  expect(values.isFull()).toBe(true);
});

const QUERY: AnalyticsQuery = {
  projectNumber: 1,
  expiredBeforeMs: null,
  fromMs: 0,
  toMs: 100 * 24 * HOUR_MS,
  interval: 'hour',
  groupBy: 'none',
  conditions: ANY_TRACE,
  hasPercentiles: true,
  groupsMax: 10,
  bucketsMax: 1_000_000,
};
