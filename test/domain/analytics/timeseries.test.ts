/** Timeseries over sums that are given. */

import { describe, expect, it } from 'vitest';
import { NO_DURATIONS, noSums, totalsOfSums } from '../../../src/domain/analytics/sums.ts';
import { createTimeseries } from '../../../src/domain/analytics/timeseries.ts';

const DAY_MS = 86_400_000;
const FROM = Date.UTC(2026, 5, 8);
const TRACES = '0/metadata.trace_id/cardinality';
const P95 = '0/performance.completion_time/p95';
const project = { id: 'p', number: 1 } as never;

const bucketOf = (startMs: number, group: string | null, p95 = 0) => ({
  ...{ startMs, endMs: startMs + DAY_MS, group, feedback: null },
  totals: {
    ...totalsOfSums({ ...noSums(), traces: 1 }, NO_DURATIONS),
    totalTimeMs: { p50: p95, p95, p99: p95 },
  },
});
const series = (metric: string, aggregation: string) => ({ metric, aggregation, key: null });

type Buckets = readonly ReturnType<typeof bucketOf>[];
type Asked = { readonly fromMs: number; readonly interval: unknown };

type Around = { readonly passedMs?: () => number; readonly isLeft?: () => boolean };

function query(
  changes: object,
  bucketsOf: (asked: Asked) => Buckets,
  { passedMs = () => 0, isLeft = () => false }: Around = {},
) {
  const analytics = {
    query: async (asked: Asked) => ({ isTruncated: false, buckets: bucketsOf(asked) }),
    queryEvaluations: async () => ({ isTruncated: false, buckets: [] }),
  };
  return createTimeseries({ analytics: analytics as never, passedMs }).query(
    {
      ...{ fromMs: FROM, toMs: FROM + 7 * DAY_MS - 1, series: [series('metadata.trace_id', 'cardinality')] },
      ...{ groupBy: null, timeScaleJson: null, timeZone: null, filters: [], ...changes },
    },
    {
      ...{ project, nowMs: FROM },
      checkConnected() {
        if (isLeft()) throw new Error('left');
      },
    },
  );
}

describe('the range before', () => {
  const week = Array.from({ length: 7 }, (_, day) => bucketOf(FROM - (7 - day) * DAY_MS, null));

  it('is whole where the range itself has gaps', async () => {
    const { current, previous } = await query({}, ({ fromMs }) => (fromMs < FROM ? week : [bucketOf(FROM, null)]));
    expect([current.length, previous.length]).toEqual([1, 7]);
    const full = await query({ timeScaleJson: '"full"' }, ({ fromMs }) => (fromMs < FROM ? week.slice(0, 1) : []));
    expect([full.current.length, full.previous.length]).toEqual([0, 1]);
  });

  it('has no more intervals than the range', async () => {
    const noon = { fromMs: FROM + DAY_MS / 2, toMs: FROM + DAY_MS - 1 };
    const days = [bucketOf(FROM - DAY_MS, null), bucketOf(FROM, null)];
    const { previous } = await query(noon, ({ fromMs }) => (fromMs < noon.fromMs ? days : []));
    expect(previous).toEqual([{ date: '2026-06-08T00:00:00.000Z', values: { [TRACES]: 1 } }]);
  });
});

it('sums are asked for in intervals of the length of the chart', async () => {
  const intervals: unknown[] = [];
  const asked = ({ interval }: Asked): Buckets => {
    intervals.push(interval);
    return [];
  };
  await query({ timeScaleJson: '30' }, asked);
  expect(intervals).toEqual([30, 30]);
});

it('a group of the name unknown stays apart from what has no value', async () => {
  const buckets = [bucketOf(FROM, 'unknown', 5), bucketOf(FROM, null, 900)];
  const of = { series: [series('performance.completion_time', 'p95')], groupBy: 'metadata.user_id' };
  const { current } = await query(of, ({ fromMs }) => (fromMs < FROM ? [] : buckets));
  expect(current[0]?.values).toEqual({
    'metadata.user_id': { unknown: { [P95]: 5 }, 'unknown (no value)': { [P95]: 900 } },
  });
  const alone = await query(of, ({ fromMs }) => (fromMs < FROM ? [] : buckets.slice(1)));
  expect(alone.current[0]?.values).toEqual({ 'metadata.user_id': { unknown: { [P95]: 900 } } });
});

describe('a query of several series', () => {
  const many = {
    series: [series('metadata.trace_id', 'cardinality'), series('performance.completion_time', 'p95')],
  };

  it('ends 25 seconds after it began', async () => {
    let nowMs = 0;
    let asked = 0;
    const answer = query(
      many,
      () => {
        asked += 1;
        nowMs += 13_000;
        return [];
      },
      { passedMs: () => nowMs },
    );
    await expect(answer).rejects.toMatchObject({ code: 'unavailable' });
    expect(asked).toBe(2);
  });

  it('ends when its client leaves', async () => {
    let asked = 0;
    const answer = query(
      many,
      () => {
        asked += 1;
        return [];
      },
      { isLeft: () => asked === 1 },
    );
    await expect(answer).rejects.toThrow('left');
    expect(asked).toBe(1);
  });
});
