/** Turns analytics buckets into the series of a chart. */

import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { RANGE_CUSTOM } from '../traces/range.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The server returns at most 10,000 buckets. */
const FOLDED_DAYS_MAX = 400;

export type Range = { readonly fromMs: number; readonly toMs: number };

export type Unit = 'minute' | 'hour' | 'day' | 'week';

/** How a chart cuts its range. The server's days and weeks are those of UTC. */
export type Cut = { readonly unit: Unit; readonly zone: 'local' | 'utc' };

/** A metric of a bucket, and how it is shown. */
export type Metric<Bucket> = {
  readonly label: string;
  readonly format: (value: number | null) => string;
  readonly read: (bucket: Bucket) => number | null;
  /** The value where there is no bucket: sums are 0 there, means and percentiles are unknown. */
  readonly emptyValue: 0 | null;
  /** Whether it counts what went wrong. */
  readonly isBad?: true;
};

/** The unit that gives some dozens of points. */
function unitOf(lengthMs: number): Unit {
  if (lengthMs <= 2 * HOUR_MS) return 'minute';
  if (lengthMs <= 8 * DAY_MS) return 'hour';
  return lengthMs <= 120 * DAY_MS ? 'day' : 'week';
}

/** Sums of hours fold into days of the browser's zone; percentiles and means do not. */
export function cutOf({ fromMs, toMs }: Range, isSum: boolean): Cut {
  const unit = unitOf(toMs - fromMs);
  if (unit === 'minute' || unit === 'hour') return { unit, zone: 'local' };
  const hasWholeHours = [fromMs, toMs].every((ms) => new Date(ms).getTimezoneOffset() % 60 === 0);
  const folds = isSum && hasWholeHours && toMs - fromMs <= FOLDED_DAYS_MAX * DAY_MS;
  return { unit, zone: folds ? 'local' : 'utc' };
}

const INTERVALS: Readonly<Record<Unit, AnalyticsInterval>> = {
  minute: AnalyticsInterval.MINUTE,
  hour: AnalyticsInterval.HOUR,
  day: AnalyticsInterval.DAY,
  week: AnalyticsInterval.WEEK,
};

/** The range of the same length that ends where another begins. */
export function rangeBefore({ fromMs, toMs }: Range): Range {
  return { fromMs: Math.max(0, 2 * fromMs - toMs - 1), toMs: fromMs - 1 };
}

/** The part of a range that a point of its series stands for, in the form of an address. */
export function pointRange({ seconds }: Series, index: number, { fromMs, toMs }: Range) {
  const [start = 0, end] = seconds.slice(index, index + 2).map((second) => 1_000 * second);
  return {
    range: RANGE_CUSTOM,
    from: new Date(Math.max(start, fromMs)).toISOString(),
    to: new Date(Math.min(end === undefined ? toMs : end - 1, toMs)).toISOString(),
  };
}

/** The range of a query that sums it up whole. */
export function rangeInput({ fromMs, toMs }: Range) {
  return { startedFrom: timestampFromMs(fromMs), startedTo: timestampFromMs(toMs) };
}

/** The range of a query of one bucket for each interval of a chart of sums. */
export function seriesInput(range: Range) {
  return cutInput(range, true);
}

/** The same for a chart of means or percentiles. */
export function meansInput(range: Range) {
  return cutInput(range, false);
}

function cutInput(range: Range, isSum: boolean) {
  const { unit, zone } = cutOf(range, isSum);
  const isFolded = zone === 'local' && (unit === 'day' || unit === 'week');
  return { ...rangeInput(range), interval: isFolded ? AnalyticsInterval.HOUR : INTERVALS[unit] };
}

const POINTS_MAX = 2_000;

export type Series = Cut & { readonly seconds: number[]; readonly values: (number | null)[] };

export type Timed = { readonly startsAt?: Timestamp | undefined };

/** The server returns no bucket for an interval without data. */
export function seriesOf<Bucket extends Timed>(
  buckets: readonly Bucket[],
  { read, emptyValue }: Metric<Bucket>,
  range: Range,
): Series {
  const cut = cutOf(range, emptyValue === 0);
  const startOf = startsOf(cut);
  const known = new Map<number, number | null>();
  for (const bucket of buckets) {
    const start = startOf(bucket.startsAt ? timestampMs(bucket.startsAt) : 0, 0);
    const value = read(bucket);
    const before = known.get(start);
    known.set(start, before != null && value !== null ? before + value : (value ?? before ?? null));
  }
  const seconds: number[] = [];
  const values: (number | null)[] = [];
  for (let at = startOf(range.fromMs, 0); at <= range.toMs && seconds.length < POINTS_MAX; at = startOf(at, 1)) {
    seconds.push(at / 1_000);
    values.push(known.get(at) ?? emptyValue);
  }
  return { ...cut, seconds, values };
}

/** Gives the start of the interval of an instant, or of one after it. Local days may have 23 or 25 hours. */
export function startsOf({ unit, zone }: Cut): (ms: number, later: 0 | 1) => number {
  if (unit === 'minute' || unit === 'hour') {
    const stepMs = unit === 'minute' ? MINUTE_MS : HOUR_MS;
    return (ms, later) => (Math.floor(ms / stepMs) + later) * stepMs;
  }
  const days = unit === 'day' ? 1 : 7;
  if (zone === 'utc') {
    // The first Monday of 1970 was its fifth day.
    const offsetMs = unit === 'day' ? 0 : 4 * DAY_MS;
    const stepMs = days * DAY_MS;
    return (ms, later) => (Math.floor((ms - offsetMs) / stepMs) + later) * stepMs + offsetMs;
  }
  return (ms, later) => {
    const date = new Date(ms);
    const back = unit === 'day' ? 0 : (date.getDay() + 6) % 7;
    return new Date(date.getFullYear(), date.getMonth(), date.getDate() - back + later * days).getTime();
  };
}
