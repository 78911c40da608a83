/** The points of the charts above the list of traces, from sums of the server or from traces that were found. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { AnalyticsBucket } from '../../../../gen/spandrel/v1/analytics_pb.js';
import type { Trace } from '../../../../gen/spandrel/v1/traces_pb.js';
import { type Cut, cutOf, startsOf } from '../../overview/series.ts';
import { parseQueryLine } from '../query-line.ts';
import type { Bounds } from '../range.ts';
import type { FinderSearch } from '../search.ts';

/** What a trace, or a bucket of traces, adds to an interval. */
export type Fact = {
  readonly startMs: number;
  readonly passed: number;
  readonly failed: number;
  readonly costs: readonly (readonly [model: string, usd: number])[];
};

/** Milliseconds at three percentiles of an interval; null without a trace. */
type Latency = { readonly p50: number | null; readonly p95: number | null; readonly p99: number | null };

export type Line = { readonly label: string; readonly values: readonly (number | null)[] };

export type Figures = {
  readonly cut: Cut;
  /** The starts of the intervals. */
  readonly seconds: readonly number[];
  /** The end of the last one. */
  readonly endSecond: number;
  readonly status: readonly Line[];
  /** The greatest first. */
  readonly latency: readonly Line[];
  /** The dearest model first. */
  readonly costs: readonly Line[];
};

/** More would have colours that nobody tells apart. */
export const MODELS_SHOWN = 5;
const OTHERS = 'Other models';
const NO_MODEL = 'No model';
const POINTS_MAX = 2_000;

/** The intervals of all charts: percentiles of hours do not fold into days of the browser's zone, so none do. */
export function intervalsOf(bounds: Bounds): Pick<Figures, 'cut' | 'seconds' | 'endSecond'> {
  const cut = cutOf(bounds, false);
  const startOf = startsOf(cut);
  const seconds: number[] = [];
  let at = startOf(bounds.fromMs, 0);
  for (; at <= bounds.toMs && seconds.length < POINTS_MAX; at = startOf(at, 1)) seconds.push(at / 1_000);
  return { cut, seconds, endSecond: at / 1_000 };
}

export function figuresOf(
  bounds: Bounds,
  { facts, latencies }: { readonly facts: readonly Fact[]; readonly latencies: ReadonlyMap<number, Latency> },
): Figures {
  const intervals = intervalsOf(bounds);
  const startOf = startsOf(intervals.cut);
  const places = new Map(intervals.seconds.map((second, index) => [second, index]));
  const zeros = () => intervals.seconds.map(() => 0);
  const [passed, failed] = [zeros(), zeros()];
  const costs = new Map<string, number[]>();
  for (const fact of facts) {
    const place = places.get(startOf(fact.startMs, 0) / 1_000);
    if (place === undefined) continue;
    passed[place] = (passed[place] ?? 0) + fact.passed;
    failed[place] = (failed[place] ?? 0) + fact.failed;
    for (const [model, usd] of fact.costs) {
      const values = costs.get(model) ?? zeros();
      values[place] = (values[place] ?? 0) + usd;
      costs.set(model, values);
    }
  }
  const latencyOf = (name: keyof Latency) =>
    intervals.seconds.map((second) => latencies.get(second * 1_000)?.[name] ?? null);
  return {
    ...intervals,
    status: [
      { label: 'Not failed', values: passed },
      { label: 'Failed', values: failed },
    ],
    latency: (['p99', 'p95', 'p50'] as const).map((label) => ({ label, values: latencyOf(label) })),
    costs: dearest(costs),
  };
}

/** The models that cost most, and the rest together. */
function dearest(costs: ReadonlyMap<string, readonly number[]>): readonly Line[] {
  const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
  const lines = [...costs]
    .map(([label, values]) => ({ label, values, total: sum(values) }))
    .filter(({ total }) => total > 0)
    .sort((one, other) => other.total - one.total);
  const shown = lines.slice(0, lines.length > MODELS_SHOWN ? MODELS_SHOWN - 1 : MODELS_SHOWN);
  const rest = lines.slice(shown.length);
  const folded = shown.map(({ label, values }) => ({ label, values }));
  if (rest.length === 0) return folded;
  const values = (shown[0]?.values ?? []).map((_, place) => sum(rest.map((line) => line.values[place] ?? 0)));
  return [...folded, { label: OTHERS, values }];
}

