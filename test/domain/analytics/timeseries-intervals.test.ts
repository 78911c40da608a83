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

  it('folds what is no interval of the calendar', () => {
    const { interval, isFolded, startOf } = plan(180);
    expect([interval, isFolded]).toEqual(['hour', true]);
    expect(iso(startOf(Date.UTC(2026, 2, 1, 5)))).toBe('2026-03-01T03:00:00.000Z');
    expect(plan(90).interval).toBe('minute');
    expect(plan(3 * 1_440)).toMatchObject({ interval: 'day', isFolded: true });
    expect(plan(30 * 1_440, { mayBeLocal: false }).interval).toBe('week');
    expect(plan(60 * 1_440).interval).toBe('month');
    expect(plan('full').interval).toBe('total');
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
