/** Charts in the form of LangWatch's interface: several series over a range, and over the range before it. */

import { validationFault } from '../fault.ts';
import { customReason, refuseProblems } from '../reasons.ts';
import type { Analytics, AnalyticsCall } from './analytics.ts';
import type { Metric } from './query.ts';
import type { IntervalPlan } from './timeseries-intervals.ts';
import { foldParts, type Measure, type Part } from './timeseries-measures.ts';
import {
  readTimeseries,
  type SentTimeseries,
  type Series,
  type Timeseries,
  timeseriesProblems,
} from './timeseries-request.ts';

export type TimeseriesPoint = {
  /** RFC 3339, or full. */
  readonly date: string;
  /** Numbers by series, or objects of them by group under the name of the grouping. */
  readonly values: object;
};

export type TimeseriesAnswer = {
  readonly current: readonly TimeseriesPoint[];
  /** Of the range of the same length before. */
  readonly previous: readonly TimeseriesPoint[];
};

export type TimeseriesQueries = ReturnType<typeof createTimeseries>;

/** Users or threads of a range that are counted, which is done by grouping by them. */
const COUNTED_MAX = 1_000;
/** As LangWatch names the group without a value. */
const NO_GROUP = 'unknown';
const SUMS: ReadonlySet<Metric> = new Set(['traces']);
const PERCENTILES: ReadonlySet<Metric> = new Set(['total_time_ms_p95']);

type Range = { readonly fromMs: number; readonly toMs: number };
/** By the start of an interval, then by group. */
type Cells = Map<number, Map<string, Part[]>>;

export function createTimeseries(analytics: Pick<Analytics, 'query' | 'queryEvaluations'>) {
  /** The parts of one series. Series of the same source share a query. */
  async function partsOf(series: Series, range: Range, asking: Asking): Promise<Cells> {
    const { timeseries, plan, call } = asking;
    const { measure, evaluatorId } = series;
    const cells: Cells = new Map();
    const request = { ...range, interval: plan.interval, conditions: timeseries.conditions, limit: null };
    const groupBy = timeseries.grouping?.traces ?? 'none';
    const add = (startMs: number, group: string | null, part: Part | null) => {
      if (part === null) return;
      const start = plan.startOf(startMs);
      const groups = cells.get(start) ?? new Map<string, Part[]>();
      cells.set(start, groups);
      const name = group ?? NO_GROUP;
      groups.set(name, [...(groups.get(name) ?? []), part]);
    };
    switch (measure.source) {
      case 'sums':
      case 'percentiles': {
        const metrics = measure.source === 'sums' ? SUMS : PERCENTILES;
        const { buckets } = await asking.once(measure.source, () =>
          analytics.query({ ...request, groupBy, metrics, feedback: null }, call),
        );
        for (const { startMs, group, totals } of buckets) add(startMs, group, measure.read(totals));
        return cells;
      }
      case 'evaluations': {
        const of = { evaluatorId, label: null, monitorId: null };
        const { buckets } = await asking.once(`evaluations of ${evaluatorId}`, () =>
          analytics.queryEvaluations(
            {
              ...request,
              groupBy: timeseries.grouping?.evaluations ?? 'none',
              conditions: of,
              metrics: new Set(['evaluations', 'score_p95']),
            },
            call,
          ),
        );
        for (const { startMs, group, totals } of buckets) add(startMs, group, measure.read(totals));
        return cells;
      }
      case 'groups': {
        const { buckets, isTruncated } = await asking.once(measure.groupBy, () =>
          analytics.query(
            { ...request, groupBy: measure.groupBy, metrics: SUMS, limit: COUNTED_MAX, feedback: null },
            call,
          ),
        );
        if (isTruncated) throw validationFault('json', [TOO_MANY_TO_COUNT]);
        const counts = new Map<number, number>();
        for (const { startMs, group } of buckets) {
          if (group !== null) counts.set(startMs, (counts.get(startMs) ?? 0) + 1);
        }
        for (const [startMs, value] of counts) add(startMs, null, { value, weight: 1 });
        return cells;
      }
    }
  }

  /** One after the other: the sums of all projects are computed by the same readers. */
  async function pointsOf(timeseries: Timeseries, range: Range, call: AnalyticsCall): Promise<TimeseriesPoint[]> {
    const asking: Asking = { timeseries, plan: timeseries.planOf(range), call, once: onceByName() };
    const found: Found[] = [];
    for (const series of timeseries.series) found.push({ ...series, cells: await partsOf(series, range, asking) });
    const starts = [...new Set(found.flatMap(({ cells }) => [...cells.keys()]))].sort((one, other) => one - other);
    return starts.map((start) => ({
      date: timeseries.isFull ? 'full' : new Date(start).toISOString(),
      values: valuesAt(start, found, timeseries.grouping?.name ?? null),
    }));
  }

  return {
    problems: timeseriesProblems,
    /** Throws validation_error, also for too many buckets, and unavailable. */
    async query(sent: SentTimeseries, call: AnalyticsCall): Promise<TimeseriesAnswer> {
      refuseProblems(timeseriesProblems(sent));
      const timeseries = readTimeseries(sent);
      const { fromMs, toMs } = sent;
      const current = await pointsOf(timeseries, { fromMs, toMs }, call);
      const before = { fromMs: Math.max(0, fromMs - (toMs - fromMs) - 1), toMs: fromMs - 1 };
      const previous = before.toMs < before.fromMs ? [] : await pointsOf(timeseries, before, call);
      return { current, previous: previous.slice(Math.max(0, previous.length - current.length)) };
    },
  };
}

type Asking = {
  readonly timeseries: Timeseries;
  readonly plan: IntervalPlan;
  readonly call: AnalyticsCall;
  /** Runs a query, or returns what it returned under the same name. */
  readonly once: <Answer>(name: string, ask: () => Promise<Answer>) => Promise<Answer>;
};

function onceByName(): Asking['once'] {
  const asked = new Map<string, Promise<unknown>>();
  return <Answer>(name: string, ask: () => Promise<Answer>) => {
    const answer = (asked.get(name) as Promise<Answer> | undefined) ?? ask();
    asked.set(name, answer);
    return answer;
  };
}

type Found = { readonly name: string; readonly measure: Measure; readonly cells: Cells };

/** As LangWatch does it, sums are 0 where others have a value. */
function valuesAt(start: number, found: readonly Found[], grouping: string | null): object {
  const valuesOf = (group: string) =>
    Object.fromEntries(
      found.flatMap(({ name, measure: { folding }, cells }) => {
        const value = foldParts(folding, cells.get(start)?.get(group) ?? []);
        return value === null ? [] : [[name, value]];
      }),
    );
  if (grouping === null) return valuesOf(NO_GROUP);
  const groups = new Set(found.flatMap(({ cells }) => [...(cells.get(start)?.keys() ?? [])]));
  return { [grouping]: Object.fromEntries([...groups].map((group) => [group, valuesOf(group)])) };
}

const TOO_MANY_TO_COUNT = customReason(
  'series',
  `more than ${COUNTED_MAX} users or threads cannot be counted; ask for a shorter range`,
);
