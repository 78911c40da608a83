import { describe, expect, it } from 'vitest';
import type { JudgeSpendingStore } from '../../../src/domain/evaluations/judge-spending.ts';
import { type OpenManagement, withStore } from './subject.ts';

const DAY = 20_000;
const BUDGET = { projectId: 'project_1', day: DAY, budgetNanoUsd: 5_000_000_000_000 };
const SHARE = 500_000_000_000;

/** How many of twenty-five concurrent reservations, each a tenth of the budget, are granted. */
export async function countGranted(stores: readonly JudgeSpendingStore[], budget = BUDGET): Promise<number> {
  const asked = Array.from({ length: 25 }, (_, index) =>
    stores[index % stores.length]?.reserve({ ...budget, nanoUsd: SHARE }),
  );
  return (await Promise.all(asked)).filter((isGranted) => isGranted === true).length;
}

export function judgeSpendingConformance(open: OpenManagement): void {
  describe('what judges have cost', () => {
    it(
      'MUST return false and add nothing when the sum would exceed the budget, also when several reserve at once',
      withStore(open, async ({ judgeSpending }) => {
        expect(await judgeSpending.reserve({ ...BUDGET, nanoUsd: BUDGET.budgetNanoUsd + 1 })).toBe(false);
        expect(await countGranted([judgeSpending])).toBe(10);
        expect(await judgeSpending.reserve({ ...BUDGET, nanoUsd: 1 })).toBe(false);
        expect(await judgeSpending.reserve({ ...BUDGET, nanoUsd: 0 })).toBe(true);
      }),
    );

    it(
      'is counted for each project and day, and corrected to what calls have cost',
      withStore(open, async ({ judgeSpending }) => {
        expect(await countGranted([judgeSpending])).toBe(10);
        expect(await countGranted([judgeSpending], { ...BUDGET, projectId: 'project_2' })).toBe(10);
        expect(await countGranted([judgeSpending], { ...BUDGET, day: DAY + 1 })).toBe(10);
        await judgeSpending.settle({ projectId: 'project_1', day: DAY, changeNanoUsd: -SHARE });
        expect(await countGranted([judgeSpending])).toBe(1);
        await judgeSpending.settle({ projectId: 'project_1', day: DAY, changeNanoUsd: 3 * SHARE });
        await judgeSpending.settle({ projectId: 'project_1', day: DAY, changeNanoUsd: -3 * SHARE });
        expect(await countGranted([judgeSpending])).toBe(0);
      }),
    );

    it(
      'survives a clock that was ahead for a while',
      withStore(open, async ({ judgeSpending }) => {
        expect(await countGranted([judgeSpending])).toBe(10);
        expect(await countGranted([judgeSpending], { ...BUDGET, day: DAY + 60 })).toBe(10);
        expect(await countGranted([judgeSpending])).toBe(0);
      }),
    );
  });
}
