/** The budgets of an organization. */

import type { Budget } from '../../domain/budgets/budget.ts';
import type { BudgetRecords } from '../../domain/budgets/budget-store.ts';
import { unpackBudget } from '../budgets/budgets.ts';
import { BudgetRow } from '../entities/budgets.ts';
import { Organization } from '../entities/organization.ts';
import { plain, type Units } from './units.ts';

const NEWEST_FIRST = { createdAtMs: 'desc', id: 'desc' } as const;

export function createBudgetRecords({ read }: Units): BudgetRecords {
  return {
    budget: (organizationId, id) =>
      read(async (em) => {
        const row = await em.findOne(BudgetRow, { organizationId, id });
        return row && unpackBudget(plain(row));
      }),
    budgets: (organizationId, { after, limit, scopeKind, scopeId, includeArchived }) =>
      read(async (em) => {
        const wanted = {
          organizationId,
          ...(scopeKind === null ? {} : { scopeKind }),
          ...(scopeId === null ? {} : { scopeId }),
          ...(includeArchived ? {} : { archivedAtMs: null }),
          ...(after === null
            ? {}
            : {
                $or: [
                  { createdAtMs: { $lt: after.createdAtMs } },
                  { createdAtMs: after.createdAtMs, id: { $lt: after.id } },
                ],
              }),
        };
        const rows = await em.find(BudgetRow, wanted, { orderBy: NEWEST_FIRST, limit });
        return rows.map((row): Budget => unpackBudget(plain(row)));
      }),
    budgetIds: (organizationId, ids) =>
      read(async (em) => {
        const found = await em.find(BudgetRow, { organizationId, id: { $in: [...ids] } }, { fields: ['id'] });
        return found.map(({ id }) => id);
      }),
    countBudgets: (organizationId) => read((em) => em.count(BudgetRow, { organizationId, archivedAtMs: null })),
    activeBudgets: (organizationId) =>
      read(async (em) => {
        // Read first: budgets that change meanwhile are of a later version, and are read again.
        const organization = await em.findOne(Organization, { id: organizationId });
        const rows = await em.find(BudgetRow, { organizationId, archivedAtMs: null });
        const budgets = rows.map((row): Budget => unpackBudget(plain(row)));
        return { version: organization?.budgetVersion ?? 0, budgets };
      }),
  };
}
