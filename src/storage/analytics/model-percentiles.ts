/**
 * Percentiles of the durations of the spans of each model, from how many of them have which size. Where they are exact, the
 * index says which durations are in the buckets that have them. The spans of traces that changed since they were indexed are
 * read from their tables.
 */

import { intervalAt, type Span } from '../../domain/analytics/calendar.ts';
import {
  countAll,
  EXACT_VALUES_MAX,
  type Percentiles,
  percentilesOfBuckets,
  type RankInBin,
  ranksInBuckets,
} from '../../domain/analytics/distribution.ts';
import { durationsOf } from '../../domain/analytics/entries.ts';
import { NO_DURATIONS, spansByModel } from '../../domain/analytics/sums.ts';
import type { AnalyticsQuery, Bucket } from '../../domain/analytics/trace-analytics-store.ts';
import { bucketOf, greatestOf, leastOf } from '../../domain/number-buckets.ts';
import { modelNumber } from '../search/index-plan.ts';
import { planHours } from './hours.ts';
import { type IndexReading, listChanged } from './indexed-analytics.ts';
import {
  addSpans,
  type DurationName,
  type ModelCounts,
  type ModelDurations,
  type ModelDurationsQuery,
  type RangeBucket,
} from './indexed-sums.ts';
import { readTraces } from './trace-scan.ts';

/** Whether percentiles of models are all that the hours lack. */
export function mayCountModels(query: AnalyticsQuery): boolean {
  const isByModel = query.groupBy === 'model' || query.conditions.model !== null;
  return query.hasPercentiles && isByModel && planHours({ ...query, hasPercentiles: false }) !== null;
}

type Durations = Pick<Bucket['totals'], DurationName>;
type Changed = { readonly model: number; readonly name: DurationName; readonly value: number };

type Asked = Omit<ModelDurationsQuery, 'ranges'>;

type Pass = {
  readonly index: ModelDurations;
  readonly query: AnalyticsQuery;
  readonly asked: Asked;
  /** The durations of spans of traces that changed, by the start of the interval. */
  readonly changed: ReadonlyMap<number, readonly Changed[]>;
};

const NAMES: readonly DurationName[] = ['totalTimeMs', 'firstTokenMs'];
/** Their counts are in memory together. */
const INTERVALS_AT_ONCE = 32;
/** With more of traces that changed, scanning all traces is better. */
const CHANGED_DURATIONS_MAX = 500_000;

/** Adds the percentiles to the sums of the query without them. Null: the traces must be read. */
export async function addModelPercentiles(
  { index, ...reading }: Pick<IndexReading, 'runner' | 'isOver'> & { readonly index: ModelDurations },
  query: AnalyticsQuery,
  sums: readonly Bucket[],
): Promise<readonly Bucket[] | 'too_long' | null> {
  const { projectNumber, expiredBeforeMs } = query;
  const numbers = numbersOf(query, sums);
  if (numbers === null) return null;
  const leftOut = await listChanged(reading.runner, projectNumber);
  if (leftOut === null) return null;
  const receivedFromMs = expiredBeforeMs ?? Number.MIN_SAFE_INTEGER;
  const asked = { projectNumber, receivedFromMs, leftOut, isOver: reading.isOver };
  const changed = await readChanged(reading, query, asked);
  if (changed === null || changed === 'too_long') return changed;
  const pass = { index, query, asked, changed };
  const buckets: Bucket[] = [];
  const intervals = [...Map.groupBy(sums, (bucket) => bucket.startMs)].map(([startMs, of]) => ({
    ...{ interval: intervalAt(query, startMs), of },
    models: of.map(({ group }) => numbers.get(group) ?? 0),
  }));
  for (let first = 0; first < intervals.length; first += INTERVALS_AT_ONCE) {
    const some = intervals.slice(first, first + INTERVALS_AT_ONCE);
    const durations = await readIntervals(pass, some);
    if (durations === null || durations === 'too_long') return durations;
    for (const [place, { of }] of some.entries()) {
      for (const bucket of of) {
        const found = durations[place]?.get(numbers.get(bucket.group) ?? 0);
        buckets.push({ ...bucket, totals: { ...bucket.totals, ...found } });
      }
    }
  }
  return buckets;
}

/** The numbers of the models of the groups. Null: two models have the same. */
function numbersOf({ projectNumber, conditions }: AnalyticsQuery, sums: readonly Bucket[]) {
  const numbers = new Map<string | null, number>();
  for (const { group } of sums) {
    if (!numbers.has(group)) numbers.set(group, modelNumber(projectNumber, conditions.model ?? group));
  }
  return new Set(numbers.values()).size === numbers.size ? numbers : null;
}

