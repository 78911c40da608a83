/** Analytics of the evaluations of a project, by interval and group. */

import { type AnalyticsCall, BUCKETS_MAX, GROUPS_DEFAULT, throwRefusal } from '../../analytics/analytics.ts';
import { type Interval, isPercentile } from '../../analytics/query.ts';
import type { EvaluationBucket, EvaluationConditions, TraceAnalytics } from '../../analytics/trace-analytics-store.ts';
import { termStartMs, traceTermDays } from '../../retention-terms.ts';
import type { EvaluationGroupBy, EvaluationMetric } from './query.ts';

export type EvaluationAnalyticsRequest = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly interval: Interval;
  readonly groupBy: EvaluationGroupBy;
  readonly metrics: ReadonlySet<EvaluationMetric>;
  readonly conditions: EvaluationConditions;
  /** Most groups to answer; null: GROUPS_DEFAULT. */
  readonly limit: number | null;
};

type EvaluationAnalyticsResult = {
  readonly buckets: readonly EvaluationBucket[];
  readonly isTruncated: boolean;
};

export type EvaluationAnalytics = {
  /** Throws validation_error for more than BUCKETS_MAX buckets, unavailable when the sums take too long. */
  query(request: EvaluationAnalyticsRequest, call: AnalyticsCall): Promise<EvaluationAnalyticsResult>;
};

type EvaluationAnalyticsDeps = {
  readonly store: Pick<TraceAnalytics, 'summariseEvaluations'>;
  /** Retention in days of projects that set none; null: for ever. */
  readonly traceDefaultDays: number | null;
};

export function createEvaluationAnalytics({ store, traceDefaultDays }: EvaluationAnalyticsDeps): EvaluationAnalytics {
  return {
    async query({ metrics, limit, ...request }, { project, nowMs }) {
      const answer = await store.summariseEvaluations({
        ...request,
        projectNumber: project.number,
        expiredBeforeMs: termStartMs(traceTermDays(project.traceRetentionDays, traceDefaultDays), nowMs),
        hasPercentiles: [...metrics].some(isPercentile),
        groupsMax: limit ?? GROUPS_DEFAULT,
        bucketsMax: BUCKETS_MAX,
      });
      return answer.kind === 'buckets' ? answer : throwRefusal(answer);
    },
  };
}
