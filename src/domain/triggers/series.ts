/** The metrics that triggers watch: which analytics each asks, and the value of a window. */

import type { AnalyticsRequest, EvaluationAnalyticsRequest } from '../analytics/analytics.ts';
import type { GroupBy } from '../analytics/query.ts';
import type { Bucket, EvaluationBucket } from '../analytics/trace-analytics-store.ts';
import type { EvaluationGroupBy } from '../evaluations/analytics/query.ts';
import type { Reason } from '../fault.ts';
import { choiceReason, customReason } from '../reasons.ts';
import type { SentFilter } from '../traces/search/trace-search-query.ts';
import { isWorse, type Observation } from './metric-state.ts';
import type { Operator, Series } from './trigger.ts';

/** Null: the window has no such value. */
type Read<B extends { readonly totals: object }> = (totals: B['totals']) => number | null;
type Metrics<B extends { readonly totals: object }> = {
  readonly [metric: string]: { readonly [aggregation: string]: Read<B> };
};

const PERCENT = 100;

const perTrace = (sum: number | null, traces: number) => (sum === null || traces === 0 ? null : sum / traces);

const TRACE_METRICS: Metrics<Bucket> = {
  traces: { sum: ({ traces }) => traces },
  spans: { sum: ({ spans }) => spans, avg: ({ spans, traces }) => perTrace(spans, traces) },
  errors: {
    sum: ({ errors }) => errors,
    share: ({ errors, traces }) => (traces === 0 ? null : (errors / traces) * PERCENT),
  },
  prompt_tokens: {
    sum: ({ promptTokens }) => promptTokens,
    avg: ({ promptTokens, traces }) => perTrace(promptTokens, traces),
  },
  completion_tokens: {
    sum: ({ completionTokens }) => completionTokens,
    avg: ({ completionTokens, traces }) => perTrace(completionTokens, traces),
  },
  total_cost: {
    sum: ({ totalCostUsd }) => totalCostUsd,
    avg: ({ totalCostUsd, traces }) => perTrace(totalCostUsd, traces),
  },
  first_token_ms: {
    p50: ({ firstTokenMs }) => firstTokenMs?.p50 ?? null,
    p95: ({ firstTokenMs }) => firstTokenMs?.p95 ?? null,
  },
  total_time_ms: {
    p50: ({ totalTimeMs }) => totalTimeMs?.p50 ?? null,
    p95: ({ totalTimeMs }) => totalTimeMs?.p95 ?? null,
  },
};

const EVALUATION_METRICS: Metrics<EvaluationBucket> = {
  evaluations: { sum: ({ evaluations }) => evaluations },
  evaluation_failures: {
    sum: ({ failed }) => failed,
    share: ({ passRate }) => (passRate === null ? null : (1 - passRate) * PERCENT),
  },
  evaluation_score: {
    avg: ({ scoreMean }) => scoreMean,
    min: ({ scoreMin }) => scoreMin,
    max: ({ scoreMax }) => scoreMax,
    p50: ({ scores }) => scores?.p50 ?? null,
    p95: ({ scores }) => scores?.p95 ?? null,
  },
};

const TRACE_GROUPS: Readonly<Record<string, GroupBy>> = {
  ...{ none: 'none', model: 'model', user_id: 'user_id', customer_id: 'customer_id', label: 'label' },
  ...{ thread_id: 'thread_id', 'prompt.id': 'prompt_id', 'prompt.version': 'prompt_version' },
};
const EVALUATION_GROUPS: readonly EvaluationGroupBy[] = ['none', 'evaluator_id', 'label'];

/** A window without traces counts as zero of these, and has no data of all others. */
const ZERO_WITHOUT_DATA: ReadonlySet<string> = new Set(['traces', 'evaluations']);

/** The filters that analytics can apply, by the names of search, and their conditions. */
const TRACE_CONDITIONS = {
  'metadata.user_id': 'userId',
  'metadata.customer_id': 'customerId',
  'metadata.thread_id': 'threadId',
  'metadata.labels': 'label',
  'spans.model': 'model',
  'prompt.id': 'promptId',
  'prompt.version': 'promptVersion',
} as const;
const EVALUATION_CONDITIONS = { 'evaluations.evaluator_id': 'evaluatorId' } as const;

const GROUPS_MAX = 1_000;

/** What a window is asked for. Equal questions have equal answers. */
export type Question =
  | { readonly of: 'traces'; readonly request: AnalyticsRequest }
  | { readonly of: 'evaluations'; readonly request: EvaluationAnalyticsRequest };

