/**
 * Percentiles of very many traces, from how many of each day have durations of which size. Read are the traces at both ends of
 * the range, those that changed since they were indexed, and those of intervals with few traces, whose percentiles are exact.
 */

import { DAY_MS, dayOf } from '../../domain/analytics/calendar.ts';
import {
  addToBucket,
  createDistribution,
  EXACT_VALUES_MAX,
  type Percentiles,
  percentilesOfBuckets,
} from '../../domain/analytics/distribution.ts';
import { NO_DURATIONS } from '../../domain/analytics/sums.ts';
import type { AnalyticsAnswer, AnalyticsQuery, Bucket } from '../../domain/analytics/trace-analytics-store.ts';
import { bucketOf } from '../../domain/number-buckets.ts';
import { partsBesideDays, wholeDaysOf } from './day-parts.ts';
import { createNames, type IndexReading, readQuery } from './indexed-analytics.ts';
import type { DayRange, DurationCounts, DurationName, TimedTrace, TimeRange, TracesQuery } from './indexed-sums.ts';

/** Whether it may help. */
export function mayCountDays({ interval, groupBy, conditions, hasPercentiles, fromMs, toMs }: AnalyticsQuery): boolean {
  const isOfAll = groupBy === 'none' && Object.values(conditions).every((value) => value === null);
  const isOfDays = typeof interval !== 'number' && interval !== 'minute' && interval !== 'hour';
  return hasPercentiles && isOfAll && isOfDays && toMs - fromMs >= DAY_MS;
}

type Durations = Pick<Bucket['totals'], DurationName>;
type Found = Map<number, Durations>;
type Large = TimeRange & { readonly startMs: number; readonly days: DayRange };

type Pass = {
  readonly reading: IndexReading;
  readonly query: AnalyticsQuery;
  readonly traces: TracesQuery;
  readonly found: Found;
};

/** `sums` are those of the query without percentiles. Null: the traces must be read. */
export async function summariseByDays(
  reading: IndexReading,
  query: AnalyticsQuery,
  sums: readonly Bucket[],
): Promise<AnalyticsAnswer | null> {
  const large = sums.flatMap((bucket) => largeOf(bucket, query) ?? []);
  if (large.length === 0) return null;
  const names = createNames(reading, query.projectNumber, 'none');
  const traces = await readQuery(reading, query, { conditions: query.conditions, names });
  if (traces === null) return null;
  const pass: Pass = { reading, query, traces, found: new Map() };
  const outcome = (await addLarge(pass, large)) ?? (await addOthers(pass, sums));
  if (outcome === 'too_long') return { kind: 'too_long' };
  if (outcome === 'unknown') return null;
  const buckets = sums.map((bucket) => ({
    ...bucket,
    totals: { ...bucket.totals, ...(pass.found.get(bucket.startMs) ?? NO_DURATIONS) },
  }));
  return { kind: 'buckets', buckets, isTruncated: false };
}

function rangeOf({ startMs, endMs }: Bucket, { fromMs, toMs }: TimeRange): TimeRange {
  return { fromMs: Math.max(startMs, fromMs), toMs: Math.min(endMs - 1, toMs) };
}

/** Null: the bucket has few traces, or no whole day. */
function largeOf(bucket: Bucket, query: AnalyticsQuery): Large | null {
  const range = rangeOf(bucket, query);
  const days = wholeDaysOf(range);
  const isLarge = bucket.totals.traces > EXACT_VALUES_MAX && days.firstDay <= days.lastDay;
  return isLarge ? { ...range, startMs: bucket.startMs, days } : null;
}

/** Why there is no answer; null: there is one. */
type Refusal = 'too_long' | 'unknown' | null;

