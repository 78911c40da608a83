/** A budget as it is read, with its current period. */

import type { Budget } from './budget.ts';
import type { PeriodSums } from './budget-store.ts';
import { type Period, periodAt } from './period.ts';

export type BudgetView = { readonly budget: Budget; readonly period: Period; readonly sums: PeriodSums };

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
