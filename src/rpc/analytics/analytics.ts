/** Analytics: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import {
  type AnalyticsBucketSchema,
  AnalyticsGrouping,
  AnalyticsInterval,
  type QueryAnalyticsRequest,
} from '../../../gen/spandrel/v1/analytics_pb.js';
import type { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import type { Analytics, AnalyticsRequest } from '../../domain/analytics/analytics.ts';
import { type GroupBy, type Interval, type Metric, readMetrics } from '../../domain/analytics/query.ts';
import type { Bucket, UserStats } from '../../domain/analytics/trace-analytics-store.ts';
import { rangeProblems } from '../../domain/reasons.ts';
import { maskTokens } from '../../domain/token-mask.ts';
import { msOfTimestamp, timestampOfMs } from '../epoch-ms.ts';
import type { Context, Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';

type Rpcs = Pick<Implementation<typeof TraceService>, 'queryAnalytics' | 'getUserStats'>;
type BucketInit = MessageInitShape<typeof AnalyticsBucketSchema>;

export function createAnalyticsRpc(analytics: Analytics): Rpcs {
  return {
    queryAnalytics: {
      check: (request) => [...problemsOfRange(request), ...readMetrics(request.metrics).reasons],
      handle: async (request, context) => {
        const query = toQuery(request);
        const { buckets, isTruncated } = await analytics.query(query, callOf(context));
        return {
          startedFrom: timestampOfMs(query.fromMs),
          startedTo: timestampOfMs(query.toMs),
          interval: request.interval || AnalyticsInterval.DAY,
          groupBy: request.groupBy || AnalyticsGrouping.NONE,
          truncated: isTruncated,
          buckets: buckets.map((bucket) => bucketMessage(bucket, query.metrics)),
        };
      },
    },
    getUserStats: {
      check: problemsOfRange,
      handle: async ({ userId, startedFrom, startedTo }, context) => {
        const range = {
          fromMs: startedFrom === undefined ? null : msOfTimestamp(startedFrom),
          toMs: startedTo === undefined ? null : msOfTimestamp(startedTo),
        };
        // A caller may send a token by mistake, which must not be repeated.
        return {
          userId: maskTokens(userId),
          ...statsMessage(await analytics.statsOfUser({ userId, ...range }, callOf(context))),
        };
      },
    },
  };
}

export function callOf(context: Context) {
  return { project: projectOf(context), nowMs: context.nowMs };
}

type Range = { readonly startedFrom?: Timestamp | undefined; readonly startedTo?: Timestamp | undefined };

export function problemsOfRange({ startedFrom, startedTo }: Range) {
  if (startedFrom === undefined || startedTo === undefined) return [];
  return rangeProblems(msOfTimestamp(startedFrom), msOfTimestamp(startedTo));
}

/** The range of a request that was validated. */
export function rangeOf({ startedFrom, startedTo }: Range) {
  if (!startedFrom || !startedTo) throw new Error('the contract let a query without a range through');
  return { fromMs: msOfTimestamp(startedFrom), toMs: msOfTimestamp(startedTo) };
}

function toQuery(request: QueryAnalyticsRequest): AnalyticsRequest {
  const { interval, groupBy, metrics, limit } = request;
  const { userId = null, customerId = null, threadId = null, label = null, model = null } = request;
  return {
    ...rangeOf(request),
    interval: INTERVALS.get(interval) ?? 'day',
    groupBy: GROUPINGS.get(groupBy) ?? 'none',
    metrics: readMetrics(metrics).metrics,
    conditions: { userId, customerId, threadId, label, model },
    limit: limit ?? null,
  };
}

export const INTERVALS: ReadonlyMap<AnalyticsInterval, Interval> = new Map([
  [AnalyticsInterval.MINUTE, 'minute'],
  [AnalyticsInterval.HOUR, 'hour'],
  [AnalyticsInterval.DAY, 'day'],
  [AnalyticsInterval.WEEK, 'week'],
  [AnalyticsInterval.MONTH, 'month'],
  [AnalyticsInterval.TOTAL, 'total'],
]);

const GROUPINGS: ReadonlyMap<AnalyticsGrouping, GroupBy> = new Map([
  [AnalyticsGrouping.NONE, 'none'],
  [AnalyticsGrouping.MODEL, 'model'],
  [AnalyticsGrouping.USER_ID, 'user_id'],
  [AnalyticsGrouping.CUSTOMER_ID, 'customer_id'],
  [AnalyticsGrouping.LABEL, 'label'],
  [AnalyticsGrouping.THREAD_ID, 'thread_id'],
]);

function bucketMessage({ startMs, endMs, group, totals }: Bucket, metrics: ReadonlySet<Metric>): BucketInit {
  const { firstTokenMs, totalTimeMs } = totals;
  const values: Required<Pick<BucketInit, (typeof MEMBERS)[Metric]>> = {
    traces: BigInt(totals.traces),
    spans: BigInt(totals.spans),
    errors: BigInt(totals.errors),
    promptTokens: count(totals.promptTokens),
    completionTokens: count(totals.completionTokens),
    totalCost: totals.totalCostUsd === null ? {} : { value: totals.totalCostUsd },
    firstTokenMsP50: count(firstTokenMs?.p50),
    firstTokenMsP95: count(firstTokenMs?.p95),
    totalTimeMsP50: count(totalTimeMs?.p50),
    totalTimeMsP95: count(totalTimeMs?.p95),
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
  traces: 'traces',
  spans: 'spans',
  errors: 'errors',
  prompt_tokens: 'promptTokens',
  completion_tokens: 'completionTokens',
  total_cost: 'totalCost',
  first_token_ms_p50: 'firstTokenMsP50',
  first_token_ms_p95: 'firstTokenMsP95',
  total_time_ms_p50: 'totalTimeMsP50',
  total_time_ms_p95: 'totalTimeMsP95',
} as const satisfies Record<Metric, keyof BucketInit>;

function count(value: number | null | undefined): { value?: bigint } {
  return value === null || value === undefined ? {} : { value: wholeNumber(value) };
}

/** Clamps sums at the largest safe integer. */
function wholeNumber(value: number): bigint {
  return BigInt(Math.min(value, Number.MAX_SAFE_INTEGER));
}

function statsMessage({ totals, threads, firstSeenMs, lastSeenMs }: UserStats) {
  const { promptTokens, completionTokens, totalCostUsd } = totals;
  return {
    traces: BigInt(totals.traces),
    threads: BigInt(threads),
    spans: BigInt(totals.spans),
    errors: BigInt(totals.errors),
    ...(promptTokens === null ? {} : { promptTokens: wholeNumber(promptTokens) }),
    ...(completionTokens === null ? {} : { completionTokens: wholeNumber(completionTokens) }),
    ...(totalCostUsd === null ? {} : { totalCost: totalCostUsd }),
    ...(firstSeenMs === null ? {} : { firstSeenAt: timestampOfMs(firstSeenMs) }),
    ...(lastSeenMs === null ? {} : { lastSeenAt: timestampOfMs(lastSeenMs) }),
  };
}
