/** Analytics of evaluations: message <-> domain values. */

import {
  EvaluationAnalyticsBucketSchema,
  EvaluationGrouping,
  type QueryEvaluationAnalyticsRequest,
} from '../../../gen/spandrel/v1/evaluation_analytics_pb.js';
import type { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import type { Analytics, EvaluationAnalyticsRequest } from '../../domain/analytics/analytics.ts';
import type { EvaluationBucket } from '../../domain/analytics/trace-analytics-store.ts';
import { type EvaluationMetric, readEvaluationMetrics } from '../../domain/evaluations/analytics/query.ts';
import {
  bucketMessage,
  callOf,
  problemsOfRange,
  queryMessage,
  readQuery,
  selectMetrics,
} from '../analytics/analytics.ts';
import { wordOf } from '../enums.ts';
import type { Implementation } from '../method.ts';

type Rpcs = Pick<Implementation<typeof EvaluationService>, 'queryEvaluationAnalytics'>;

export function createEvaluationAnalyticsRpc(analytics: Analytics): Rpcs {
  return {
    queryEvaluationAnalytics: {
      check: (request) => [...problemsOfRange(request), ...readEvaluationMetrics(request.metrics).reasons],
      handle: async (request, context) => {
        const query = toQuery(request);
        const { buckets, isTruncated } = await analytics.queryEvaluations(query, callOf(context));
        return {
          ...queryMessage(request, query),
          groupBy: request.groupBy || EvaluationGrouping.NONE,
          truncated: isTruncated,
          buckets: buckets.map((bucket) => ({ ...bucketMessage(bucket), ...selected(bucket, query.metrics) })),
        };
      },
    },
  };
}

function toQuery(request: QueryEvaluationAnalyticsRequest): EvaluationAnalyticsRequest {
  const { evaluatorId = null, label = null, monitorId = null } = request;
  return {
    ...readQuery(request),
    groupBy: wordOf(EvaluationGrouping, request.groupBy) ?? 'none',
    metrics: readEvaluationMetrics(request.metrics).metrics,
    conditions: { evaluatorId, label, monitorId },
  };
}

function selected({ totals }: EvaluationBucket, metrics: ReadonlySet<EvaluationMetric>) {
  return selectMetrics(EvaluationAnalyticsBucketSchema, metrics, {
    evaluations: BigInt(totals.evaluations),
    processed: BigInt(totals.processed),
    skipped: BigInt(totals.skipped),
    errors: BigInt(totals.errors),
    passed: BigInt(totals.passed),
    failed: BigInt(totals.failed),
    pass_rate: { value: totals.passRate },
    scored: BigInt(totals.scored),
    score_mean: { value: totals.scoreMean },
    score_min: { value: totals.scoreMin },
    score_max: { value: totals.scoreMax },
    score_p50: { value: totals.scores?.p50 },
    score_p95: { value: totals.scores?.p95 },
  });
}