/** What the server's sums say, in its buckets of the same intervals. */
export function readBuckets(
  counts: readonly AnalyticsBucket[],
  durations: readonly AnalyticsBucket[],
  costs: readonly AnalyticsBucket[],
) {
  const facts = counts.map((bucket): Fact => {
    const failed = Number(bucket.errors ?? 0n);
    return { startMs: startMsOf(bucket), passed: Number(bucket.traces ?? 0n) - failed, failed, costs: [] };
  });
  const spent = costs.map((bucket): Fact => {
    const { group = NO_MODEL, totalCost } = bucket;
    return { startMs: startMsOf(bucket), passed: 0, failed: 0, costs: [[group, totalCost?.value ?? 0]] };
  });
  const latencies = durations.map((bucket) => {
    const { totalTimeMsP50: p50, totalTimeMsP95: p95, totalTimeMsP99: p99 } = bucket;
    return [startMsOf(bucket), { p50: toNumber(p50), p95: toNumber(p95), p99: toNumber(p99) }] as const;
  });
  return { facts: [...facts, ...spent], latencies: new Map(latencies) };
}

function startMsOf({ startsAt }: AnalyticsBucket): number {
  return startsAt ? timestampMs(startsAt) : 0;
}

function toNumber(count: { readonly value?: bigint | undefined } | undefined): number | null {
  return count?.value === undefined ? null : Number(count.value);
}

/** What traces that were found say. The cost of a trace of several models is known of all of them together. */
export function readTraces(traces: readonly Trace[], bounds: Bounds) {
  const startOf = startsOf(cutOf(bounds, false));
  const durations = new Map<number, number[]>();
  const facts = traces.map(({ timestamps, error, models, metrics }): Fact => {
    const startMs = timestamps?.startedAt ? timestampMs(timestamps.startedAt) : 0;
    const key = startOf(startMs, 0);
    if (metrics?.totalTimeMs !== undefined) {
      durations.set(key, [...(durations.get(key) ?? []), Number(metrics.totalTimeMs)]);
    }
    const failed = Number(error !== undefined);
    return { startMs, passed: 1 - failed, failed, costs: [[models.join(', ') || NO_MODEL, metrics?.totalCost ?? 0]] };
  });
  const latencies = [...durations].map(([key, values]) => {
    const sorted = values.toSorted((one, other) => one - other);
    const at = (percent: number) => sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? null;
    return [key, { p50: at(50), p95: at(95), p99: at(99) }] as const;
  });
  return { facts, latencies: new Map(latencies) };
}

type ConditionName = 'userId' | 'customerId' | 'threadId' | 'label' | 'promptId' | 'promptVersion';

const CONDITIONS: Readonly<Record<string, ConditionName>> = {
  user: 'userId',
  customer: 'customerId',
  thread: 'threadId',
  label: 'label',
  prompt: 'promptId',
  'prompt-version': 'promptVersion',
};

export type Conditions = { readonly [K in (typeof CONDITIONS)[string]]?: string };

/** The conditions of the server's sums for what the list finds; null where these have none for it. */
export function conditionsOf({ q = '', not }: FinderSearch): Conditions | null {
  const { text, filters } = parseQueryLine(q);
  if (text !== '' || (not === true && filters.length > 0)) return null;
  const named = filters.map(({ name, value }) => [CONDITIONS[name], value] as const);
  const names = named.map(([name]) => name);
  if (names.includes(undefined) || new Set(names).size < names.length) return null;
  return Object.fromEntries(named) as Conditions;
}

/** The instants of a chosen part of the intervals, from and to included. */
export function rangeOfPoints(
  { seconds, endSecond }: Pick<Figures, 'seconds' | 'endSecond'>,
  first: number,
  last: number,
): { readonly fromMs: number; readonly toMs: number } | null {
  const from = seconds[Math.min(first, last)];
  if (from === undefined) return null;
  const end = seconds[Math.max(first, last) + 1] ?? endSecond;
  return { fromMs: from * 1_000, toMs: end * 1_000 - 1 };
}
