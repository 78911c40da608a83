/** How much of budgets is spent, roughly and in memory, for the warning that callers get. */

import type { BudgetLedger, BudgetPeriod } from '../domain/budgets/budget-store.ts';
import type { BudgetBucket } from '../domain/gateway/budget-demands.ts';

type LevelsDeps = {
  readonly ledger: BudgetLedger;
  readonly nowMs: () => number;
};

type Level = { readonly percent: number; readonly readAtMs: number };

const WARNING_PERCENT = 80;
const FRESH_MS = 2_000;
const LEVELS_MAX = 10_000;

export function createBudgetLevels({ ledger, nowMs }: LevelsDeps) {
  const levels = new Map<string, Level>();
  const reading = new Set<string>();

  async function read(organizationNumber: number, buckets: readonly BudgetBucket[]): Promise<void> {
    const periods: BudgetPeriod[] = buckets.map(({ budgetId, periodStartedAtMs }) => ({ budgetId, periodStartedAtMs }));
    for (const { budgetId } of buckets) reading.add(budgetId);
    try {
      const sums = await ledger.sums(organizationNumber, periods);
      if (levels.size + buckets.length > LEVELS_MAX) levels.clear();
      for (const [index, { spentNanoUsd }] of sums.entries()) {
        const bucket = buckets[index];
        if (bucket === undefined) continue;
        const percent = Math.floor((100 * Number(spentNanoUsd)) / bucket.budget.limitNanoUsd);
        levels.set(nameOf(bucket), { percent, readAtMs: nowMs() });
      }
    } finally {
      for (const { budgetId } of buckets) reading.delete(budgetId);
    }
  }

  return {
    /**
     * "<scope>:<percent>" of each budget of which 80 % or more were spent when it was last read; '' without any. Levels that
     * are old are read anew meanwhile. Budgets for each end user are left out: only their sum is known.
     */
    warningOf(organizationNumber: number, all: readonly BudgetBucket[]): string {
      const buckets = all.filter(({ subject }) => subject === '');
      const old = buckets.filter((bucket) => {
        const level = levels.get(nameOf(bucket));
        return !reading.has(bucket.budgetId) && (level === undefined || nowMs() - level.readAtMs > FRESH_MS);
      });
      // A level that cannot be read now is read with a later request.
      if (old.length > 0) read(organizationNumber, old).catch(() => undefined);
      return buckets
        .flatMap((bucket) => {
          const percent = levels.get(nameOf(bucket))?.percent ?? 0;
          return percent >= WARNING_PERCENT ? `${bucket.budget.scope.kind}:${percent}` : [];
        })
        .join(', ');
    },
  };
}

function nameOf({ organizationNumber, budgetId, periodStartedAtMs }: BudgetBucket): string {
  return `${organizationNumber} ${budgetId} ${periodStartedAtMs}`;
}
