/** The metrics and aggregations of LangWatch's charts that the sums of this server give. */

import type { GroupBy } from './query.ts';
import type { Totals } from './sums.ts';
import type { EvaluationTotals } from './trace-analytics-store.ts';

/** Of one bucket. The mean of several is the sum of their values by the sum of their weights. */
export type Part = { readonly value: number; readonly weight: number };

/** How buckets make up a longer interval; `single` ones do not. */
type Folding = 'sum' | 'mean' | 'single';

/** Null: the bucket has no value. */
export type Measure = { readonly folding: Folding } & (
  | { readonly source: 'sums' | 'percentiles'; readonly read: (totals: Totals) => Part | null }
  | { readonly source: 'evaluations'; readonly read: (totals: EvaluationTotals) => Part | null }
  /** The number of groups with a value. */
  | { readonly source: 'groups'; readonly groupBy: GroupBy }
);

/** What the filter on failed traces leaves of the number of traces. */
export const FAILED_TRACES: Measure = {
  source: 'sums',
  folding: 'sum',
  read: ({ errors }) => ({ value: errors, weight: 1 }),
};

type Aggregations = { readonly [aggregation: string]: Measure };

/** By the name of the metric, then of the aggregation. */
export const MEASURES: { readonly [metric: string]: Aggregations } = {
  'metadata.trace_id': counted(({ traces }) => traces),
  'metadata.user_id': groups('user_id'),
  'metadata.thread_id': groups('thread_id'),
  'performance.total_cost': amount(({ totalCostUsd }) => totalCostUsd),
  'performance.prompt_tokens': amount(({ promptTokens }) => promptTokens),
  'performance.completion_tokens': amount(({ completionTokens }) => completionTokens),
  'performance.total_tokens': amount(({ promptTokens, completionTokens }) =>
    promptTokens === null && completionTokens === null ? null : (promptTokens ?? 0) + (completionTokens ?? 0),
  ),
  'performance.completion_time': percentiles('totalTimeMs'),
  'performance.first_token': percentiles('firstTokenMs'),
  'evaluations.evaluation_runs': {
    cardinality: { source: 'evaluations', folding: 'sum', read: ({ evaluations: value }) => ({ value, weight: 1 }) },
  },
  'evaluations.evaluation_pass_rate': {
    avg: {
      source: 'evaluations',
      folding: 'mean',
      read: ({ passed, failed }) => ({ value: passed, weight: passed + failed }),
    },
  },
  'evaluations.evaluation_score': {
    avg: {
      source: 'evaluations',
      folding: 'mean',
      read: ({ scoreMean, scored }) => ({ value: (scoreMean ?? 0) * scored, weight: scored }),
    },
    min: score(({ scoreMin }) => scoreMin),
    max: score(({ scoreMax }) => scoreMax),
    median: score(({ scores }) => scores?.p50 ?? null),
    p95: score(({ scores }) => scores?.p95 ?? null),
  },
};

/** The value of an interval; null: none. `parts` are those of its buckets. */
export function foldParts(folding: Folding, parts: readonly Part[]): number | null {
  const value = parts.reduce((sum, each) => sum + each.value, 0);
  if (folding === 'sum') return value;
  if (folding === 'single') return parts[0]?.value ?? null;
  const weight = parts.reduce((sum, each) => sum + each.weight, 0);
  return weight === 0 ? null : value / weight;
}

function counted(of: (totals: Totals) => number): Aggregations {
  const measure = {
    source: 'sums',
    folding: 'sum',
    read: (totals: Totals) => ({ value: of(totals), weight: 1 }),
  } as const;
  return { cardinality: measure, terms: measure };
}

function groups(groupBy: GroupBy): Aggregations {
  return { cardinality: { source: 'groups', folding: 'single', groupBy } };
}

/** The average is per trace, whether its value is known or not. */
function amount(of: (totals: Totals) => number | null): Aggregations {
  const read = (totals: Totals) => ({ value: of(totals) ?? 0, weight: totals.traces });
  return { sum: { source: 'sums', folding: 'sum', read }, avg: { source: 'sums', folding: 'mean', read } };
}

function percentiles(name: 'totalTimeMs' | 'firstTokenMs'): Aggregations {
  const at = (rank: 'p50' | 'p95'): Measure => ({
    source: 'percentiles',
    folding: 'single',
    read: (totals) => partOf(totals[name]?.[rank] ?? null),
  });
  return { median: at('p50'), p95: at('p95') };
}

function score(of: (totals: EvaluationTotals) => number | null): Measure {
  return { source: 'evaluations', folding: 'single', read: (totals) => partOf(of(totals)) };
}

function partOf(value: number | null): Part | null {
  return value === null ? null : { value, weight: 1 };
}
