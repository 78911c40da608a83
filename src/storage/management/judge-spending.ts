/** What judges have cost. */

import { raw } from '@mikro-orm/core';
import type { JudgeSpendingStore } from '../../domain/evaluations/judge-spending.ts';
import { JudgeSpendingRow } from '../entities/evaluations.ts';
import type { Units } from './units.ts';

/** Older days go when a new one begins. Far more than one, because a clock may be ahead for a while. */
const DAYS_KEPT = 90;

export function createSpendingStore({ transact }: Units): JudgeSpendingStore {
  return {
    reserve: ({ projectId, day, nanoUsd, budgetNanoUsd }) =>
      transact(async ({ em }) => {
        const open = em.createQueryBuilder(JudgeSpendingRow).insert({ projectId, day, spentNanoUsd: 0 });
        const { affectedRows } = await open.onConflict().ignore().execute('run');
        const old = { projectId, day: { $lt: day - DAYS_KEPT } };
        if (affectedRows > 0) await em.nativeDelete(JudgeSpendingRow, old);
        // One statement, because several processes reserve at once: PostgreSQL checks the condition again after waiting.
        const within = { projectId, day, spentNanoUsd: { $lte: budgetNanoUsd - nanoUsd } };
        return (await em.nativeUpdate(JudgeSpendingRow, within, { spentNanoUsd: spentAnd(nanoUsd) })) > 0;
      }),
    settle: ({ projectId, day, changeNanoUsd }) =>
      transact(async ({ em }) => {
        await em.nativeUpdate(JudgeSpendingRow, { projectId, day }, { spentNanoUsd: spentAnd(changeNanoUsd) });
      }),
  };
}

function spentAnd(nanoUsd: number) {
  return raw<number>('spent_nano_usd + ?', [nanoUsd]);
}
