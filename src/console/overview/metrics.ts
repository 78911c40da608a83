/** The metrics of traces, and what traces are grouped by. */

import { type AnalyticsBucket, AnalyticsGrouping } from '../../../gen/spandrel/v1/analytics_pb.js';
import { formatCost, formatCount, formatDuration } from '../design/format.ts';
import type { GroupName } from './search.ts';
import type { Metric } from './series.ts';

export type MetricName = 'traces' | 'errors' | 'cost' | 'tokens' | 'latency' | 'first-token';

/** Sums come from hours that are summed up already; percentiles need every trace, so they are asked for apart. */
export const SUMS = 'traces,spans,errors,total_cost,prompt_tokens,completion_tokens';
export const PERCENTILES = 'total_time_ms,first_token_ms';

export const METRICS: Readonly<Record<MetricName, Metric<AnalyticsBucket>>> = {
  traces: { label: 'Traces', format: formatCount, read: ({ traces }) => Number(traces ?? 0n), emptyValue: 0 },
  errors: {
    label: 'Failed traces',
    format: formatCount,
    read: ({ errors }) => Number(errors ?? 0n),
    emptyValue: 0,
    isBad: true,
  },
  cost: { label: 'Cost', format: formatCost, read: ({ totalCost }) => totalCost?.value ?? null, emptyValue: 0 },
  tokens: { label: 'Tokens', format: formatCount, read: tokensOf, emptyValue: 0 },
  latency: {
    label: 'Duration, p95',
    format: formatDuration,
    read: ({ totalTimeMsP95 }) => (totalTimeMsP95?.value === undefined ? null : Number(totalTimeMsP95.value)),
    emptyValue: null,
  },
  'first-token': {
    label: 'First token of any call, p95',
    format: formatDuration,
    read: ({ firstTokenMsP95 }) => (firstTokenMsP95?.value === undefined ? null : Number(firstTokenMsP95.value)),
    emptyValue: null,
  },
};

export function tokensOf({ promptTokens, completionTokens }: AnalyticsBucket): number {
  return Number(promptTokens?.value ?? 0n) + Number(completionTokens?.value ?? 0n);
}

export const LABELS: Readonly<Record<GroupName, string>> = {
  model: 'Model',
  user: 'User',
  customer: 'Customer',
  label: 'Label',
  prompt: 'Prompt',
  'prompt-version': 'Prompt version',
};
export const GROUPINGS: Readonly<Record<GroupName, AnalyticsGrouping>> = {
  model: AnalyticsGrouping.MODEL,
  user: AnalyticsGrouping.USER_ID,
  customer: AnalyticsGrouping.CUSTOMER_ID,
  label: AnalyticsGrouping.LABEL,
  prompt: AnalyticsGrouping.PROMPT_ID,
  'prompt-version': AnalyticsGrouping.PROMPT_VERSION,
};

/** Sums of buckets. */
export type Sums = { readonly [Name in (typeof ADDED)[number]]: number };
const ADDED = ['traces', 'spans', 'errors', 'cost', 'tokens', 'outputTokens'] as const;

export function sumOf(buckets: readonly AnalyticsBucket[]): Sums {
  const sums = { traces: 0, spans: 0, errors: 0, cost: 0, tokens: 0, outputTokens: 0 };
  for (const bucket of buckets) {
    sums.traces += Number(bucket.traces ?? 0n);
    sums.spans += Number(bucket.spans ?? 0n);
    sums.errors += Number(bucket.errors ?? 0n);
    sums.cost += bucket.totalCost?.value ?? 0;
    sums.tokens += tokensOf(bucket);
    sums.outputTokens += Number(bucket.completionTokens?.value ?? 0n);
  }
  return sums;
}

const change = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' });
/** Beyond it a factor says more. */
const SHARE_MAX = 10;

/** How a value differs from that of the period before, with its sign; empty where nothing can be compared. */
export function formatChange(now: number | null | undefined, before: number | null | undefined): string {
  if (now == null || before == null || (now === 0 && before === 0)) return '';
  if (before === 0) return 'none before';
  const ratio = now / before;
  return asChange(ratio > SHARE_MAX ? `×${Math.round(ratio)}` : change.format(ratio - 1));
}

/** A difference, as cards say it. */
export function asChange(difference: string): string {
  return `${difference} vs. before`;
}
