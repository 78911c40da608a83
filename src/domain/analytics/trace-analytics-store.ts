/** The port that sums traces up. It is separate from the other ports so that another store can serve it. */

import type { EvaluationGroupBy } from '../evaluations/analytics/query.ts';
import type { Percentiles } from './distribution.ts';
import type { GroupBy, IntervalLength } from './query.ts';
import type { Totals } from './sums.ts';

export type TraceAnalytics = {
  /**
   * The totals of the traces of a range, by interval and group. MUST count every append acknowledged before the call, and
   * no trace that was removed or has expired. MUST delay neither appends nor other reads, and MUST end within half a
   * minute, however much data there is.
   */
  summarise(query: AnalyticsQuery): Promise<AnalyticsAnswer>;
  /** The totals of the traces of one user. The same duties. */
  statsOfUser(query: UserStatsQuery): Promise<UserStatsAnswer>;
  /**
   * The totals of the evaluations on the traces of a range, by interval and group. A trace without spans starts when it
   * was received. The same duties.
   */
  summariseEvaluations(query: EvaluationAnalyticsQuery): Promise<EvaluationAnalyticsAnswer>;
  /** The sums of the feedback on the traces of buckets that `summarise` returned. The same duties. */
  summariseFeedback(query: FeedbackQuery): Promise<FeedbackAnswer>;
};

/** The traces of a project that started in a range; both ends are inclusive. */
export type TraceRange = {
  readonly projectNumber: number;
  /** Traces received before this instant have expired; null: none has. */
  readonly expiredBeforeMs: number | null;
  readonly fromMs: number;
  readonly toMs: number;
};

/** Null: no condition. With a model only the spans of that model count. */
export type TraceConditions = {
  readonly userId: string | null;
  readonly customerId: string | null;
  readonly threadId: string | null;
  readonly label: string | null;
  readonly model: string | null;
  /** Any name of the prompt, or of its version. */
  readonly promptId: string | null;
  readonly promptVersion: string | null;
};

export const ANY_TRACE: TraceConditions = {
  ...{ userId: null, customerId: null, threadId: null, label: null, model: null },
  ...{ promptId: null, promptVersion: null },
};

/** What the summaries of traces and of evaluations have in common. */
type Summary<GroupBy, Conditions> = TraceRange & {
  readonly interval: IntervalLength;
  readonly groupBy: GroupBy;
  readonly conditions: Conditions;
  /** Percentiles need every value, and not only sums. */
  readonly hasPercentiles: boolean;
  readonly groupsMax: number;
  readonly bucketsMax: number;
};

/** The totals of one group in one interval; the end is exclusive. */
type BucketOf<Totals> = {
  readonly startMs: number;
  readonly endMs: number;
  /** Null: what has no value, or everything where nothing is grouped. */
  readonly group: string | null;
  readonly totals: Totals;
};

export type AnswerOf<Bucket> =
  /** Ordered by start, then group; `isTruncated` when there are more groups than `groupsMax`. */
  { readonly kind: 'buckets'; readonly buckets: readonly Bucket[]; readonly isTruncated: boolean } | Refusal;

export type AnalyticsQuery = Summary<GroupBy, TraceConditions>;
export type Bucket = BucketOf<Totals>;
export type AnalyticsAnswer = AnswerOf<Bucket>;

type Refusal = { readonly kind: 'too_many_buckets' | 'too_long' };

export type UserStatsQuery = TraceRange & { readonly userId: string };

export type UserStatsAnswer = { readonly kind: 'stats'; readonly stats: UserStats } | Refusal;

export type UserStats = {
  readonly totals: Totals;
  readonly threads: number;
  /** The starts of the first and the last trace; null without traces. */
  readonly firstSeenMs: number | null;
  readonly lastSeenMs: number | null;
};

/** Null: no condition. */
export type EvaluationConditions = {
  readonly evaluatorId: string | null;
  readonly label: string | null;
  readonly monitorId: string | null;
};

export type EvaluationAnalyticsQuery = Summary<EvaluationGroupBy, EvaluationConditions>;

/** Means are null without a score, rates without a verdict. */
export type EvaluationTotals = {
  readonly evaluations: number;
  readonly processed: number;
  readonly skipped: number;
  readonly errors: number;
  readonly passed: number;
  readonly failed: number;
  readonly passRate: number | null;
  readonly scored: number;
  readonly scoreMean: number | null;
  readonly scoreMin: number | null;
  readonly scoreMax: number | null;
  /** Null without scores, or when percentiles were not requested. */
  readonly scores: Percentiles | null;
};

export type EvaluationBucket = BucketOf<EvaluationTotals>;
export type EvaluationAnalyticsAnswer = AnswerOf<EvaluationBucket>;

export type FeedbackQuery = AnalyticsQuery & {
  /** Metrics of events, each `events.<type>.<metric>`. */
  readonly metrics: readonly string[];
  /** The only buckets that count; their answers have the same order. */
  readonly buckets: readonly Pick<Bucket, 'startMs' | 'group'>[];
};

/** Of one bucket. Metrics without a value are left out. */
export type FeedbackSums = {
  readonly metrics: readonly FeedbackMetric[];
  readonly thumbsUp: number;
  readonly thumbsDown: number;
};

type FeedbackMetric = { readonly name: string; readonly sum: number; readonly count: number };

export type FeedbackAnswer =
  | { readonly kind: 'sums'; readonly sums: readonly FeedbackSums[] }
  | { readonly kind: 'too_long' };
