/** Analytics: message <-> domain values. */

import type { DescMessage } from '@bufbuild/protobuf';
import {
  AnalyticsBucketSchema,
  AnalyticsGrouping,
  AnalyticsInterval,
  type QueryAnalyticsRequest,
} from '../../../gen/spandrel/v1/analytics_pb.js';
import type { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import type { Analytics, AnalyticsRequest, BucketWithFeedback } from '../../domain/analytics/analytics.ts';
import { type Metric, readMetrics, THUMBS_UP_SHARE } from '../../domain/analytics/query.ts';
import type { Bucket, UserStats } from '../../domain/analytics/trace-analytics-store.ts';
import { maskTokens } from '../../domain/token-mask.ts';
import { wordOf } from '../enums.ts';
import { checkRange, msOfTimestamp, requireRange, timestampOfMs } from '../epoch-ms.ts';
import type { Context, Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';

type Rpcs = Pick<Implementation<typeof TraceService>, 'queryAnalytics' | 'getUserStats'>;

export function createAnalyticsRpc(analytics: Analytics): Rpcs {
  return {
    queryAnalytics: {
      check: (request) => [...problemsOfRange(request), ...readMetrics(request.metrics).reasons],
      handle: async (request, context) => {
        const query = toQuery(request);
        const hasShare = readMetrics(request.metrics).names.has(THUMBS_UP_SHARE);
        const { buckets, isTruncated } = await analytics.query(query, callOf(context));
        return {
          ...queryMessage(request, query),
          groupBy: request.groupBy || AnalyticsGrouping.NONE,
          truncated: isTruncated,
          buckets: buckets.map((bucket) => ({
            ...bucketMessage(bucket),
            ...selected(bucket, query.metrics),
            ...feedbackFields(bucket, hasShare),
          })),
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

type Query = Pick<QueryAnalyticsRequest, 'startedFrom' | 'startedTo' | 'interval' | 'limit'>;

export function problemsOfRange({ startedFrom, startedTo }: Pick<Query, 'startedFrom' | 'startedTo'>) {
  return checkRange(startedFrom, startedTo);
}

/** What queries of traces and of evaluations have in common. */
export function readQuery({ startedFrom, startedTo, interval, limit }: Query) {
  const range = requireRange(startedFrom, startedTo);
  return { ...range, interval: wordOf(AnalyticsInterval, interval) ?? 'day', limit: limit ?? null };
}

/** The same in the response. */
export function queryMessage({ interval }: Query, { fromMs, toMs }: Pick<AnalyticsRequest, 'fromMs' | 'toMs'>) {
  return {
    startedFrom: timestampOfMs(fromMs),
    startedTo: timestampOfMs(toMs),
    interval: interval || AnalyticsInterval.DAY,
  };
}

export function bucketMessage({ startMs, endMs, group }: Omit<Bucket, 'totals'>) {
  return { startsAt: timestampOfMs(startMs), endsAt: timestampOfMs(endMs), group: group ?? undefined };
}

/** The metrics that were asked for, as initial values of a message with a field for each. Null: unset. */
export function selectMetrics<M extends string>(
  { fields }: DescMessage,
  metrics: ReadonlySet<M>,
  values: Readonly<Record<M, unknown>>,
) {
  const isAsked = ({ name }: { readonly name: string }) => (metrics as ReadonlySet<string>).has(name);
  return Object.fromEntries(fields.filter(isAsked).map(({ localName, name }) => [localName, values[name as M]]));
}

function toQuery(request: QueryAnalyticsRequest): AnalyticsRequest {
  const { userId = null, customerId = null, threadId = null, label = null, model = null } = request;
  const { promptId = null, promptVersion = null } = request;
  const { metrics, feedback } = readMetrics(request.metrics);
  return {
    ...readQuery(request),
    groupBy: wordOf(AnalyticsGrouping, request.groupBy) ?? 'none',
    metrics,
    feedback,
    conditions: { userId, customerId, threadId, label, model, promptId, promptVersion },
  };
}

function selected({ totals }: Bucket, metrics: ReadonlySet<Metric>) {
  const { firstTokenMs, totalTimeMs } = totals;
  return selectMetrics(AnalyticsBucketSchema, metrics, {
    traces: BigInt(totals.traces),
    spans: BigInt(totals.spans),
    errors: BigInt(totals.errors),
    prompt_tokens: count(totals.promptTokens),
    completion_tokens: count(totals.completionTokens),
    total_cost: { value: totals.totalCostUsd },
    first_token_ms_p50: count(firstTokenMs?.p50),
    first_token_ms_p95: count(firstTokenMs?.p95),
    first_token_ms_p99: count(firstTokenMs?.p99),
    total_time_ms_p50: count(totalTimeMs?.p50),
    total_time_ms_p95: count(totalTimeMs?.p95),
    total_time_ms_p99: count(totalTimeMs?.p99),
  });
}

/** A bucket has each metric by its name, and the share where it is asked for: null without a vote. */
function feedbackFields({ feedback }: BucketWithFeedback, hasShare: boolean) {
  if (feedback === null) return {};
  const { metrics, thumbsUp, thumbsDown } = feedback;
  const named = metrics.map(({ name, sum, count }) => [name, { sum, avg: sum / count, count }]);
  const votes = thumbsUp + thumbsDown;
  return {
    eventsJson: JSON.stringify(Object.fromEntries(named)),
    ...(hasShare ? { thumbsUpShare: votes === 0 ? {} : { value: thumbsUp / votes } } : {}),
  };
}

function count(value: number | null | undefined): { value?: bigint } {
  return value === null || value === undefined ? {} : { value: wholeNumber(value) };
}

/** Clamps sums at the largest safe integer. */
export function wholeNumber(value: number): bigint {
  return BigInt(Math.min(value, Number.MAX_SAFE_INTEGER));
}

function statsMessage({ totals, threads, firstSeenMs, lastSeenMs }: UserStats) {
  return {
    traces: BigInt(totals.traces),
    threads: BigInt(threads),
    spans: BigInt(totals.spans),
    errors: BigInt(totals.errors),
    promptTokens: count(totals.promptTokens).value,
    completionTokens: count(totals.completionTokens).value,
    totalCost: totals.totalCostUsd ?? undefined,
    firstSeenAt: firstSeenMs === null ? undefined : timestampOfMs(firstSeenMs),
    lastSeenAt: lastSeenMs === null ? undefined : timestampOfMs(lastSeenMs),
  };
}
