/** What `GET /v1/me` tells the holder of a virtual key: its limits, the budgets that count its requests, and what is left. */

import type { ActiveBudgets, KeySpender } from '../budgets/active-budgets.ts';
import type { Budget } from '../budgets/budget.ts';
import type { BudgetLedger, PeriodSums } from '../budgets/budget-store.ts';
import { type BudgetView, viewBudgets } from '../budgets/budget-view.ts';
import type { MaybePromise } from '../management/management-port.ts';
import { nanoToUsdText } from '../pricing/money.ts';
import type { PresentedKey } from '../virtual-keys/virtual-key.ts';

type KeyStatusDeps = {
  readonly findBudgets: (organizationId: string) => MaybePromise<ActiveBudgets>;
  readonly ledger: BudgetLedger;
};

export type KeyStatus = {
  readonly key: PresentedKey['key'];
  /** With their current periods, in the order of their ids. */
  readonly budgets: readonly BudgetView[];
  /** Those of which each end user has one. */
  readonly endUserBudgets: readonly Budget[];
  /** Whether budgets are left out, beyond BUDGETS_TOLD_MAX of each list. */
  readonly hasMoreBudgets: boolean;
};

export const BUDGETS_TOLD_MAX = 200;

/** Of a key that was verified. Throws unavailable. */
export function createKeyStatus({ findBudgets, ledger }: KeyStatusDeps) {
  return async ({ key, organization, project }: PresentedKey, nowMs: number): Promise<KeyStatus> => {
    const spender: KeySpender = {
      organizationId: organization.id,
      projectId: project.id,
      teamId: project.teamId,
      virtualKeyId: key.id,
      principalUserId: key.principalUserId,
    };
    const counting = (await findBudgets(organization.id)).countingKey(spender);
    const { attributed_user: ofEndUsers = [], other = [] } = Object.groupBy(counting, ({ scope }) =>
      scope.kind === 'attributed_user' ? 'attributed_user' : 'other',
    );
    const told = other.slice(0, BUDGETS_TOLD_MAX);
    return {
      key,
      budgets: await viewBudgets({ ledger, organizationNumber: organization.number, nowMs }, told),
      endUserBudgets: ofEndUsers.slice(0, BUDGETS_TOLD_MAX),
      hasMoreBudgets: Math.max(other.length, ofEndUsers.length) > BUDGETS_TOLD_MAX,
    };
  };
}

/** In the form of the management routes: instants and amounts are texts. */
export function keyStatusJson({ key, budgets, endUserBudgets, hasMoreBudgets }: KeyStatus) {
  const { modelsAllowed, rateLimits } = key.config;
  return {
    id: key.id,
    name: key.name,
    status: key.status,
    display_prefix: key.displayPrefix,
    trace_project_id: key.traceProjectId,
    expires_at: toInstant(key.expiresAtMs),
    models_allowed: modelsAllowed,
    rate_limits: { rpm: rateLimits.rpm, tpm: rateLimits.tpm, rpd: rateLimits.rpd },
    budgets: budgets.map(({ budget, period, sums }) => ({
      ...toBudget(budget),
      spent_usd: nanoToUsdText(sums.spentNanoUsd),
      reserved_usd: nanoToUsdText(sums.leasedNanoUsd),
      left_usd: nanoToUsdText(leftOf(budget, sums)),
      resets_at: toInstant(period.endsAtMs),
    })),
    end_user_budgets: endUserBudgets.map(toBudget),
    has_more_budgets: hasMoreBudgets,
  };
}

function toBudget({ id, name, scope, window, limitNanoUsd, onBreach, providerId }: Budget) {
  return {
    ...{ id, name, scope: { kind: scope.kind, id: scope.id }, window },
    limit_usd: nanoToUsdText(limitNanoUsd),
    on_breach: onBreach,
    provider_id: providerId,
  };
}

/** Requests in flight may still spend what is reserved of it. */
function leftOf({ limitNanoUsd }: Budget, { spentNanoUsd }: PeriodSums): bigint {
  const left = BigInt(limitNanoUsd) - spentNanoUsd;
  return left < 0n ? 0n : left;
}

function toInstant(instantMs: number | null): string | null {
  return instantMs === null ? null : new Date(instantMs).toISOString();
}
