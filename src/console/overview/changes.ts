/** Finds what differs between a range and the one before. Each search asks a bounded number of queries. */

import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type AnalyticsBucket, AnalyticsGrouping, AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { EvaluationGrouping } from '../../../gen/spandrel/v1/evaluation_analytics_pb.js';
import { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import { formatCost, formatDuration, formatShare } from '../design/format.ts';
import { similarFailures } from '../trace/failures.ts';
import { writeQueryLine } from '../traces/query-line.ts';
import type { TraceListSearch } from '../traces/search.ts';
import { toFilterInput } from '../traces/search-input.ts';
import { MODEL_TRACES_MAX, type TraceCounts } from './query-keys.ts';
import { type Range, rangeBefore, rangeInput } from './series.ts';

/** What a line says, and where it leads. */
export type Change = {
  readonly kind: string;
  readonly text: string;
  readonly search: TraceListSearch | null;
  /** Of a monitor, where it leads to its page. */
  readonly monitorId?: string;
};

export type Ask = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
) => Promise<MessageShape<O>>;

export type Search = TraceCounts & { readonly ask: Ask; readonly range: Range };

const ERRORS_READ = 100;
const ERRORS_SHOWN = 5;
const TEXT_CHARACTERS = 120;
const GROUPS_MAX = 1_000;
const LABELS_MAX = 100;
const DOUBLED = 2;
/** The slowest of few traces are chance. */
const TRACES_MIN = 20;
const total = { interval: AnalyticsInterval.TOTAL };

/** Errors that the traces of the range before did not have. */
export async function findNewErrors({ ask, range, tracesBefore }: Search): Promise<readonly Change[]> {
  // Else every error would be new.
  if (tracesBefore === 0) return [];
  const failed = { filters: [{ name: 'traces.error', values: ['true'] }] };
  const dates = ({ fromMs, toMs }: Range) => ({ startDate: timestampFromMs(fromMs), endDate: timestampFromMs(toMs) });
  const { traces } = await ask(TraceService.method.searchTraces, {
    ...failed,
    ...dates(range),
    pageSize: ERRORS_READ,
  });
  const messages = traces.flatMap(({ view }) => (view.case === 'trace' ? [view.value.error?.message ?? ''] : []));
  const groups = [
    ...Map.groupBy(
      messages.filter((text) => text !== ''),
      (message) => similarFailures({ message }),
    ),
  ]
    .map(([line, alike]) => ({ line, message: alike[0] ?? '', count: alike.length }))
    .sort((one, other) => other.count - one.count)
    .slice(0, ERRORS_SHOWN);
  const found: Change[] = [];
  for (const { line, message, count } of groups) {
    const before = await ask(TraceService.method.searchTraces, {
      ...toFilterInput({ q: line }),
      ...dates(rangeBefore(range)),
      pageSize: 1,
    });
    if (before.traces.length > 0) continue;
    const text = `${cut(message)} (${count === ERRORS_READ ? `${count} or more` : count})`;
    found.push({ kind: 'New error', text, search: { q: line } });
  }
  return found;
}

/** Models and labels whose traces take twice as long at the 95th percentile. */
export async function findSlower({ ask, range, traces }: Search): Promise<readonly Change[]> {
  const kinds = [
    { name: 'label', groupBy: AnalyticsGrouping.LABEL },
    ...(traces <= MODEL_TRACES_MAX ? [{ name: 'model', groupBy: AnalyticsGrouping.MODEL }] : []),
  ];
  const found: Change[] = [];
  for (const { name, groupBy } of kinds) {
    const input = { ...total, groupBy, limit: LABELS_MAX, metrics: 'traces,total_time_ms' };
    const read = async (part: Range) =>
      (await ask(TraceService.method.queryAnalytics, { ...input, ...rangeInput(part) })).buckets;
    const before = new Map((await read(rangeBefore(range))).map((bucket) => [bucket.group, bucket]));
    for (const bucket of await read(range)) {
      const [now, then] = [durationOf(bucket), durationOf(before.get(bucket.group))];
      if (bucket.group === undefined || now === null || then === null || now < DOUBLED * then) continue;
      const search = {
        q: writeQueryLine({ text: '', filters: [{ name, value: bucket.group }] }),
        sort: 'duration',
      } as const;
      const text = `${name} ${bucket.group}: p95 ${formatDuration(then)} → ${formatDuration(now)}`;
      found.push({ kind: 'Slower', text, search });
    }
  }
  return found;
}

/** The user with the highest cost, if any trace names one. */
export async function findDearestUser({ ask, range }: Search): Promise<readonly Change[]> {
  const input = { ...total, groupBy: AnalyticsGrouping.USER_ID, limit: GROUPS_MAX, metrics: 'traces,total_cost' };
  const { buckets } = await ask(TraceService.method.queryAnalytics, { ...input, ...rangeInput(range) });
  const costOf = (bucket: AnalyticsBucket) => bucket.totalCost?.value ?? 0;
  const all = buckets.reduce((sum, bucket) => sum + costOf(bucket), 0);
  const [first] = buckets
    .filter(({ group }) => group !== undefined)
    .toSorted((one, other) => costOf(other) - costOf(one));
  if (first?.group === undefined || costOf(first) === 0) return [];
  const text = `${first.group}: ${formatCost(costOf(first))}, ${formatShare(costOf(first) / all)} of the cost of users`;
  const q = writeQueryLine({ text: '', filters: [{ name: 'user', value: first.group }] });
  return [{ kind: 'Dearest user', text, search: { q, sort: 'cost' } }];
}

/** Monitors that are on, gave verdicts in the range before, and give none now. */
export async function findSilentMonitors({ ask, range }: Search): Promise<readonly Change[]> {
  const input = { ...total, groupBy: EvaluationGrouping.MONITOR_ID, metrics: 'evaluations,processed' };
  const read = async (part: Range) => {
    const answer = await ask(EvaluationService.method.queryEvaluationAnalytics, { ...input, ...rangeInput(part) });
    return new Map(answer.buckets.map((bucket) => [bucket.group, Number(bucket.processed ?? 0n)]));
  };
  const { monitors } = await ask(MonitorService.method.listMonitors, {});
  if (monitors.length === 0) return [];
  const [before, now] = [await read(rangeBefore(range)), await read(range)];
  return monitors
    .filter(({ id, enabled }) => enabled && (before.get(id) ?? 0) > 0 && (now.get(id) ?? 0) === 0)
    .map(({ id, name = '' }) => ({
      kind: 'Silent monitor',
      text: `${name} judged ${before.get(id)} traces before, and none now`,
      search: null,
      monitorId: id,
    }));
}

function durationOf(bucket: AnalyticsBucket | undefined): number | null {
  if (bucket === undefined || Number(bucket.traces ?? 0n) < TRACES_MIN) return null;
  return bucket.totalTimeMsP95?.value === undefined ? null : Number(bucket.totalTimeMsP95.value);
}

function cut(message: string): string {
  const [line = ''] = message.trim().split('\n');
  return line.length > TEXT_CHARACTERS ? `${line.slice(0, TEXT_CHARACTERS)}…` : line;
}