async function readChanged(
  { runner, isOver }: Pick<IndexReading, 'runner' | 'isOver'>,
  query: AnalyticsQuery,
  { projectNumber, receivedFromMs, leftOut }: Asked,
) {
  const { fromMs, toMs } = query;
  const changed = new Map<number, Changed[]>();
  let count = 0;
  const needs = { metadata: false, spans: true };
  for await (const part of readTraces(runner, projectNumber, { sequences: leftOut, needs })) {
    for (const { trace, spans } of part) {
      if (trace.startMs < fromMs || trace.startMs > toMs || trace.insertedAtMs < receivedFromMs) continue;
      const { startMs } = intervalAt(query, trace.startMs);
      const ofInterval = changed.get(startMs) ?? [];
      changed.set(startMs, ofInterval);
      for (const [group, of] of spansByModel(spans)) {
        const model = modelNumber(projectNumber, group);
        const { totalTimesMs, firstTokensMs } = durationsOf(of);
        for (const value of totalTimesMs) ofInterval.push({ model, name: 'totalTimeMs', value });
        for (const value of firstTokensMs) ofInterval.push({ model, name: 'firstTokenMs', value });
        count += totalTimesMs.length + firstTokensMs.length;
      }
    }
    if (count > CHANGED_DURATIONS_MAX) return null;
    if (isOver()) return 'too_long';
  }
  return changed;
}

/** Percentiles that must be exact: the buckets that hold them, and their ranks in there. */
type Exact = Pick<RangeBucket, 'model' | 'name' | 'range'> & {
  readonly ranks: Readonly<Record<keyof Percentiles, RankInBin>>;
};

type Interval = { readonly interval: Span; readonly models: readonly number[] };
type OfModels = Map<number, { [Name in DurationName]: Durations[Name] }>;

async function readIntervals({ index, query, asked, changed }: Pass, intervals: readonly Interval[]) {
  const ranges = intervals.map(({ interval: { startMs, endMs } }) => ({
    fromMs: Math.max(startMs, query.fromMs),
    toMs: Math.min(endMs - 1, query.toMs),
  }));
  const within = { ...asked, ranges };
  const counts = await index.count(within);
  if (counts === null || counts === 'too_long') return counts;
  const changedOf = intervals.map(({ interval }) => changed.get(interval.startMs) ?? []);
  const exact: Exact[] = [];
  const durations = intervals.map(({ models }, range): OfModels => {
    const ofRange: ModelCounts = counts[range] ?? new Map();
    for (const { value, ...of } of changedOf[range] ?? []) addSpans(ofRange, { ...of, bucket: bucketOf(value) }, 1);
    return new Map(models.map((model) => [model, estimate(ofRange, { model, range }, exact)]));
  });
  const find = await findExact(index, within, { exact, changedOf });
  if (find === null || find === 'too_long') return find;
  for (const { model, name, range, ranks } of exact) {
    const ofModel = durations[range]?.get(model);
    if (ofModel === undefined) continue;
    const at = (rank: RankInBin) => find({ model, name, range, bucket: rank.bin }, rank.rank);
    ofModel[name] = { p50: at(ranks.p50), p95: at(ranks.p95), p99: at(ranks.p99) };
  }
  return durations;
}

/** The percentiles by the counts of buckets; adds those that must be exact to a list. */
function estimate(counts: ModelCounts, { model, range }: Pick<RangeBucket, 'model' | 'range'>, exact: Exact[]) {
  const ofModel: { [Name in DurationName]: Durations[Name] } = { ...NO_DURATIONS };
  for (const name of NAMES) {
    const buckets = counts.get(model)?.[name] ?? new Map<number, number>();
    if (countAll(buckets) > EXACT_VALUES_MAX) ofModel[name] = percentilesOfBuckets(buckets);
    else {
      const ranks = ranksInBuckets(buckets);
      if (ranks !== null) exact.push({ model, name, range, ranks });
    }
  }
  return ofModel;
}

type ExactRead = { readonly exact: readonly Exact[]; readonly changedOf: readonly (readonly Changed[])[] };

/** Returns what finds a duration by its bucket and its rank in there. */
async function findExact(index: ModelDurations, within: ModelDurationsQuery, { exact, changedOf }: ExactRead) {
  const wanted = new Map<string, RangeBucket>();
  for (const { model, name, range, ranks } of exact) {
    for (const { bin: bucket } of Object.values(ranks)) {
      const of = { model, name, range, bucket };
      if (!isSingle(bucket)) wanted.set(keyOf(of), of);
    }
  }
  const buckets = [...wanted.values()];
  const listed = buckets.length === 0 ? [] : await index.list(within, buckets);
  if (listed === null || listed === 'too_long') return listed;
  const keys = [...wanted.keys()];
  const values = new Map<string, { readonly value: number; readonly spans: number }[]>(keys.map((key) => [key, []]));
  for (const { place, value, spans } of listed) values.get(keys[place] ?? '')?.push({ value, spans });
  for (const [range, changed] of changedOf.entries()) {
    for (const { value, ...of } of changed) {
      values.get(keyOf({ ...of, range, bucket: bucketOf(value) }))?.push({ value, spans: 1 });
    }
  }
  for (const each of values.values()) each.sort((one, other) => one.value - other.value);
  return (bucket: RangeBucket, rank: number): number => {
    if (isSingle(bucket.bucket)) return greatestOf(bucket.bucket);
    let before = 0;
    for (const { value, spans } of values.get(keyOf(bucket)) ?? []) {
      before += spans;
      if (before >= rank) return value;
    }
    // A trace changed since its bucket was counted.
    return greatestOf(bucket.bucket);
  };
}

/** Whether all durations in the bucket are equal: none is negative. */
function isSingle(bucket: number): boolean {
  return Math.max(0, leastOf(bucket)) === greatestOf(bucket);
}

function keyOf({ range, model, name, bucket }: RangeBucket): string {
  return `${range} ${model} ${name} ${bucket}`;
}
