/** Turns analytics buckets into the series of a chart. */

import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Range = { readonly fromMs: number; readonly toMs: number };

/** The interval that gives some dozens of points. */
function intervalOf(lengthMs: number): AnalyticsInterval {
  if (lengthMs <= 2 * HOUR_MS) return AnalyticsInterval.MINUTE;
  if (lengthMs <= 8 * DAY_MS) return AnalyticsInterval.HOUR;
  return lengthMs <= 120 * DAY_MS ? AnalyticsInterval.DAY : AnalyticsInterval.WEEK;
}

/** The range of a query that sums it up whole. */
export function rangeInput({ fromMs, toMs }: Range) {
  return { startedFrom: timestampFromMs(fromMs), startedTo: timestampFromMs(toMs) };
}

/** The same for a query of one bucket for each interval. */
export function seriesInput(range: Range) {
  return { ...rangeInput(range), interval: intervalOf(range.toMs - range.fromMs) };
}

const STEPS: { readonly [interval: number]: number } = {
  [AnalyticsInterval.MINUTE]: 60_000,
  [AnalyticsInterval.HOUR]: HOUR_MS,
  [AnalyticsInterval.DAY]: DAY_MS,
  [AnalyticsInterval.WEEK]: 7 * DAY_MS,
};
const POINTS_MAX = 2_000;

/** A metric of a bucket, and how it is shown. */
export type Metric<Bucket> = {
  readonly label: string;
  readonly format: (value: number | null) => string;
  readonly read: (bucket: Bucket) => number | null;
  /** The value where there is no bucket: sums are 0 there, means and percentiles are unknown. */
  readonly emptyValue: 0 | null;
};

export type Series = { readonly seconds: number[]; readonly values: (number | null)[] };

export type Timed = { readonly startsAt?: Timestamp | undefined };

/** The server returns no bucket for an interval without data. */
export function seriesOf<Bucket extends Timed>(
  buckets: readonly Bucket[],
  { read, emptyValue }: Metric<Bucket>,
  { fromMs, toMs }: Range,
): Series {
  const stepMs = STEPS[intervalOf(toMs - fromMs)] ?? DAY_MS;
  const known = new Map(buckets.map((bucket) => [bucket.startsAt ? timestampMs(bucket.startsAt) : 0, read(bucket)]));
  const starts = [...known.keys()];
  const firstMs = starts.length > 0 ? alignedStart(fromMs, starts[0] ?? 0, stepMs) : fromMs;
  const seconds: number[] = [];
  const values: (number | null)[] = [];
  for (let at = firstMs; at <= toMs && seconds.length < POINTS_MAX; at += stepMs) {
    seconds.push(at / 1_000);
    values.push(known.get(at) ?? emptyValue);
  }
  return { seconds, values };
}

/** The start of the interval that contains `fromMs`; all starts are whole steps apart. */
function alignedStart(fromMs: number, someStartMs: number, stepMs: number): number {
  return someStartMs - Math.ceil((someStartMs - fromMs) / stepMs) * stepMs;
}
