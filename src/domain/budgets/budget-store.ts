/** What budgets need of the stores: their records are management data, and what is counted stands in the log. */

import type { PageRange } from '../management/listing.ts';
import type { Budget, BudgetScope } from './budget.ts';

export type BudgetListing = PageRange & {
  /** Null: any. */
  readonly scopeKind: BudgetScope['kind'] | null;
  readonly scopeId: string | null;
  readonly includeArchived: boolean;
};

export type BudgetRecords = {
  /** Archived ones included. */
  budget(organizationId: string, id: string): Promise<Budget | null>;
  /** Those of the ids, at most 500, that budgets of the organization have; archived ones included. */
  budgetIds(organizationId: string, ids: readonly string[]): Promise<readonly string[]>;
  /** Newest first by (createdAt, id). */
  budgets(organizationId: string, listing: BudgetListing): Promise<readonly Budget[]>;
  /** Those that are not archived. */
  countBudgets(organizationId: string): Promise<number>;
  /** Those that are not archived, with the version that they are of, which increases with every change of a budget. */
  activeBudgets(organizationId: string): Promise<{ readonly version: number; readonly budgets: readonly Budget[] }>;
};

export type BudgetPeriod = { readonly budgetId: string; readonly periodStartedAtMs: number };

/** Exact, of all subjects together. */
export type PeriodSums = { readonly spentNanoUsd: bigint; readonly leasedNanoUsd: bigint };

export type BudgetLedger = {
  /**
   * What was spent in periods, in their order. MUST be the sum of what the requests of the organization count there, as of
   * all reports that were acknowledged before the call.
   */
  sums(organizationNumber: number, periods: readonly BudgetPeriod[]): Promise<readonly PeriodSums[]>;
};
