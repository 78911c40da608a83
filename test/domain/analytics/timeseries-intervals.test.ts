/** The intervals of timeseries. */

import { describe, expect, it } from 'vitest';
import { isTimeZone, planIntervals } from '../../../src/domain/analytics/timeseries-intervals.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const iso = (ms: number) => new Date(ms).toISOString();

const plan = (scale: number | 'full', changes: object = {}) =>
  planIntervals({
    ...{
      fromMs: Date.UTC(2026, 2, 1),
      toMs: Date.UTC(2026, 3, 10),
      scale,
      timeZone: 'Europe/Berlin',
      mayBeLocal: true,
    },
    ...changes,
  });

describe('a plan of intervals', () => {
  it('begins days at midnight of the zone, also where the clock is changed', () => {
    const { interval, startOf } = plan(1_440);
    expect(interval).toBe('hour');
    // Summer time began at 01:00 UTC of the 29th.
    expect(iso(startOf(Date.UTC(2026, 2, 29, 0)))).toBe('2026-03-28T23:00:00.000Z');
    expect(iso(startOf(Date.UTC(2026, 2, 29, 21)))).toBe('2026-03-28T23:00:00.000Z');
    expect(iso(startOf(Date.UTC(2026, 2, 29, 22)))).toBe('2026-03-29T22:00:00.000Z');
  });

  it('begins weeks on Monday of the zone', () => {
    const { startOf } = plan(10_080);
    expect(iso(startOf(Date.UTC(2026, 2, 2, 12)))).toBe('2026-03-01T23:00:00.000Z');
    expect(iso(startOf(Date.UTC(2026, 2, 1, 22)))).toBe('2026-02-22T23:00:00.000Z');
  });

  it('counts in UTC where hours do not make up the days of the zone, and where the range is long', () => {
    expect(plan(1_440, { timeZone: 'Asia/Kolkata' })).toMatchObject({ interval: 'day', isFolded: false });
    expect(plan(1_440, { mayBeLocal: false })).toMatchObject({ interval: 'day', isFolded: false });
    expect(plan(1_440, { toMs: Date.UTC(2028, 0) })).toMatchObject({ interval: 'day', isFolded: false });
  });

  it('gives days where there would be more than a thousand points', () => {
    expect(plan(1, { toMs: Date.UTC(2026, 2, 1) + 999 * 60_000 })).toMatchObject({ interval: 'minute' });
    expect(plan(1, { mayBeLocal: false })).toMatchObject({ interval: 'day' });
  });

  it('asks for intervals of any length below a week, and of the calendar', () => {
    expect(plan(180)).toMatchObject({ interval: 180, isFolded: false });
    expect(plan(90).interval).toBe(90);
    expect(plan(60).interval).toBe('hour');
    expect(plan(3 * 1_440)).toMatchObject({ interval: 4_320, isFolded: false });
    expect(plan(30 * 1_440, { mayBeLocal: false }).interval).toBe('week');
    expect(plan(60 * 1_440).interval).toBe('month');
    expect(plan('full').interval).toBe('total');
  });

  it('begins a day once where clocks go back across midnight, and with its first hour', () => {
    for (const [timeZone, midnight] of [
      ['Atlantic/Azores', Date.UTC(2026, 9, 25)],
      ['America/Havana', Date.UTC(2026, 10, 1, 4)],
    ] as const) {
      const range = { fromMs: midnight - 5 * DAY_MS, toMs: midnight + 5 * DAY_MS };
      const { interval, startOf } = plan(1_440, { ...range, timeZone });
      expect(interval).toBe('hour');
      const hours = Array.from({ length: 240 }, (_, hour) => range.fromMs + hour * HOUR_MS);
      const starts = [...new Set(hours.map(startOf))];
      expect(starts.filter((start) => Math.abs(start - midnight) < 3 * HOUR_MS).map(iso)).toEqual([iso(midnight)]);
      expect(hours.filter((hour) => startOf(hour) === midnight)).toHaveLength(25);
    }
  });

  it('begins a day with its first hour where clocks skip midnight', () => {
    const { startOf } = plan(1_440, {
      ...{ fromMs: Date.UTC(2026, 8, 1), toMs: Date.UTC(2026, 8, 10), timeZone: 'America/Santiago' },
    });
    expect(iso(startOf(Date.UTC(2026, 8, 6, 12)))).toBe('2026-09-06T04:00:00.000Z');
    expect(iso(startOf(Date.UTC(2026, 8, 6, 3)))).toBe('2026-09-05T04:00:00.000Z');
  });

  it('counts in UTC where the zone is not whole hours from it for some of the range', () => {
    const year = { fromMs: Date.UTC(2026, 0, 5), toMs: Date.UTC(2026, 11, 20), timeZone: 'Australia/Lord_Howe' };
    expect(plan(1_440, year)).toMatchObject({ interval: 'day', isFolded: false });
  });

  it.each([
    [30, '2026-03-01T00:10:00Z', '2026-03-01T00:59:00Z', 2],
    [1_440, '2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z', 3],
    [10_080, '2026-02-28T12:00:00Z', '2026-03-02T12:00:00Z', 2],
    [60 * 1_440, '2025-12-31T12:00:00Z', '2026-02-01T12:00:00Z', 3],
    ['full', '2025-12-31T12:00:00Z', '2026-02-01T12:00:00Z', 1],
  ] as const)('counts the intervals of %s minutes from %s to %s', (scale, from, to, count) => {
    const range = { fromMs: Date.parse(from), toMs: Date.parse(to) };
    expect(plan(scale, range).count(range.fromMs, range.toMs)).toBe(count);
  });

  it('knows time zones by their names', () => {
    expect(['UTC', 'Europe/Lisbon', 'Mars/Olympus', ''].map(isTimeZone)).toEqual([true, true, false, false]);
  });

  it('covers every instant of a day in the zone', () => {
    const { startOf } = plan(1_440, { timeZone: 'America/New_York' });
    const starts = Array.from({ length: 24 * 30 }, (_, hour) => startOf(Date.UTC(2026, 2, 1) + hour * HOUR_MS));
    expect(starts).toEqual(starts.toSorted((one, other) => one - other));
    for (const [index, start] of starts.entries()) {
      const at = Date.UTC(2026, 2, 1) + index * HOUR_MS;
      expect(at - start).toBeGreaterThanOrEqual(0);
      expect(at - start).toBeLessThan(DAY_MS + HOUR_MS);
    }
  });
});
