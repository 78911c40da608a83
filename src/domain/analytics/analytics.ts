/** Analytics of the traces of a project. */

import type { Project } from '../caller.ts';
import { type Fault, type Reason, unavailableFault, validationFault } from '../fault.ts';
import { termStartMs } from '../page.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';
import type { Bucket, Refusal, TraceAnalytics, TraceConditions, UserStats } from '../trace-analytics-store.ts';
import { traceTermDays } from '../trace-retention.ts';
import { type GroupBy, type Interval, isPercentile, type Metric } from './query.ts';
import { noSums } from './sums.ts';
import { NO_DURATIONS, totalsOfSums } from './totals.ts';

export type AnalyticsRequest = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly interval: Interval;
  readonly groupBy: GroupBy;
  readonly metrics: ReadonlySet<Metric>;
  readonly conditions: TraceConditions;
  /** Groups to keep; null: the usual number. */
  readonly limit: number | null;
};

export type UserStatsRequest = {
  readonly userId: string;
  /** Null: thirty days ago, and a day ahead, for clocks that run fast. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
};

export type AnalyticsCall = { readonly project: Project; readonly nowMs: number };

export type Analytics = {
  /** Throws validation_error, also where there are more buckets than an answer may hold; unavailable where it takes too long. */
  query(request: AnalyticsRequest, call: AnalyticsCall): Promise<AnalyticsResult>;
  /** Throws validation_error. A user who is not known has nothing. */
  statsOfUser(request: UserStatsRequest, call: AnalyticsCall): Promise<UserStats>;
};

export type AnalyticsResult = { readonly buckets: readonly Bucket[]; readonly isTruncated: boolean };

export type AnalyticsDeps = {
  readonly store: TraceAnalytics;
  /** The term of traces in projects that never chose; null: for ever. */
  readonly traceDefaultDays: number | null;
};

export const BUCKETS_MAX = 10_000;
export const GROUPS_DEFAULT = 100;
const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
const USER_ID_CHARACTERS_MAX = 512;
const RETRY_AFTER_SECONDS = 1;

export function createAnalytics({ store, traceDefaultDays }: AnalyticsDeps): Analytics {
  const ofProject = ({ project, nowMs }: AnalyticsCall) => ({
    projectNumber: project.number,
    goneBeforeMs: termStartMs(traceTermDays(project.traceRetentionDays, traceDefaultDays), nowMs),
  });

  return {
    async query(request, call) {
      const { fromMs, toMs, interval, groupBy, metrics, conditions, limit } = request;
      const answer = await store.summarise({
        ...ofProject(call),
        fromMs,
        toMs,
        interval,
        groupBy,
        conditions,
        hasPercentiles: [...metrics].some(isPercentile),
        groupsMax: limit ?? GROUPS_DEFAULT,
        bucketsMax: BUCKETS_MAX,
      });
      return answer.kind === 'buckets' ? answer : refuseAnswer(answer);
    },

    async statsOfUser({ userId, ...range }, call) {
      const toMs = range.toMs ?? call.nowMs + DAY_MS;
      const fromMs = range.fromMs ?? Math.min(toMs, call.nowMs) - DAYS_DEFAULT * DAY_MS;
      if (fromMs > toMs) throw validationFault('query', [RANGE_REVERSED]);
      // No trace has a longer one, and no database would keep such a text.
      if (hasMoreCharactersThan(userId, USER_ID_CHARACTERS_MAX)) return NO_STATS;
      const answer = await store.statsOfUser({ ...ofProject(call), fromMs, toMs, userId });
      if (answer.kind !== 'stats') throw tookTooLong();
      return answer.stats;
    },
  };
}

/** Tells whoever asked why there is no answer. */
export function refuseAnswer({ kind }: Refusal): never {
  throw kind === 'too_long' ? tookTooLong() : validationFault('query', [TOO_MANY_BUCKETS]);
}

/** What is wrong with a range whose ends are valid. */
export function rangeReasons(fromMs: number, toMs: number): readonly Reason[] {
  return fromMs > toMs ? [RANGE_REVERSED] : [];
}

const RANGE_REVERSED: Reason = { field: '(root)', type: 'custom', message: 'from must not be later than to' };

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

function tookTooLong(): Fault {
  return unavailableFault('There is too much to sum up in time; ask for a shorter range.', RETRY_AFTER_SECONDS);
}
