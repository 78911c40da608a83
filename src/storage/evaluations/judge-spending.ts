/** What judges have cost. */

import type { JudgeSpendingStore } from '../../domain/evaluations/judge-spending.ts';
import type { Transact } from '../queries.ts';
import type { Verbs } from '../slugs.ts';

type SpendingWriter = Verbs<JudgeSpendingStore, 'reserve' | 'settle', 'Spending'>;

/** Older days go when a new one begins. Far more than one, because a clock may be ahead for a while. */
const DAYS_KEPT = 90;

export function createSpendingStore({ reserveSpending, settleSpending }: SpendingWriter): JudgeSpendingStore {
  return { reserve: reserveSpending, settle: settleSpending };
}

export function createSpendingWriter(transact: Transact): SpendingWriter {
  return {
    reserveSpending: ({ projectId, day, nanoUsd, budgetNanoUsd }) =>
      transact(async ({ change, queries: { evaluations } }) => {
        const isNew = (await change(evaluations.openSpending, { projectId, day, spentNanoUsd: 0 })) > 0;
        if (isNew) await change(evaluations.removeOldSpending, { projectId, beforeDay: day - DAYS_KEPT });
        const spentBeforeMax = budgetNanoUsd - nanoUsd;
        return (await change(evaluations.reserveSpending, { projectId, day, nanoUsd, spentBeforeMax })) > 0;
      }),
    settleSpending: (settlement) =>
      transact(async ({ change, queries: { evaluations } }) => {
        await change(evaluations.settleSpending, settlement);
      }),
  };
}
