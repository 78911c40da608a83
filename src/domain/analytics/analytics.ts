/** Analytics of the traces of a project. */

import type { Project } from '../caller.ts';
import { type Fault, type Reason, unavailableFault, validationFault } from '../fault.ts';
import { termStartMs, traceTermDays } from '../retention-terms.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';
import { type GroupBy, type Interval, isPercentile, type Metric } from './query.ts';
import { NO_DURATIONS, noSums, totalsOfSums } from './sums.ts';
import type { Bucket, Refusal, TraceAnalytics, TraceConditions, UserStats } from './trace-analytics-store.ts';

export type AnalyticsRequest = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly interval: Interval;
  readonly groupBy: GroupBy;
  readonly metrics: ReadonlySet<Metric>;
  readonly conditions: TraceConditions;
  /** Most groups to answer; null: GROUPS_DEFAULT. */
  readonly limit: number | null;
};

type UserStatsRequest = {
  readonly userId: string;
  /** Null: the last thirty days, and one day ahead for senders whose clocks run fast. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
};

export type AnalyticsCall = { readonly project: Project; readonly nowMs: number };

export type Analytics = {
  /** Throws validation_error (also for more than BUCKETS_MAX buckets), unavailable when the sums take too long. */
  query(request: AnalyticsRequest, call: AnalyticsCall): Promise<AnalyticsResult>;
  /** Throws validation_error, unavailable. An unknown user has zero traces. */
  statsOfUser(request: UserStatsRequest, call: AnalyticsCall): Promise<UserStats>;
};

type AnalyticsResult = { readonly buckets: readonly Bucket[]; readonly isTruncated: boolean };

type AnalyticsDeps = {
  readonly store: TraceAnalytics;
  /** Retention in days of projects that set none; null: for ever. */
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
    expiredBeforeMs: termStartMs(traceTermDays(project.traceRetentionDays, traceDefaultDays), nowMs),
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
      return answer.kind === 'buckets' ? answer : throwRefusal(answer);
    },

    async statsOfUser({ userId, ...range }, call) {
      const toMs = range.toMs ?? call.nowMs + DAY_MS;
      const fromMs = range.fromMs ?? Math.min(toMs, call.nowMs) - DAYS_DEFAULT * DAY_MS;
      if (fromMs > toMs) throw validationFault('query', [RANGE_REVERSED]);
      // Traces have no longer user id, and the databases cannot store one.
      if (hasMoreCharactersThan(userId, USER_ID_CHARACTERS_MAX)) return NO_STATS;
      const answer = await store.statsOfUser({ ...ofProject(call), fromMs, toMs, userId });
      if (answer.kind !== 'stats') throw tooLongFault();
      return answer.stats;
    },
  };
}

/** Throws the Fault for a query that the store did not answer. */
export function throwRefusal({ kind }: Refusal): never {
  throw kind === 'too_long' ? tooLongFault() : validationFault('query', [TOO_MANY_BUCKETS]);
}

/** The problems of a range whose two ends are valid instants. */
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

function tooLongFault(): Fault {
  return unavailableFault('There is too much to sum up in time; ask for a shorter range.', RETRY_AFTER_SECONDS);
}
