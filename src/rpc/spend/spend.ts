/** SpendService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type QuerySpendRequest,
  type SpendAmountsSchema,
  SpendGrouping,
  SpendOrder,
  type SpendService,
} from '../../../gen/spandrel/v1/spend_pb.js';
import { nanoToUsdText } from '../../domain/pricing/money.ts';
import { rangeProblems } from '../../domain/reasons.ts';
import type { Spend } from '../../domain/spend/spend.ts';
import type { SpendDimension, SpendQuery, SpendTotals } from '../../domain/spend/spend-store.ts';
import { msOfTimestamp } from '../epoch-ms.ts';
import type { Implementation } from '../method.ts';
import { organizationOf } from '../scope.ts';

export function createSpendRpc({ spend }: { readonly spend: Spend }): Implementation<typeof SpendService> {
  return {
    querySpend: {
      check({ occurredFrom, occurredTo }) {
        if (occurredFrom === undefined || occurredTo === undefined) return [];
        return rangeProblems(msOfTimestamp(occurredFrom), msOfTimestamp(occurredTo));
      },
      async handle(request, context) {
        const { occurredFrom, occurredTo, orderBy, groupBy } = request;
        if (!occurredFrom || !occurredTo) throw new Error('the contract let a question without a range through');
        const query = {
          fromMs: msOfTimestamp(occurredFrom),
          toMs: msOfTimestamp(occurredTo),
          groupBy: DIMENSIONS.get(groupBy) ?? null,
          filters: filtersOf(request),
          order: orderBy === SpendOrder.REQUESTS ? ('requests' as const) : ('cost' as const),
          cursor: request.pageToken,
          limit: request.pageSize ?? null,
        };
        const { groups, total, nextCursor } = await spend.query(organizationOf(context), query, context.nowMs);
        return {
          data: groups.map(({ group, spent }) => ({
            ...(group === null ? {} : { group }),
            amounts: amountsOf(spent),
          })),
          total: amountsOf(total),
          ...(nextCursor === null ? {} : { nextPageToken: nextCursor }),
        };
      },
    },
  };
}

const DIMENSIONS: ReadonlyMap<SpendGrouping, SpendDimension> = new Map([
  [SpendGrouping.PROJECT, 'project'],
  [SpendGrouping.MODEL, 'model'],
  [SpendGrouping.VIRTUAL_KEY, 'virtual_key'],
  [SpendGrouping.PRINCIPAL, 'principal'],
  [SpendGrouping.END_USER, 'end_user'],
  [SpendGrouping.LABEL, 'label'],
]);

function filtersOf(request: QuerySpendRequest): SpendQuery['filters'] {
  const { projectId, model, virtualKeyId, principalUserId, endUserId, label } = request;
  return {
    ...(projectId === undefined ? {} : { project: projectId }),
    ...(model === undefined ? {} : { model }),
    ...(virtualKeyId === undefined ? {} : { virtual_key: virtualKeyId }),
    ...(principalUserId === undefined ? {} : { principal: principalUserId }),
    ...(endUserId === undefined ? {} : { end_user: endUserId }),
    ...(label === undefined ? {} : { label }),
  };
}

function amountsOf(spent: SpendTotals): MessageInitShape<typeof SpendAmountsSchema> {
  return {
    requests: spent.requests,
    errors: spent.errors,
    unpricedRequests: spent.unpriced,
    usage: {
      inputTokens: bounded(spent.inputTokens),
      outputTokens: bounded(spent.outputTokens),
      cacheReadInputTokens: bounded(spent.cacheReadInputTokens),
      cacheCreationInputTokens: bounded(spent.cacheCreationInputTokens),
      reasoningTokens: bounded(spent.reasoningTokens),
    },
    cost: {
      totalUsd: nanoToUsdText(spent.costNanoUsd),
      ...(spent.costNanoUsd > EXACT_MAX ? {} : { nanoUsd: spent.costNanoUsd }),
    },
  };
}

const EXACT_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** Clamps a sum at the largest safe integer. */
function bounded(sum: bigint): bigint {
  return sum > EXACT_MAX ? EXACT_MAX : sum;
}
