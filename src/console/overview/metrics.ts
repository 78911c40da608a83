/** The metrics of traces. */

import type { AnalyticsBucket } from '../../../gen/spandrel/v1/analytics_pb.js';
import { formatCost, formatCount, formatDuration } from '../design/format.ts';
import type { MetricName } from './search.ts';
import type { Metric } from './series.ts';

export const METRICS: Readonly<Record<MetricName, Metric<AnalyticsBucket>>> = {
  cost: { label: 'Cost', format: formatCost, read: ({ totalCost }) => totalCost?.value ?? null, emptyValue: 0 },
  traces: { label: 'Traces', format: formatCount, read: ({ traces }) => Number(traces ?? 0n), emptyValue: 0 },
  tokens: { label: 'Tokens', format: formatCount, read: tokensOf, emptyValue: 0 },
  errors: {
    label: 'Failed traces',
    format: formatCount,
    read: ({ errors }) => Number(errors ?? 0n),
    emptyValue: 0,
    isBad: true,
  },
  latency: {
    label: 'Duration, p95',
    format: formatDuration,
    read: ({ totalTimeMsP95 }) => (totalTimeMsP95?.value === undefined ? null : Number(totalTimeMsP95.value)),
    emptyValue: null,
  },
};

export function tokensOf({ promptTokens, completionTokens }: AnalyticsBucket): number {
  return Number(promptTokens?.value ?? 0n) + Number(completionTokens?.value ?? 0n);
}
