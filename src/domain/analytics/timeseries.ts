/** Charts in the form of LangWatch's interface: several series over a range, and over the range before it. */

import { validationFault } from '../fault.ts';
import { customReason, refuseProblems } from '../reasons.ts';
import { type Analytics, type AnalyticsCall, tooLongFault } from './analytics.ts';
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
/** Added to that name where there is a group of the name. */
const NO_GROUP_MARK = ' (no value)';
/** Between two queries; each has a limit of its own. */
const DEADLINE_MS = 25_000;
const SUMS: ReadonlySet<Metric> = new Set(['traces']);
const PERCENTILES: ReadonlySet<Metric> = new Set(['total_time_ms_p95']);

type Range = { readonly fromMs: number; readonly toMs: number };
/** By the start of an interval, then by group; null: without a value, or not grouped. */
type Cells = Map<number, Map<string | null, Part[]>>;

export type TimeseriesCall = AnalyticsCall & {
  /** Throws a Fault once the client has left. */
  readonly checkConnected: () => void;
};

type TimeseriesDeps = {
  readonly analytics: Pick<Analytics, 'query' | 'queryEvaluations'>;
  /** Monotonic. */
  readonly passedMs: () => number;
};

export function createTimeseries({ analytics, passedMs }: TimeseriesDeps) {
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
      const groups = cells.get(start) ?? new Map<string | null, Part[]>();
      cells.set(start, groups);
      const parts = groups.get(group) ?? [];
      parts.push(part);
      groups.set(group, parts);
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
  async function read(timeseries: Timeseries, range: Range, { call, check }: Checked): Promise<Period> {
    const plan = timeseries.planOf(range);
    const asking: Asking = { timeseries, plan, call, once: onceByName(check) };
    const found: Found[] = [];
    for (const series of timeseries.series) found.push({ ...series, cells: await partsOf(series, range, asking) });
    const starts = [...new Set(found.flatMap(({ cells }) => [...cells.keys()]))].sort((one, other) => one - other);
    return { range, plan, found, starts };
  }

  return {
    problems: timeseriesProblems,
    /** Throws validation_error, also for too many buckets, and unavailable. */
    async query(sent: SentTimeseries, call: TimeseriesCall): Promise<TimeseriesAnswer> {
      refuseProblems(timeseriesProblems(sent));
      const timeseries = readTimeseries(sent);
      const { fromMs, toMs } = sent;
      const untilMs = passedMs() + DEADLINE_MS;
      const check = () => {
        call.checkConnected();
        if (passedMs() > untilMs) throw tooLongFault();
      };
      const current = await read(timeseries, { fromMs, toMs }, { call, check });
      const before = { fromMs: Math.max(0, fromMs - (toMs - fromMs) - 1), toMs: fromMs - 1 };
      const previous = before.toMs < before.fromMs ? null : await read(timeseries, before, { call, check });
      const noGroup = nameOfNoGroup([current, ...(previous === null ? [] : [previous])]);
      const show = ({ found }: Period, starts: readonly number[]) =>
        starts.map((start) => ({
          date: timeseries.isFull ? 'full' : new Date(start).toISOString(),
          values: valuesAt(start, found, { grouping: timeseries.grouping?.name ?? null, noGroup }),
        }));
      return {
        current: show(current, current.starts),
        previous: previous === null ? [] : show(previous, lastStarts(previous, countOf(current))),
      };
    },
  };
}

type Checked = { readonly call: AnalyticsCall; readonly check: () => void };

/** What was found of a range. */
type Period = {
  readonly range: Range;
  readonly plan: IntervalPlan;
  readonly found: readonly Found[];
  /** Of intervals with data, ascending. */
  readonly starts: readonly number[];
};

function countOf({ range: { fromMs, toMs }, plan }: Period): number {
  return plan.count(fromMs, toMs);
}

/** Those of the last intervals of the range, with data or not: it may reach into one more than the range after it. */
function lastStarts({ range, plan, starts }: Period, intervalsMax: number): readonly number[] {
  return starts.filter((start) => plan.count(start, range.toMs) <= intervalsMax);
}

/** No group of the answer has this name. */
function nameOfNoGroup(periods: readonly Period[]): string {
  const groups = periods.flatMap(({ found }) => found).flatMap(({ cells }) => [...cells.values()]);
  let name = NO_GROUP;
  while (groups.some((parts) => parts.has(name))) name += NO_GROUP_MARK;
  return name;
}

type Asking = {
  readonly timeseries: Timeseries;
  readonly plan: IntervalPlan;
  readonly call: AnalyticsCall;
  /** Runs a query, or returns what it returned under the same name. */
  readonly once: <Answer>(name: string, ask: () => Promise<Answer>) => Promise<Answer>;
};

/** `check` is called before each query. */
function onceByName(check: () => void): Asking['once'] {
  const asked = new Map<string, Promise<unknown>>();
  return <Answer>(name: string, ask: () => Promise<Answer>) => {
    const known = asked.get(name) as Promise<Answer> | undefined;
    if (known !== undefined) return known;
    check();
    const answer = ask();
    asked.set(name, answer);
    return answer;
  };
}

type Found = { readonly name: string; readonly measure: Measure; readonly cells: Cells };

type Naming = { readonly grouping: string | null; readonly noGroup: string };

/** As LangWatch does it, sums are 0 where others have a value. */
function valuesAt(start: number, found: readonly Found[], { grouping, noGroup }: Naming): object {
  const valuesOf = (group: string | null) =>
    Object.fromEntries(
      found.flatMap(({ name, measure: { folding }, cells }) => {
        const value = foldParts(folding, cells.get(start)?.get(group) ?? []);
        return value === null ? [] : [[name, value]];
      }),
    );
  if (grouping === null) return valuesOf(null);
  const groups = new Set(found.flatMap(({ cells }) => [...(cells.get(start)?.keys() ?? [])]));
  return { [grouping]: Object.fromEntries([...groups].map((group) => [group ?? noGroup, valuesOf(group)])) };
}

const TOO_MANY_TO_COUNT = customReason(
  'series',
  `more than ${COUNTED_MAX} users or threads cannot be counted; ask for a shorter range`,
);
