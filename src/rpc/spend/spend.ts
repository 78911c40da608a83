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
import type { Spend } from '../../domain/spend/spend.ts';
import type { SpendQuery, SpendTotals } from '../../domain/spend/spend-store.ts';
import { cursorRequest } from '../cursor-page.ts';
import { wordOf } from '../enums.ts';
import { checkRange, requireRange } from '../epoch-ms.ts';
import type { Implementation } from '../method.ts';
import { organizationOf } from '../scope.ts';

export function createSpendRpc({ spend }: { readonly spend: Spend }): Implementation<typeof SpendService> {
  return {
    querySpend: {
      check: ({ occurredFrom, occurredTo }) => checkRange(occurredFrom, occurredTo),
      async handle(request, context) {
        const groupBy = wordOf(SpendGrouping, request.groupBy);
        const query = {
          ...requireRange(request.occurredFrom, request.occurredTo),
          ...cursorRequest(request),
          groupBy: groupBy === 'none' ? null : groupBy,
          filters: filtersOf(request),
          order: wordOf(SpendOrder, request.orderBy) ?? 'cost',
        };
        const { groups, total, nextCursor } = await spend.query(organizationOf(context), query, context.nowMs);
        return {
          data: groups.map(({ group, spent }) => ({ group: group ?? undefined, amounts: amountsOf(spent) })),
          total: amountsOf(total),
          nextPageToken: nextCursor ?? undefined,
        };
      },
    },
  };
}

function filtersOf(request: QuerySpendRequest): SpendQuery['filters'] {
  const { projectId, model, virtualKeyId, principalUserId, endUserId, label, promptId, promptVersion } = request;
  return {
    ...(projectId === undefined ? {} : { project: projectId }),
    ...(model === undefined ? {} : { model }),
    ...(virtualKeyId === undefined ? {} : { virtual_key: virtualKeyId }),
    ...(principalUserId === undefined ? {} : { principal: principalUserId }),
    ...(endUserId === undefined ? {} : { end_user: endUserId }),
    ...(label === undefined ? {} : { label }),
    ...(promptId === undefined ? {} : { prompt_id: promptId }),
    ...(promptVersion === undefined ? {} : { prompt_version: promptVersion }),
  };
}

export function amountsOf(spent: SpendTotals): MessageInitShape<typeof SpendAmountsSchema> {
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
