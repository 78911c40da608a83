/** What the evaluations of a project come to, by time and by what tells them apart. */

import { type AnalyticsCall, BUCKETS_MAX, GROUPS_DEFAULT, refuseAnswer } from '../../analytics/analytics.ts';
import { type Interval, isPercentile } from '../../analytics/query.ts';
import { termStartMs } from '../../page.ts';
import type { EvaluationBucket, EvaluationConditions, TraceAnalytics } from '../../trace-analytics-store.ts';
import { traceTermDays } from '../../trace-retention.ts';
import type { EvaluationGroupBy, EvaluationMetric } from './query.ts';

export type EvaluationAnalyticsRequest = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly interval: Interval;
  readonly groupBy: EvaluationGroupBy;
  readonly metrics: ReadonlySet<EvaluationMetric>;
  readonly conditions: EvaluationConditions;
  /** Groups to keep; null: the usual number. */
  readonly limit: number | null;
};

export type EvaluationAnalyticsResult = {
  readonly buckets: readonly EvaluationBucket[];
  readonly isTruncated: boolean;
};

export type EvaluationAnalytics = {
  /** Throws validation_error where there are more buckets than an answer may hold; unavailable where it takes too long. */
  query(request: EvaluationAnalyticsRequest, call: AnalyticsCall): Promise<EvaluationAnalyticsResult>;
};

export type EvaluationAnalyticsDeps = {
  readonly store: Pick<TraceAnalytics, 'sumUpEvaluations'>;
  /** The term of traces in projects that never chose; null: for ever. */
  readonly traceDefaultDays: number | null;
};

export function createEvaluationAnalytics({ store, traceDefaultDays }: EvaluationAnalyticsDeps): EvaluationAnalytics {
  return {
    async query({ metrics, limit, ...request }, { project, nowMs }) {
      const answer = await store.sumUpEvaluations({
        ...request,
        projectNumber: project.number,
        goneBeforeMs: termStartMs(traceTermDays(project.traceRetentionDays, traceDefaultDays), nowMs),
        hasPercentiles: [...metrics].some(isPercentile),
        groupsMax: limit ?? GROUPS_DEFAULT,
        bucketsMax: BUCKETS_MAX,
      });
      return answer.kind === 'buckets' ? answer : refuseAnswer(answer);
    },
  };
}
