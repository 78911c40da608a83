/** ThreadService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type ListThreadsRequest,
  type ListUsersRequest,
  type ThreadService,
  ThreadSort,
  ThreadSortDirection,
  type TurnSchema,
} from '../../../gen/spandrel/v1/threads_pb.js';
import type { GroupField } from '../../domain/threads/group-store.ts';
import type { GroupPage, GroupsRequest, ShownGroup, ShownTurn, Threads } from '../../domain/threads/threads.ts';
import { wholeNumber } from '../analytics/analytics.ts';
import { wordOf } from '../enums.ts';
import { checkRange, msOfTimestamp, timestampOfMs } from '../epoch-ms.ts';
import type { Context, Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';

export function createThreadRpc({ threads }: { readonly threads: Threads }): Implementation<typeof ThreadService> {
  const list = async (field: GroupField, request: ListThreadsRequest | ListUsersRequest, context: Context) =>
    await threads.list(toRequest(field, request), { project: projectOf(context), nowMs: context.nowMs });
  return {
    listThreads: {
      check: problemsOf,
      handle: async (request, context) => {
        const page = await list('thread_id', request, context);
        return {
          ...pageMessage(page),
          threads: page.groups.map((group) => ({
            ...summaryOf(group),
            threadId: group.name,
            userId: group.last.userId ?? undefined,
          })),
        };
      },
    },
    listUsers: {
      check: problemsOf,
      handle: async (request, context) => {
        const page = await list('user_id', request, context);
        return {
          ...pageMessage(page),
          users: page.groups.map((group) => ({ ...summaryOf(group), userId: group.name })),
        };
      },
    },
  };
}

function problemsOf({ startedFrom, startedTo }: Pick<ListThreadsRequest, 'startedFrom' | 'startedTo'>) {
  return checkRange(startedFrom, startedTo);
}

function toRequest(field: GroupField, request: ListThreadsRequest | ListUsersRequest): GroupsRequest {
  const { startedFrom, startedTo, customerId = null, label = null, pageSize = null } = request;
  return {
    field,
    fromMs: startedFrom === undefined ? null : msOfTimestamp(startedFrom),
    toMs: startedTo === undefined ? null : msOfTimestamp(startedTo),
    query: request.query,
    conditions: { userId: 'userId' in request ? (request.userId ?? null) : null, customerId, label },
    sort: wordOf(ThreadSort, request.sortBy) ?? 'last_activity',
    isAscending: request.sortDirection === ThreadSortDirection.ASC,
    pageSize,
    cursor: request.pageToken,
  };
}

function pageMessage({ nextCursor, isPartial }: GroupPage) {
  return { nextPageToken: nextCursor ?? undefined, partial: isPartial ? true : undefined };
}

function summaryOf({ first, last, totals, scores }: ShownGroup) {
  const { promptTokens, completionTokens, totalCostUsd } = totals;
  return {
    first: turnMessage(first),
    last: turnMessage(last),
    totals: {
      traces: BigInt(totals.traces),
      spans: BigInt(totals.spans),
      errors: BigInt(totals.errors),
      promptTokens: promptTokens === null ? undefined : wholeNumber(promptTokens),
      completionTokens: completionTokens === null ? undefined : wholeNumber(completionTokens),
      totalCost: totalCostUsd ?? undefined,
    },
    scores: {
      score: scores.mean ?? undefined,
      scored: BigInt(scores.scored),
      passed: BigInt(scores.passed),
      failed: BigInt(scores.failed),
    },
  };
}

function turnMessage({ traceId, startMs, input, output }: ShownTurn): MessageInitShape<typeof TurnSchema> {
  return { traceId, startedAt: timestampOfMs(startMs), input, output };
}
