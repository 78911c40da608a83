/** Analytics of evaluations: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import {
  type EvaluationAnalyticsBucketSchema,
  EvaluationGrouping,
  type QueryEvaluationAnalyticsRequest,
} from '../../../gen/spandrel/v1/evaluation_analytics_pb.js';
import type { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import type { Analytics, EvaluationAnalyticsRequest } from '../../domain/analytics/analytics.ts';
import type { EvaluationBucket } from '../../domain/analytics/trace-analytics-store.ts';
import {
  type EvaluationGroupBy,
  type EvaluationMetric,
  readEvaluationMetrics,
} from '../../domain/evaluations/analytics/query.ts';
import { callOf, INTERVALS, problemsOfRange, rangeOf } from '../analytics/analytics.ts';
import { timestampOfMs } from '../epoch-ms.ts';
import type { Implementation } from '../method.ts';

type Rpcs = Pick<Implementation<typeof EvaluationService>, 'queryEvaluationAnalytics'>;
type BucketInit = MessageInitShape<typeof EvaluationAnalyticsBucketSchema>;

export function createEvaluationAnalyticsRpc(analytics: Analytics): Rpcs {
  return {
    queryEvaluationAnalytics: {
      check: (request) => [...problemsOfRange(request), ...readEvaluationMetrics(request.metrics).reasons],
      handle: async (request, context) => {
        const query = toQuery(request);
        const { buckets, isTruncated } = await analytics.queryEvaluations(query, callOf(context));
        return {
          startedFrom: timestampOfMs(query.fromMs),
          startedTo: timestampOfMs(query.toMs),
          interval: request.interval || AnalyticsInterval.DAY,
          groupBy: request.groupBy || EvaluationGrouping.NONE,
          truncated: isTruncated,
          buckets: buckets.map((bucket) => bucketMessage(bucket, query.metrics)),
        };
      },
    },
  };
}

function toQuery(request: QueryEvaluationAnalyticsRequest): EvaluationAnalyticsRequest {
  const { interval, groupBy, metrics, limit } = request;
  const { evaluatorId = null, label = null, monitorId = null } = request;
  return {
    ...rangeOf(request),
    interval: INTERVALS.get(interval) ?? 'day',
    groupBy: GROUPINGS.get(groupBy) ?? 'none',
    metrics: readEvaluationMetrics(metrics).metrics,
    conditions: { evaluatorId, label, monitorId },
    limit: limit ?? null,
  };
}

const GROUPINGS: ReadonlyMap<EvaluationGrouping, EvaluationGroupBy> = new Map([
  [EvaluationGrouping.NONE, 'none'],
  [EvaluationGrouping.EVALUATOR_ID, 'evaluator_id'],
  [EvaluationGrouping.LABEL, 'label'],
  [EvaluationGrouping.MONITOR_ID, 'monitor_id'],
]);

function bucketMessage(
  { startMs, endMs, group, totals }: EvaluationBucket,
  metrics: ReadonlySet<EvaluationMetric>,
): BucketInit {
  const values: Required<Pick<BucketInit, (typeof MEMBERS)[EvaluationMetric]>> = {
    evaluations: BigInt(totals.evaluations),
    processed: BigInt(totals.processed),
    skipped: BigInt(totals.skipped),
    errors: BigInt(totals.errors),
    passed: BigInt(totals.passed),
    failed: BigInt(totals.failed),
    passRate: numberOf(totals.passRate),
    scored: BigInt(totals.scored),
    scoreMean: numberOf(totals.scoreMean),
    scoreMin: numberOf(totals.scoreMin),
    scoreMax: numberOf(totals.scoreMax),
    scoreP50: numberOf(totals.scores?.p50),
    scoreP95: numberOf(totals.scores?.p95),
  };
  const selected = [...metrics].map((metric) => [MEMBERS[metric], values[MEMBERS[metric]]]);
  return {
    startsAt: timestampOfMs(startMs),
    endsAt: timestampOfMs(endMs),
    ...(group === null ? {} : { group }),
    ...Object.fromEntries(selected),
  };
}

const MEMBERS = {
  evaluations: 'evaluations',
  processed: 'processed',
  skipped: 'skipped',
  errors: 'errors',
  passed: 'passed',
  failed: 'failed',
  pass_rate: 'passRate',
  scored: 'scored',
  score_mean: 'scoreMean',
  score_min: 'scoreMin',
  score_max: 'scoreMax',
  score_p50: 'scoreP50',
  score_p95: 'scoreP95',
} as const satisfies Record<EvaluationMetric, keyof BucketInit>;

function numberOf(value: number | null | undefined): { value?: number } {
  return value === null || value === undefined ? {} : { value };
}
