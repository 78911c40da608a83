/** The intervals of charts, and how the buckets of analytics make them up. */

import { EVEN_INTERVALS, HOUR_MS } from './calendar.ts';
import type { Interval } from './query.ts';

/** Whole minutes, or the whole range. */
export type TimeScale = number | 'full';

type Range = { readonly fromMs: number; readonly toMs: number };

export type IntervalPlan = {
  /** The length of the buckets to ask for. */
  readonly interval: Interval;
  /** Whether several buckets may make up an interval. */
  readonly isFolded: boolean;
  /** The start of the interval of a bucket. */
  readonly startOf: (bucketStartMs: number) => number;
};

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 1_440;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
const WEEK_DAYS = 7;
const MONTH_DAYS = 31;
/** As in LangWatch: a chart with more has a point for each day. */
const INTERVALS_MAX = 1_000;
/** Hours of longer ranges are more buckets than an answer has. */
const LOCAL_DAYS_MAX = 400;

type Asked = Range & { readonly scale: TimeScale; readonly timeZone: string; readonly mayBeLocal: boolean };

/** `mayBeLocal`: days may be made up of hours, in the time zone. They are those of UTC otherwise. */
export function planIntervals({ scale, timeZone, mayBeLocal, ...range }: Asked): IntervalPlan {
  if (scale === 'full') return whole('total');
  const isTooFine = range.toMs - range.fromMs > scale * MINUTE_MS * INTERVALS_MAX;
  const minutes = isTooFine ? DAY_MINUTES : scale;
  if (minutes === 1) return whole('minute');
  if (minutes === HOUR_MINUTES) return whole('hour');
  if (minutes < DAY_MINUTES) {
    return folded(minutes % HOUR_MINUTES === 0 ? 'hour' : 'minute', multipleOf(minutes * MINUTE_MS));
  }
  const days = Math.floor(minutes / DAY_MINUTES);
  if (days > MONTH_DAYS) return whole('month');
  if (days > 1 && days < WEEK_DAYS) return folded('day', multipleOf(days * DAY_MS));
  const unit = days === 1 ? 'day' : 'week';
  const zone = mayBeLocal && range.toMs - range.fromMs <= LOCAL_DAYS_MAX * DAY_MS ? zoneOf(timeZone) : null;
  const isWholeHours = zone !== null && [range.fromMs, range.toMs].every((ms) => zone.offsetAt(ms) % HOUR_MS === 0);
  return isWholeHours ? folded('hour', (ms) => zone.startOf(ms, unit)) : whole(unit);
}

/** Whether a text names a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function whole(interval: Interval): IntervalPlan {
  return { interval, isFolded: false, startOf: (startMs) => startMs };
}

function folded(interval: Interval, startOf: IntervalPlan['startOf']): IntervalPlan {
  return { interval, isFolded: true, startOf };
}

function multipleOf(lengthMs: number): IntervalPlan['startOf'] {
  return (ms) => Math.floor(ms / lengthMs) * lengthMs;
}

function zoneOf(timeZone: string) {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', second: 'numeric', ...numeric });

  /** What clocks of the zone are ahead of UTC. */
  function offsetAt(ms: number): number {
    const parts = format.formatToParts(ms);
    const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
    const clock = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
    return clock - Math.floor(ms / 1_000) * 1_000;
  }

  return {
    offsetAt,
    /** The instant at which the day or week of the zone begins. */
    startOf(ms: number, unit: 'day' | 'week'): number {
      const { lengthMs, firstMs } = EVEN_INTERVALS[unit];
      const clock = Math.floor((ms + offsetAt(ms) - firstMs) / lengthMs) * lengthMs + firstMs;
      // The clock may have been changed since the start.
      return clock - offsetAt(clock - offsetAt(ms));
    },
  };
}