type Watched = { readonly series: Series; readonly filters: readonly SentFilter[] };

/** The problems of a series and of the filters that are applied to it. */
export function seriesProblems({ series, filters }: Watched): readonly Reason[] {
  const { metric, aggregation, groupBy } = series;
  const isOfEvaluations = Object.hasOwn(EVALUATION_METRICS, metric);
  const known = isOfEvaluations ? EVALUATION_METRICS : TRACE_METRICS;
  if (!Object.hasOwn(known, metric)) {
    return [choiceReason('series.metric', Object.keys({ ...TRACE_METRICS, ...EVALUATION_METRICS }), metric)];
  }
  const problems: Reason[] = [];
  const aggregations = Object.keys(known[metric] ?? {});
  if (!aggregations.includes(aggregation)) {
    problems.push(choiceReason('series.aggregation', aggregations, aggregation));
  }
  const groups: readonly string[] = isOfEvaluations ? EVALUATION_GROUPS : Object.keys(TRACE_GROUPS);
  if (!groups.includes(groupBy)) problems.push(choiceReason('series.groupBy', groups, groupBy));
  const allowed = Object.keys(isOfEvaluations ? EVALUATION_CONDITIONS : TRACE_CONDITIONS);
  for (const { name, values } of filters) {
    const field = `filters.${name}`;
    if (!allowed.includes(name)) {
      const message = `${field} cannot be applied to the metric ${metric}, only ${allowed.join(', ')}`;
      problems.push(customReason(field, message));
    } else if (values.length !== 1) {
      problems.push(customReason(field, `${field} must hold exactly one value for a metric`));
    }
  }
  return problems;
}

/** The question about a window; only for a series without problems. */
export function questionOf(
  { series, filters }: Watched,
  window: { readonly fromMs: number; readonly toMs: number },
): Question {
  const { metric, aggregation, groupBy } = series;
  const hasPercentiles = aggregation.startsWith('p');
  const base = { ...window, interval: 'total', limit: GROUPS_MAX } as const;
  const valueOfFilter = (name: string) => filters.find((filter) => filter.name === name)?.values[0] ?? null;
  const conditionsOf = <Name extends string>(names: { readonly [filter: string]: Name }) =>
    Object.fromEntries(Object.entries(names).map(([filter, name]) => [name, valueOfFilter(filter)])) as {
      [N in Name]: string | null;
    };
  if (Object.hasOwn(EVALUATION_METRICS, metric)) {
    const metrics = new Set(hasPercentiles ? (['score_p50', 'score_p95'] as const) : (['evaluations'] as const));
    const conditions = { ...conditionsOf(EVALUATION_CONDITIONS), label: null, monitorId: null };
    return {
      of: 'evaluations',
      request: { ...base, groupBy: groupBy as EvaluationGroupBy, conditions, metrics },
    };
  }
  const metrics = new Set(
    hasPercentiles ? (['total_time_ms_p50', 'first_token_ms_p50'] as const) : (['traces'] as const),
  );
  return {
    of: 'traces',
    request: {
      ...{ ...base, groupBy: TRACE_GROUPS[groupBy] ?? 'none', conditions: conditionsOf(TRACE_CONDITIONS), metrics },
      feedback: null,
    },
  };
}

type Answer =
  | { readonly of: 'traces'; readonly buckets: readonly Bucket[] }
  | { readonly of: 'evaluations'; readonly buckets: readonly EvaluationBucket[] };

/** What the answer shows of a series: the value, of groups the worst. */
export function observe({ metric, aggregation }: Series, operator: Operator, answer: Answer): Observation {
  const found =
    answer.of === 'traces'
      ? valuesOf(TRACE_METRICS[metric]?.[aggregation], answer.buckets)
      : valuesOf(EVALUATION_METRICS[metric]?.[aggregation], answer.buckets);
  const [first, ...others] = found;
  if (first === undefined) {
    return answer.buckets.length === 0 && ZERO_WITHOUT_DATA.has(metric)
      ? { kind: 'value', value: 0, group: null }
      : { kind: 'no_data' };
  }
  const worst = others.reduce((worse, each) => (isWorse(operator, each.value, worse.value) ? each : worse), first);
  return { kind: 'value', ...worst };
}

type Valued = { readonly value: number; readonly group: string | null };

function valuesOf<B extends { readonly totals: object; readonly group: string | null }>(
  read: Read<B> | undefined,
  buckets: readonly B[],
): readonly Valued[] {
  return buckets.flatMap(({ totals, group }) => {
    const value = read?.(totals) ?? null;
    return value === null ? [] : [{ value, group }];
  });
}
