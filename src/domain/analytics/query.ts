/** The intervals, groupings and metrics of analytics. */

import type { Reason } from '../fault.ts';

export type Interval = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'total';
/** A number: as many minutes, less than a week; each interval begins a multiple of them after 1970. */
export type IntervalLength = Interval | number;
export type GroupBy =
  | 'none'
  | 'model'
  | 'user_id'
  | 'customer_id'
  | 'label'
  | 'thread_id'
  | 'prompt_id'
  | 'prompt_version';

/** Those of a query that names none. */
const METRICS_DEFAULT = [
  'traces',
  'spans',
  'errors',
  'prompt_tokens',
  'completion_tokens',
  'total_cost',
  'first_token_ms_p50',
  'first_token_ms_p95',
  'total_time_ms_p50',
  'total_time_ms_p95',
] as const;
const METRICS = [...METRICS_DEFAULT, 'first_token_ms_p99', 'total_time_ms_p99'] as const;
export type Metric = (typeof METRICS)[number];

/** Names that select several metrics. */
const FAMILIES: ReadonlyMap<string, readonly Metric[]> = new Map([
  ['first_token_ms', ['first_token_ms_p50', 'first_token_ms_p95']],
  ['total_time_ms', ['total_time_ms_p50', 'total_time_ms_p95']],
]);
const LIST_CHARACTERS_MAX = 1_000;

export const THUMBS_UP_SHARE = 'thumbs_up_share';
const FEEDBACK_PREFIX = 'events.';
const FEEDBACK = /^events\.[^.].*\.[^.]/;

/**
 * Reads a comma-separated list; an empty one selects the metrics of METRICS_DEFAULT. Those of feedback are `thumbs_up_share` and
 * `events.<type>.<metric>`. `feedback` are the names of the latter; null: neither is in the list.
 */
export function readMetrics(list: string) {
  const names = list.length > LIST_CHARACTERS_MAX ? [] : list.split(',').map((name) => name.trim());
  const feedback = names.filter((name) => name.startsWith(FEEDBACK_PREFIX));
  const others = names.filter((name) => !FEEDBACK.test(name) && name !== THUMBS_UP_SHARE);
  const isOfFeedback = others.length < names.length;
  const isAlone = isOfFeedback && others.length === 0;
  const { metrics, reasons } = isAlone
    ? { metrics: new Set<Metric>(), reasons: [] }
    : readMetricList<Metric>((isOfFeedback ? others.join(',') : list) || METRICS_DEFAULT.join(), METRICS, FAMILIES);
  return { metrics, reasons, feedback: isOfFeedback ? [...new Set(feedback)] : null, names: new Set(names) };
}

/** Reads a list of any metrics; `families` are names that select several. */
export function readMetricList<M extends string>(
  list: string,
  all: readonly M[],
  families: ReadonlyMap<string, readonly M[]>,
): { readonly metrics: ReadonlySet<M>; readonly reasons: readonly Reason[] } {
  if (list === '') return { metrics: new Set(all), reasons: [] };
  const unknown: Reason = {
    field: 'metrics',
    type: 'custom',
    message: `metrics must be a comma list of ${[...all, ...families.keys()].join(', ')}`,
  };
  if (list.length > LIST_CHARACTERS_MAX) return { metrics: new Set(), reasons: [unknown] };
  const named = new Map<string, readonly M[]>([...all.map((metric) => [metric, [metric]] as const), ...families]);
  const names = list.split(',').map((each) => each.trim());
  const metrics = new Set(names.flatMap((name) => named.get(name) ?? []));
  return { metrics, reasons: names.every((name) => named.has(name)) ? [] : [unknown] };
}

/** Whether the metric needs every single value, and not only sums. */
export function isPercentile(metric: string): boolean {
  return /_p\d\d$/.test(metric);
}
