/** Analytics of the traces of a project and of the evaluations on them. */

import type { Project } from '../caller.ts';
import type { EvaluationMetric } from '../evaluations/analytics/query.ts';
import { type Fault, type Reason, unavailableFault, validationFault } from '../fault.ts';
import { requireRange } from '../reasons.ts';
import { termStartMs, traceTermDays } from '../retention-terms.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';
import { isPercentile, type Metric } from './query.ts';
import { NO_DURATIONS, noSums, totalsOfSums } from './sums.ts';
import type {
  AnalyticsQuery,
  AnswerOf,
  Bucket,
  EvaluationAnalyticsQuery,
  EvaluationBucket,
  FeedbackQuery,
  FeedbackSums,
  TraceAnalytics,
  UserStats,
} from './trace-analytics-store.ts';

type RequestOf<Query extends AnalyticsQuery | EvaluationAnalyticsQuery, Name> = Pick<
  Query,
  'fromMs' | 'toMs' | 'interval' | 'groupBy' | 'conditions'
> & {
  readonly metrics: ReadonlySet<Name>;
  /** Most groups to return; null: GROUPS_DEFAULT. */
  readonly limit: number | null;
};

export type AnalyticsRequest = RequestOf<AnalyticsQuery, Metric> & {
  /** Metrics of feedback (feedback-sums.ts); null: none, and no votes. */
  readonly feedback: readonly string[] | null;
};
export type EvaluationAnalyticsRequest = RequestOf<EvaluationAnalyticsQuery, EvaluationMetric>;

type UserStatsRequest = {
  readonly userId: string;
  /** Null: the last thirty days, and one day ahead for senders whose clocks run fast. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
};

export type AnalyticsCall = { readonly project: Project; readonly nowMs: number };

export type Analytics = {
  /** Throws validation_error (also for more than BUCKETS_MAX buckets), unavailable when the sums take too long. */
  query(request: AnalyticsRequest, call: AnalyticsCall): Promise<ResultOf<BucketWithFeedback>>;
  /** The same of the evaluations on the traces. */
  queryEvaluations(request: EvaluationAnalyticsRequest, call: AnalyticsCall): Promise<ResultOf<EvaluationBucket>>;
  /** Throws validation_error, unavailable. An unknown user has zero traces. */
  statsOfUser(request: UserStatsRequest, call: AnalyticsCall): Promise<UserStats>;
};

/** `feedback` is null where none was requested. */
export type BucketWithFeedback = Bucket & { readonly feedback: FeedbackSums | null };

type ResultOf<B> = { readonly buckets: readonly B[]; readonly isTruncated: boolean };

type AnalyticsDeps = {
  readonly store: TraceAnalytics;
  /** Retention in days of projects that set none; null: for ever. */
  readonly traceDefaultDays: number | null;
};

const BUCKETS_MAX = 10_000;
const GROUPS_DEFAULT = 100;
const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
const USER_ID_CHARACTERS_MAX = 512;
const RETRY_AFTER_SECONDS = 1;

export function createAnalytics({ store, traceDefaultDays }: AnalyticsDeps): Analytics {
  const ofProject = ({ project, nowMs }: AnalyticsCall) => ({
    projectNumber: project.number,
    expiredBeforeMs: termStartMs(traceTermDays(project.traceRetentionDays, traceDefaultDays), nowMs),
  });

  const limitsOf = ({ metrics, limit }: Pick<AnalyticsRequest | EvaluationAnalyticsRequest, 'metrics' | 'limit'>) => ({
    hasPercentiles: [...metrics].some(isPercentile),
    groupsMax: limit ?? GROUPS_DEFAULT,
    bucketsMax: BUCKETS_MAX,
  });

  async function sumFeedback(query: FeedbackQuery): Promise<readonly FeedbackSums[]> {
    const buckets = query.buckets.map(({ startMs, group }) => ({ startMs, group }));
    const answer = await store.summariseFeedback({ ...query, buckets });
    if (answer.kind === 'too_long') throw tooLongFault();
    return answer.sums;
  }

  return {
    async query({ metrics, limit, feedback, ...request }, call) {
      const query = { ...request, ...ofProject(call), ...limitsOf({ metrics, limit }) };
      const { buckets, isTruncated } = resultOf(await store.summarise(query));
      const sums = feedback === null ? [] : await sumFeedback({ ...query, metrics: feedback, buckets });
      return { buckets: buckets.map((bucket, index) => ({ ...bucket, feedback: sums[index] ?? null })), isTruncated };
    },

    async queryEvaluations({ metrics, limit, ...request }, call) {
      const query = { ...request, ...ofProject(call), ...limitsOf({ metrics, limit }) };
      return resultOf(await store.summariseEvaluations(query));
    },

    async statsOfUser({ userId, ...range }, call) {
      const toMs = range.toMs ?? call.nowMs + DAY_MS;
      const fromMs = range.fromMs ?? Math.min(toMs, call.nowMs) - DAYS_DEFAULT * DAY_MS;
      requireRange(fromMs, toMs);
      // Traces have no longer user id, and the databases cannot store one.
      if (hasMoreCharactersThan(userId, USER_ID_CHARACTERS_MAX)) return NO_STATS;
      const answer = await store.statsOfUser({ ...ofProject(call), fromMs, toMs, userId });
      if (answer.kind !== 'stats') throw tooLongFault();
      return answer.stats;
    },
  };
}

function resultOf<B>(answer: AnswerOf<B>): ResultOf<B> {
  if (answer.kind === 'buckets') return answer;
  throw answer.kind === 'too_long' ? tooLongFault() : validationFault('query', [TOO_MANY_BUCKETS]);
}

const TOO_MANY_BUCKETS: Reason = {
  field: '(root)',
  type: 'too_big',
  message: `the answer has more than ${BUCKETS_MAX} buckets; ask for a shorter range, a longer interval or fewer groups`,
};

const NO_STATS: UserStats = {
  totals: totalsOfSums(noSums(), NO_DURATIONS),
  threads: 0,
  firstSeenMs: null,
  lastSeenMs: null,
};

export function tooLongFault(): Fault {
  return unavailableFault('There is too much to sum up in time; ask for a shorter range.', RETRY_AFTER_SECONDS);
}
