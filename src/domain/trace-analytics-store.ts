/** The port of analytics: what sums up traces. Apart from all else, so that another store can answer it. */

import type { GroupBy, Interval } from './analytics/query.ts';
import type { Totals } from './analytics/totals.ts';
import type { EvaluationGroupBy } from './evaluations/analytics/query.ts';
import type { EvaluationTotals } from './evaluations/analytics/tallies.ts';

export type TraceAnalytics = {
  /**
   * What traces of a range come to, by time and group. MUST count every append acknowledged before the call, and nothing
   * of a trace that was removed or is past its term. MUST hold up neither appends nor other reads, and MUST end within
   * half a minute, whatever there is to sum up.
   */
  summarise(question: AnalyticsQuestion): Promise<AnalyticsAnswer>;
  /** What the traces of one user come to. The same duties. */
  statsOfUser(question: UserStatsQuestion): Promise<UserStatsAnswer>;
  /**
   * What the evaluations on the traces of a range come to, by time and group. Traces without spans belong to the instant
   * at which they came in. The same duties.
   */
  sumUpEvaluations(question: EvaluationsQuestion): Promise<EvaluationsAnswer>;
};

/** The traces of a project that began in a range, both ends included. */
export type TraceRange = {
  readonly projectNumber: number;
  /** A trace that came in before this instant counts as gone; null: none does. */
  readonly goneBeforeMs: number | null;
  readonly fromMs: number;
  readonly toMs: number;
};

/** What traces have to be; null: anything. With a model only its spans count. */
export type TraceConditions = {
  readonly userId: string | null;
  readonly customerId: string | null;
  readonly threadId: string | null;
  readonly label: string | null;
  readonly model: string | null;
};

export type AnalyticsQuestion = TraceRange & {
  readonly interval: Interval;
  readonly groupBy: GroupBy;
  readonly conditions: TraceConditions;
  /** Whether durations are asked for, of which every value has to be looked at. */
  readonly hasPercentiles: boolean;
  /** Most groups to answer. */
  readonly groupsMax: number;
  /** Most buckets to answer. */
  readonly bucketsMax: number;
};

/** Those of a group in an interval of time; the end is not part of it. */
export type Bucket = {
  readonly startMs: number;
  readonly endMs: number;
  /** Null: of traces without a value, or of all. */
  readonly group: string | null;
  readonly totals: Totals;
};

export type AnalyticsAnswer =
  /** By start, then group; `isTruncated` where there were more groups. */
  { readonly kind: 'buckets'; readonly buckets: readonly Bucket[]; readonly isTruncated: boolean } | Refusal;

export type Refusal = { readonly kind: 'too_many_buckets' | 'too_long' };

export type UserStatsQuestion = TraceRange & { readonly userId: string };

export type UserStatsAnswer = { readonly kind: 'stats'; readonly stats: UserStats } | Refusal;

export type UserStats = {
  readonly totals: Totals;
  readonly threads: number;
  /** When the first and the last of the traces began; null where there is none. */
  readonly firstSeenMs: number | null;
  readonly lastSeenMs: number | null;
};

/** What evaluations have to be; null: anything. */
export type EvaluationConditions = {
  readonly evaluatorId: string | null;
  readonly label: string | null;
  readonly monitorId: string | null;
};

export type EvaluationsQuestion = TraceRange & {
  readonly interval: Interval;
  readonly groupBy: EvaluationGroupBy;
  readonly conditions: EvaluationConditions;
  readonly hasPercentiles: boolean;
  /** Most groups to answer. */
  readonly groupsMax: number;
  /** Most buckets to answer. */
  readonly bucketsMax: number;
};

export type EvaluationBucket = {
  readonly startMs: number;
  readonly endMs: number;
  /** Null: of evaluations without a value, or of all. */
  readonly group: string | null;
  readonly totals: EvaluationTotals;
};

export type EvaluationsAnswer =
  /** By start, then group; `isTruncated` where there were more groups. */
  { readonly kind: 'buckets'; readonly buckets: readonly EvaluationBucket[]; readonly isTruncated: boolean } | Refusal;
