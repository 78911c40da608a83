/** The groupings and metrics of evaluation analytics. */

import { readMetricList } from '../../analytics/query.ts';

export type EvaluationGroupBy = 'none' | 'evaluator_id' | 'label' | 'monitor_id';

const EVALUATION_METRICS = [
  'evaluations',
  'processed',
  'skipped',
  'errors',
  'passed',
  'failed',
  'pass_rate',
  'scored',
  'score_mean',
  'score_min',
  'score_max',
  'score_p50',
  'score_p95',
] as const;
export type EvaluationMetric = (typeof EVALUATION_METRICS)[number];

/** `score` selects every metric of scores. */
const FAMILIES: ReadonlyMap<string, readonly EvaluationMetric[]> = new Map([
  ['score', EVALUATION_METRICS.filter((metric) => metric.startsWith('score'))],
]);

/** Reads a comma-separated list; an empty one selects every metric. */
export function readEvaluationMetrics(list: string) {
  return readMetricList(list, EVALUATION_METRICS, FAMILIES);
}
