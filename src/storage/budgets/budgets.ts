/** Budgets as they are stored, and sums of their buckets. */

import type { Budget, BudgetScope } from '../../domain/budgets/budget.ts';
import type { BudgetLedger } from '../../domain/budgets/budget-store.ts';
import type { Queries, QueryRunner } from '../transaction.ts';

/** The columns of a budget. */
export type PackedBudget = Omit<Budget, 'scope'> & {
  readonly scopeKind: BudgetScope['kind'];
  readonly scopeId: string;
  readonly template: 'virtual_key' | 'project' | null;
};

export function packBudget({ scope, ...rest }: Budget): PackedBudget {
  const template = scope.kind === 'attributed_user' ? scope.of : null;
  return { ...rest, scopeKind: scope.kind, scopeId: scope.id, template };
}

export function unpackBudget({ scopeKind: kind, scopeId: id, template, ...rest }: PackedBudget): Budget {
  if (kind !== 'attributed_user') return { ...rest, scope: { kind, id } };
  if (template === null) throw new Error('a budget for each end user does not say of what');
  return { ...rest, scope: { kind, id, of: template } };
}

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
