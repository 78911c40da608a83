/** What analytics can be asked for. */

import type { Reason } from '../fault.ts';

export const INTERVALS = ['minute', 'hour', 'day', 'week', 'month', 'total'] as const;
export type Interval = (typeof INTERVALS)[number];

export const GROUPINGS = ['none', 'model', 'user_id', 'customer_id', 'label', 'thread_id'] as const;
export type GroupBy = (typeof GROUPINGS)[number];

export const METRICS = [
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
export type Metric = (typeof METRICS)[number];

/** Names that stand for several metrics. */
const FAMILIES: ReadonlyMap<string, readonly Metric[]> = new Map([
  ['first_token_ms', ['first_token_ms_p50', 'first_token_ms_p95']],
  ['total_time_ms', ['total_time_ms_p50', 'total_time_ms_p95']],
]);
const KNOWN: ReadonlySet<string> = new Set(METRICS);
const LIST_CHARACTERS_MAX = 1_000;

export type ReadMetrics = { readonly metrics: ReadonlySet<Metric>; readonly reasons: readonly Reason[] };

/** Reads a comma list; an empty one asks for everything. */
export function readMetrics(list: string): ReadMetrics {
  if (list === '') return { metrics: new Set(METRICS), reasons: [] };
  const metrics = new Set<Metric>();
  if (list.length > LIST_CHARACTERS_MAX) return { metrics, reasons: [UNKNOWN_METRIC] };
  let hasUnknown = false;
  for (const name of list.split(',').map((each) => each.trim())) {
    if (isMetric(name)) metrics.add(name);
    else if (FAMILIES.has(name)) for (const each of FAMILIES.get(name) ?? []) metrics.add(each);
    else hasUnknown = true;
  }
  return { metrics, reasons: hasUnknown ? [UNKNOWN_METRIC] : [] };
}

const UNKNOWN_METRIC: Reason = {
  field: 'metrics',
  type: 'custom',
  message: `metrics must be a comma list of ${[...METRICS, ...FAMILIES.keys()].join(', ')}`,
};

function isMetric(name: string): name is Metric {
  return KNOWN.has(name);
}

/** Those of which every value has to be looked at. */
export function isPercentile(metric: Metric): boolean {
  return /_p\d\d$/.test(metric);
}
