/** Budgets as messages, of their own service and of that of virtual keys. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  BudgetReserve,
  type BudgetSchema,
  BudgetScopeKind,
  type CreateBudgetRequest,
} from '../../../gen/spandrel/v1/budgets_pb.js';
import { BudgetOnBreach, BudgetWindow } from '../../../gen/spandrel/v1/gateway_pb.js';
import type { VirtualKeyBudget } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import type { UnscopedDraft } from '../../domain/budgets/budget-draft.ts';
import type { BudgetView } from '../../domain/budgets/budget-view.ts';
import { nanoToUsdText } from '../../domain/pricing/money.ts';
import { numbersOf, wordOf } from '../enums.ts';
import { msOfTimestamp, toTimestamp } from '../epoch-ms.ts';

/** All but the scope of a budget to create. */
export function readBudget(request: CreateBudgetRequest | VirtualKeyBudget, name: string): UnscopedDraft {
  const { limitUsd = '', providerId = null, cycleAnchorAt } = request;
  return {
    name,
    window: wordOf(BudgetWindow, request.window) ?? 'total',
    limitUsd,
    onBreach: wordOf(BudgetOnBreach, request.onBreach) ?? 'block',
    providerId,
    reserve: wordOf(BudgetReserve, request.reserve) ?? 'expected',
    cycleAnchorAtMs: cycleAnchorAt === undefined ? null : msOfTimestamp(cycleAnchorAt),
  };
}

const KINDS = numbersOf(BudgetScopeKind);
const WINDOWS = numbersOf(BudgetWindow);
const ON_BREACH = numbersOf(BudgetOnBreach);
const RESERVES = numbersOf(BudgetReserve);

export function toBudget({ budget, period, sums }: BudgetView): MessageInitShape<typeof BudgetSchema> {
  const { id, name, scope, providerId, resetReason } = budget;
  return {
    id,
    name,
    scope: { kind: KINDS[scope.kind], id: scope.id },
    window: WINDOWS[budget.window],
    limitUsd: nanoToUsdText(budget.limitNanoUsd),
    onBreach: ON_BREACH[budget.onBreach],
    providerId: providerId ?? undefined,
    reserve: RESERVES[budget.reserve],
    cycleAnchorAt: timestampFromMs(budget.cycleAnchorAtMs),
    spentUsd: nanoToUsdText(sums.spentNanoUsd),
    reservedUsd: nanoToUsdText(sums.leasedNanoUsd),
    periodStartedAt: timestampFromMs(period.startedAtMs),
    resetsAt: toTimestamp(period.endsAtMs),
    lastResetAt: toTimestamp(budget.resetAtMs),
    lastResetReason: resetReason ?? undefined,
    archivedAt: toTimestamp(budget.archivedAtMs),
    createdAt: timestampFromMs(budget.createdAtMs),
    updatedAt: timestampFromMs(budget.updatedAtMs),
  };
}
