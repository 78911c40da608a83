/** The series that charts of the console draw. */

import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnalyticsInterval } from '../../gen/spandrel/v1/analytics_pb.js';
import { MonitorSchema } from '../../gen/spandrel/v1/monitors_pb.js';
import { monitorState } from '../../src/console/monitors/monitor-enums.ts';
import { readMonitorSearch } from '../../src/console/monitors/search.ts';
import { formatChange } from '../../src/console/overview/metrics.ts';
import {
  type Metric,
  meansInput,
  pointRange,
  rangeBefore,
  seriesInput,
  seriesOf,
} from '../../src/console/overview/series.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONDAY_MS = Date.UTC(2026, 0, 5);

type Bucket = { readonly startsAt: Timestamp; readonly value: number | null };

const bucket = (startMs: number, value: number | null): Bucket => ({ startsAt: timestampFromMs(startMs), value });
const metric = (emptyValue: 0 | null): Metric<Bucket> => ({
  label: 'Value',
  format: String,
  read: ({ value }) => value,
  emptyValue,
});

describe('a series', () => {
  const range = { fromMs: MONDAY_MS + 90 * 60_000, toMs: MONDAY_MS + 5 * HOUR_MS };
  const buckets = [bucket(MONDAY_MS + 2 * HOUR_MS, 7), bucket(MONDAY_MS + 4 * HOUR_MS, 9)];

  it('has a point for each interval, and 0 where a sum has no bucket', () => {
    const { seconds, values } = seriesOf(buckets, metric(0), range);
    expect(seconds.map((second) => second * 1_000 - MONDAY_MS)).toEqual([1, 2, 3, 4, 5].map((hour) => hour * HOUR_MS));
    expect(values).toEqual([0, 7, 0, 9, 0]);
  });

  it('has a gap where a mean has no bucket, or its bucket no value', () => {
    const withoutValue = [...buckets, bucket(MONDAY_MS + 5 * HOUR_MS, null)];
    expect(seriesOf(withoutValue, metric(null), range).values).toEqual([null, 7, null, 9, null]);
  });

  it('begins its weeks where the buckets do', () => {
    const year = { fromMs: MONDAY_MS + DAY_MS, toMs: MONDAY_MS + 200 * DAY_MS };
    const { seconds, values } = seriesOf([bucket(MONDAY_MS + 14 * DAY_MS, 3)], metric(0), year);
    expect(seconds[0]).toBe(MONDAY_MS / 1_000);
    expect(values.slice(0, 4)).toEqual([0, 0, 3, 0]);
    expect(values).toHaveLength(29);
  });
});

describe('the days of a chart', () => {
  const zone = process.env.TZ;
  beforeAll(() => {
    process.env.TZ = 'Asia/Tokyo';
  });
  afterAll(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
  /** In Tokyo it is the morning of Monday, the 5th of January. */
  const month = { fromMs: MONDAY_MS, toMs: MONDAY_MS + 30 * DAY_MS };
  const midnightMs = MONDAY_MS - 9 * HOUR_MS;

  it('are those of the reader, folded from hours, where it shows sums', () => {
    const hours = [bucket(MONDAY_MS + 14 * HOUR_MS, 3), bucket(MONDAY_MS + 15 * HOUR_MS, 4), bucket(MONDAY_MS, 1)];
    const { seconds, values, zone: shown } = seriesOf(hours, metric(0), month);
    expect([seriesInput(month).interval, shown, seconds[0]]).toEqual([
      AnalyticsInterval.HOUR,
      'local',
      midnightMs / 1_000,
    ]);
    expect(values.slice(0, 3)).toEqual([4, 4, 0]);
  });

  it('are those of UTC, and said to be, where it shows percentiles', () => {
    const { seconds, values, zone: shown } = seriesOf([bucket(MONDAY_MS, 7)], metric(null), month);
    expect([meansInput(month).interval, shown, seconds[0]]).toEqual([AnalyticsInterval.DAY, 'utc', MONDAY_MS / 1_000]);
    expect(values.slice(0, 2)).toEqual([7, null]);
  });
});

describe('the state of a monitor', () => {
  const monitor = create(MonitorSchema, { enabled: true });
  it.each([
    ['348 errors of 348', { evaluations: 348n, errors: 348n }, 'failing', 'bad'],
    ['2 errors of 348', { evaluations: 348n, errors: 2n }, 'some errors', 'warn'],
    ['348 skipped of 348', { evaluations: 348n, errors: 0n, skipped: 348n }, 'all skipped', 'warn'],
    ['3 skipped of 348', { evaluations: 348n, errors: 0n, skipped: 3n }, 'on', 'good'],
    ['no evaluations', undefined, 'on', 'good'],
  ])('with %s is told', (_, sum, text, tone) => {
    expect(monitorState(monitor, sum)).toEqual({ text, tone });
    expect(monitorState(create(MonitorSchema, { enabled: false }), sum)).toEqual({ text: 'off', tone: 'quiet' });
  });
});

describe('the address of a monitor', () => {
  it('holds tab, metric and range, and nothing else', () => {
    const search = { tab: 'settings', metric: 'p95', range: '7d' };
    expect(readMonitorSearch({ ...search, q: 'x' })).toEqual(search);
    expect(readMonitorSearch({ tab: 'scores', metric: 'sum', range: 'soon' })).toEqual({});
  });
});

describe('a point of a series', () => {
  it('stands for a part of the range, cut off at its ends', () => {
    const range = { fromMs: MONDAY_MS + 90 * 60_000, toMs: MONDAY_MS + 4 * HOUR_MS + 5 };
    const series = seriesOf([], metric(0), range);
    expect(pointRange(series, 0, range)).toEqual({
      range: 'custom',
      from: '2026-01-05T01:30:00.000Z',
      to: '2026-01-05T01:59:59.999Z',
    });
    expect(pointRange(series, 3, range)).toMatchObject({
      from: '2026-01-05T04:00:00.000Z',
      to: '2026-01-05T04:00:00.005Z',
    });
  });

  it('is compared with the range of the same length before', () => {
    const range = { fromMs: MONDAY_MS, toMs: MONDAY_MS + DAY_MS - 1 };
    expect(rangeBefore(range)).toEqual({ fromMs: MONDAY_MS - DAY_MS, toMs: MONDAY_MS - 1 });
  });
});

it('a change is a share with its sign, a factor where it is large, and none where nothing can be compared', () => {
  expect([formatChange(12, 10), formatChange(5, 10), formatChange(10, 10)]).toEqual([
    '+20% vs. before',
    '-50% vs. before',
    '0% vs. before',
  ]);
  expect([formatChange(500, 10), formatChange(3, 0)]).toEqual(['×50 vs. before', 'none before']);
  expect([formatChange(0, 0), formatChange(null, 3), formatChange(3, undefined)]).toEqual(['', '', '']);
});
