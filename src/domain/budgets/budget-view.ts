/** A budget as it is read, with its current period. */

import type { Budget } from './budget.ts';
import type { BudgetLedger, PeriodSums } from './budget-store.ts';
import { type Period, periodAt } from './period.ts';

export type BudgetView = { readonly budget: Budget; readonly period: Period; readonly sums: PeriodSums };

type Viewing = {
  readonly ledger: BudgetLedger;
  readonly organizationNumber: number;
  readonly nowMs: number;
};

/** Budgets of one organization. */
export async function viewBudgets(
  { ledger, organizationNumber, nowMs }: Viewing,
  budgets: readonly Budget[],
): Promise<readonly BudgetView[]> {
  const periods = budgets.map((budget) => currentPeriod(budget, nowMs));
  const asked = budgets.map(({ id }, index) => ({ budgetId: id, periodStartedAtMs: periods[index]?.startedAtMs ?? 0 }));
  const sums = await ledger.sums(organizationNumber, asked);
  return budgets.map((budget, index): BudgetView => {
    const [period, sum] = [periods[index], sums[index]];
    if (period === undefined || sum === undefined) throw new Error('a period has no sums');
    return { budget, period, sums: sum };
  });
}

/** Of an archived budget the period in which it ended. */
export function currentPeriod(budget: Budget, nowMs: number): Period {
  const { archivedAtMs, resetAtMs, cycleAnchorAtMs } = budget;
  // The clock of another process may have been ahead when it set the boundary.
  const atMs = Math.max(archivedAtMs ?? nowMs, resetAtMs ?? 0);
  return periodAt(budget, atMs) ?? { startedAtMs: cycleAnchorAtMs, endsAtMs: null };
}

const NOTHING_SPENT: PeriodSums = { spentNanoUsd: 0n, leasedNanoUsd: 0n };

/** A new period. */
export function viewNew(budget: Budget, nowMs: number): BudgetView {
  return { budget, period: currentPeriod(budget, nowMs), sums: NOTHING_SPENT };
}
