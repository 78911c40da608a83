/** Makes the record of a new budget, which is stored by itself or together with the virtual key that it limits. */

import { Fault } from '../fault.ts';
import { newId } from '../ids.ts';
import type { AuditedAction } from '../management/audit.ts';
import type { CommitDeps } from '../management/optimistic-commit.ts';
import type { Budget, BudgetScope } from './budget.ts';
import { limitOfText, type UnscopedDraft } from './budget-draft.ts';
import { type BudgetView, viewNew } from './budget-view.ts';

type NewBudget = {
  readonly organizationId: string;
  readonly scope: BudgetScope;
  readonly draft: UnscopedDraft;
  readonly nowMs: number;
};

const BUDGETS_MAX = 10_000;

/** Throws budget_limit_reached. `draft` has no problems. */
export async function prepareBudget(
  { store, random }: CommitDeps,
  { organizationId, scope, draft, nowMs }: NewBudget,
): Promise<{ readonly view: BudgetView; readonly audited: AuditedAction }> {
  if ((await store.countBudgets(organizationId)) >= BUDGETS_MAX) {
    throw new Fault('budget_limit_reached', `An organization has at most ${BUDGETS_MAX} budgets; archive some.`);
  }
  const { name, window, limitUsd, onBreach, providerId, reserve, cycleAnchorAtMs } = draft;
  const id = newId('budget', random);
  const budget: Budget = {
    ...{ organizationId, id, name, scope, window, onBreach, providerId, reserve },
    limitNanoUsd: limitOfText(limitUsd),
    cycleAnchorAtMs: cycleAnchorAtMs ?? nowMs,
    ...{ resetAtMs: null, resetReason: null, archivedAtMs: null, createdAtMs: nowMs, updatedAtMs: nowMs },
  };
  return { view: viewNew(budget, nowMs), audited: { action: 'budget.create', targetId: id, status: 201 } };
}