async function addLarge({ reading, traces, found }: Pass, large: readonly Large[]): Promise<Refusal> {
  const { projectNumber, receivedFromMs, leftOut } = traces;
  const ranges = large.map(({ days }) => days);
  const counted = await reading.index.countDurations({ projectNumber, receivedFromMs, leftOut, ranges });
  if (counted === null) return 'unknown';
  for (const [place, bucket] of large.entries()) {
    if (reading.isOver()) return 'too_long';
    const counts = countsOf(counted, place, bucket);
    for (const part of partsBesideDays(bucket, counted.cutDays)) {
      const listed = await reading.index.listDurations(within(traces, part), null);
      if (listed === null || listed === 'too_long') return listed ?? 'unknown';
      for (const name of NAMES) for (const value of listed[name]) count(counts[name], value, 1);
    }
    for (const trace of within(traces, bucket).changed) {
      for (const name of NAMES) if (trace[name] !== null) count(counts[name], trace[name], 1);
    }
    const durations: { [Name in DurationName]: Percentiles | null } = { ...NO_DURATIONS };
    for (const name of NAMES) {
      const known = [...counts[name].values()].reduce((sum, each) => sum + each, 0);
      if (known > EXACT_VALUES_MAX) durations[name] = percentilesOfBuckets(counts[name]);
      else if (known > 0) {
        const exact = await readExact(reading, within(traces, bucket), name);
        if (exact === null || exact === 'too_long') return exact ?? 'unknown';
        durations[name] = exact;
      }
    }
    found.set(bucket.startMs, durations);
  }
  return null;
}

const NAMES: readonly DurationName[] = ['totalTimeMs', 'firstTokenMs'];
type Counts = Readonly<Record<DurationName, Map<number, number>>>;

function count(counts: Map<number, number>, value: number, traces: number): void {
  addToBucket(counts, bucketOf(value), traces);
}

/** What the whole days of a bucket have in the index, without what changed. */
function countsOf(counted: DurationCounts, place: number, { days }: Large): Counts {
  const counts: Counts = { totalTimeMs: new Map(), firstTokenMs: new Map() };
  for (const each of counted.counts) if (each.place === place) addToBucket(counts[each.name], each.bucket, each.traces);
  const isCounted = ({ startMs }: TimedTrace) => {
    const day = dayOf(startMs);
    return day >= days.firstDay && day <= days.lastDay && !counted.cutDays.includes(day);
  };
  for (const trace of counted.leftOut.filter(isCounted)) {
    for (const name of NAMES) if (trace[name] !== null) count(counts[name], trace[name], -1);
  }
  return counts;
}

function within(traces: TracesQuery, { fromMs, toMs }: TimeRange): TracesQuery {
  const changed = traces.changed.filter(({ startMs }) => startMs >= fromMs && startMs <= toMs);
  return { ...traces, fromMs, toMs, changed };
}

async function readExact({ index }: IndexReading, traces: TracesQuery, name: DurationName) {
  const listed = await index.listDurations(traces, name);
  if (listed === null || listed === 'too_long') return listed;
  const values = createDistribution();
  for (const value of listed[name]) values.add(value);
  for (const trace of traces.changed) if (trace[name] !== null) values.add(trace[name]);
  return values.percentiles();
}

/** Adds the buckets that are not large, neighbours together. */
async function addOthers({ reading, query, traces, found }: Pass, sums: readonly Bucket[]): Promise<Refusal> {
  const runs: { fromMs: number; toMs: number }[] = [];
  let isRun = false;
  for (const bucket of sums) {
    const isOther = !found.has(bucket.startMs);
    const range = rangeOf(bucket, query);
    const run = runs.at(-1);
    if (isOther && isRun && run !== undefined) run.toMs = range.toMs;
    else if (isOther) runs.push({ ...range });
    isRun = isOther;
  }
  for (const run of runs) {
    const asked = { ...query, ...within(traces, run), groupBy: null };
    const buckets = await reading.index.sumUp(asked, async () => [null]);
    if (buckets === null || buckets === 'too_long') return buckets ?? 'unknown';
    for (const { startMs, totals } of buckets) {
      found.set(startMs, { totalTimeMs: totals.totalTimeMs, firstTokenMs: totals.firstTokenMs });
    }
  }
  return null;
}
