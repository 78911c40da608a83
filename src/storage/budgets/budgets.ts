/** Sums of the buckets of budgets. */

import type { BudgetLedger } from '../../domain/budgets/budget-store.ts';
import type { Queries, QueryRunner } from '../transaction.ts';

type Reads = { readonly queries: Pick<Queries, 'budgets'>; readonly runQuery: QueryRunner['runQuery'] };

export function createBudgetLedger({ queries, runQuery }: Reads): BudgetLedger {
  return {
    sums: (organizationNumber, periods) =>
      Promise.all(
        periods.map(async (period) => {
          const [sums] = await runQuery(queries.budgets.sumPeriod, { organizationNumber, ...period });
          return { spentNanoUsd: BigInt(sums?.spent ?? 0), leasedNanoUsd: BigInt(sums?.leased ?? 0) };
        }),
      ),
  };
}
