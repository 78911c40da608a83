/** Turns analytics buckets into the series of a chart. */

import { type AnalyticsBucket, AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import type { MetricName } from './search.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The interval that gives some dozens of points. */
export function intervalOf(lengthMs: number): AnalyticsInterval {
  if (lengthMs <= 2 * HOUR_MS) return AnalyticsInterval.MINUTE;
  if (lengthMs <= 8 * DAY_MS) return AnalyticsInterval.HOUR;
  return lengthMs <= 120 * DAY_MS ? AnalyticsInterval.DAY : AnalyticsInterval.WEEK;
}

const STEPS: { readonly [interval: number]: number } = {
  [AnalyticsInterval.MINUTE]: 60_000,
  [AnalyticsInterval.HOUR]: HOUR_MS,
  [AnalyticsInterval.DAY]: DAY_MS,
  [AnalyticsInterval.WEEK]: 7 * DAY_MS,
};
const POINTS_MAX = 2_000;

export type Series = { readonly seconds: number[]; readonly values: (number | null)[] };

/** The server returns no bucket for an interval without traces: sums are 0 there, percentiles null. */
export function seriesOf(buckets: readonly AnalyticsBucket[], metric: MetricName, range: Range): Series {
  const stepMs = STEPS[range.interval] ?? DAY_MS;
  const known = new Map(buckets.map((bucket) => [Number(bucket.start), figureOf(bucket, metric)]));
  const starts = [...known.keys()];
  const firstMs = starts.length > 0 ? alignedStart(range.fromMs, starts[0] ?? 0, stepMs) : range.fromMs;
  const seconds: number[] = [];
  const values: (number | null)[] = [];
  for (let at = firstMs; at <= range.toMs && seconds.length < POINTS_MAX; at += stepMs) {
    seconds.push(at / 1_000);
    values.push(known.get(at) ?? (metric === 'latency' ? null : 0));
  }
  return { seconds, values };
}

type Range = { readonly fromMs: number; readonly toMs: number; readonly interval: AnalyticsInterval };

/** The start of the interval that contains `fromMs`; all starts are whole steps apart. */
function alignedStart(fromMs: number, someStartMs: number, stepMs: number): number {
  return someStartMs - Math.ceil((someStartMs - fromMs) / stepMs) * stepMs;
}

export function figureOf(bucket: AnalyticsBucket, metric: MetricName): number | null {
  if (metric === 'cost') return bucket.totalCost?.value ?? null;
  if (metric === 'traces') return Number(bucket.traces ?? 0n);
  if (metric === 'errors') return Number(bucket.errors ?? 0n);
  if (metric === 'latency') return numberOf(bucket.totalTimeMsP95?.value);
  return tokensOf(bucket);
}

export function tokensOf({ promptTokens, completionTokens }: AnalyticsBucket): number {
  return Number(promptTokens?.value ?? 0n) + Number(completionTokens?.value ?? 0n);
}

function numberOf(value: bigint | undefined): number | null {
  return value === undefined ? null : Number(value);
}
