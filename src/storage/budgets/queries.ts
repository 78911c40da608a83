/** What budgets read of their buckets. */

import { sql } from 'kysely';
import type { BudgetPeriod } from '../../domain/budgets/budget-store.ts';
import { rowsOf } from '../plain-queries.ts';
import { query } from '../queries.ts';

/** As text: a double would round large sums. */
const sumText = (column: 'spentNanoUsd' | 'leasedNanoUsd') =>
  sql<string>`cast(coalesce(sum(${sql.ref(column)}), 0) as text)`;

export const sumPeriod = query<BudgetPeriod & { readonly organizationNumber: number }>()(
  (db, { organizationNumber, budgetId, periodStartedAtMs }) =>
    rowsOf(db, 'BudgetBucket', { organizationNumber, budgetId, periodStartedAtMs }).select([
      sumText('spentNanoUsd').as('spent'),
      sumText('leasedNanoUsd').as('leased'),
    ]),
);
