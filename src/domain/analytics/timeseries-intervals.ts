/** The intervals of charts, and how the buckets of analytics make them up. */

import { EVEN_INTERVALS, evenIntervals, HOUR_MS, intervalAt } from './calendar.ts';
import type { IntervalLength } from './query.ts';

/** Whole minutes, or the whole range. */
export type TimeScale = number | 'full';

type Range = { readonly fromMs: number; readonly toMs: number };

export type IntervalPlan = {
  /** The length of the buckets to ask for. */
  readonly interval: IntervalLength;
  /** Whether several buckets may make up an interval. */
  readonly isFolded: boolean;
  /** The start of the interval of a bucket. */
  readonly startOf: (bucketStartMs: number) => number;
  /** How many intervals there are from that of one instant to that of another, both included. */
  readonly count: (fromMs: number, toMs: number) => number;
};

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 1_440;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
const WEEK_DAYS = 7;
const MONTH_DAYS = 31;
const YEAR_MONTHS = 12;
const HALF_DAY_MS = DAY_MS / 2;
/** Zones keep an offset for weeks. */
const SAMPLED_MS = WEEK_DAYS * DAY_MS;
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
  if (minutes < DAY_MINUTES) return whole(minutes);
  const days = Math.floor(minutes / DAY_MINUTES);
  if (days > MONTH_DAYS) return whole('month');
  if (days > 1 && days < WEEK_DAYS) return whole(days * DAY_MINUTES);
  const unit = days === 1 ? 'day' : 'week';
  const zone = mayBeLocal && range.toMs - range.fromMs <= LOCAL_DAYS_MAX * DAY_MS ? zoneOf(timeZone) : null;
  return zone?.isOfWholeHours(range) ? local(zone, unit) : whole(unit);
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

function whole(interval: IntervalLength): IntervalPlan {
  return { interval, isFolded: false, startOf: (startMs) => startMs, count: counterOf(interval) };
}

function counterOf(interval: IntervalLength): IntervalPlan['count'] {
  if (interval === 'total') return () => 1;
  if (interval === 'month') return (fromMs, toMs) => monthOf(toMs) - monthOf(fromMs) + 1;
  const { lengthMs } = evenIntervals(interval);
  const startOf = (ms: number) => intervalAt({ interval, fromMs: ms, toMs: ms }, ms).startMs;
  return (fromMs, toMs) => (startOf(toMs) - startOf(fromMs)) / lengthMs + 1;
}

/** Counted from the year 0. */
function monthOf(ms: number): number {
  const instant = new Date(ms);
  return instant.getUTCFullYear() * YEAR_MONTHS + instant.getUTCMonth();
}

type Unit = 'day' | 'week';

function local(zone: ReturnType<typeof zoneOf>, unit: Unit): IntervalPlan {
  const startOf = (ms: number) => zone.startOf(ms, unit);
  // Days are an hour longer or shorter where clocks are changed.
  const count = (fromMs: number, toMs: number) =>
    Math.round((startOf(toMs) - startOf(fromMs)) / EVEN_INTERVALS[unit].lengthMs) + 1;
  return { interval: 'hour', isFolded: true, startOf, count };
}

function zoneOf(timeZone: string) {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', second: 'numeric', ...numeric });
  const starts = new Map<number, number>();

  /** What clocks of the zone are ahead of UTC. */
  function offsetAt(ms: number): number {
    const parts = format.formatToParts(ms);
    const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
    const clock = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
    return clock - Math.floor(ms / 1_000) * 1_000;
  }

  /** The earliest instant at which clocks of the zone show a time; where they skip it, the one at which they do. */
  function firstAt(clock: number, nearMs: number): number {
    const [before, after] = [offsetAt(nearMs - HALF_DAY_MS), offsetAt(nearMs + HALF_DAY_MS)];
    const instants = [clock - Math.max(before, after), clock - Math.min(before, after)];
    return instants.find((ms) => ms + offsetAt(ms) === clock) ?? clock - before;
  }

  return {
    /** Whether the zone is whole hours from UTC, all the time of a range. */
    isOfWholeHours({ fromMs, toMs }: Range): boolean {
      for (let ms = fromMs; ms < toMs; ms += SAMPLED_MS) if (offsetAt(ms) % HOUR_MS !== 0) return false;
      return offsetAt(toMs) % HOUR_MS === 0;
    },
    /** The instant at which the day or week of the zone begins. */
    startOf(ms: number, unit: Unit): number {
      const { lengthMs, firstMs } = EVEN_INTERVALS[unit];
      const offset = offsetAt(ms);
      const clock = Math.floor((ms + offset - firstMs) / lengthMs) * lengthMs + firstMs;
      const start = starts.get(clock) ?? firstAt(clock, clock - offset);
      starts.set(clock, start);
      return start;
    },
  };
}
