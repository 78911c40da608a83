/** Limits on spend and on the rate of requests, and what counts against them. */

import { defineEntity } from '@mikro-orm/core';
import type { BudgetScope, Reserve } from '../../domain/budgets/budget.ts';
import type { BudgetWindow } from '../../domain/budgets/period.ts';
import type { RateDimension } from '../../domain/gateway/refusal.ts';
import { bigInteger, enumText, id, instant, integer, nanoUsd, table, text, times } from './kinds.ts';

export const BudgetRow = defineEntity({
  name: 'Budget',
  tableName: 'budgets',
  properties: {
    organizationId: id().primary(),
    id: id().primary(),
    name: text(),
    scopeKind: enumText<BudgetScope['kind']>(),
    scopeId: id(),
    // Of a budget for each end user: what its scope id names. Null for all others.
    template: enumText<'virtual_key' | 'project'>().strictNullable(),
    // `window` is a keyword of SQL.
    window: enumText<BudgetWindow>().fieldName('budget_window'),
    limitNanoUsd: nanoUsd('limit_nano_usd'),
    onBreach: enumText<'block' | 'warn'>(),
    providerId: id().strictNullable(),
    reserve: enumText<Reserve>(),
    cycleAnchorAtMs: instant('cycle_anchor_at'),
    resetAtMs: instant('reset_at').strictNullable(),
    resetReason: text().strictNullable(),
    archivedAtMs: instant('archived_at').strictNullable(),
    ...times(),
  },
  indexes: [{ name: 'budgets_by_age', properties: ['organizationId', 'createdAtMs', 'id'] }],
});

/**
 * What was spent of a budget in one period, and what processes have leased of it; of a budget for each end user, by one of
 * them. A period without requests has no row. Amounts may exceed what a double holds exactly: queries add to them, and read
 * them as text. WITHOUT ROWID (beyond-mapper.ts).
 */
export const BudgetBucketRow = defineEntity({
  name: 'BudgetBucket',
  tableName: 'budget_buckets',
  properties: {
    organizationNumber: integer().primary(),
    budgetId: id().primary(),
    periodStartedAtMs: instant('period_started_at').primary(),
    // The end user; '' for the budgets of all other scopes.
    subject: id().primary(),
    // The next boundary of the window; null for windows without.
    periodEndsAtMs: instant('period_ends_at').strictNullable(),
    spentNanoUsd: nanoUsd('spent_nano_usd'),
    leasedNanoUsd: nanoUsd('leased_nano_usd'),
    // The events that the period has emitted, a bit for each (domain/budgets/budget-event.ts).
    marks: integer(),
  },
  indexes: [{ name: 'budget_buckets_by_end', properties: ['periodEndsAtMs'] }],
});

/** What a process may still admit from a bucket of a budget. WITHOUT ROWID (beyond-mapper.ts). */
export const BudgetLeaseRow = defineEntity({
  name: 'BudgetLease',
  tableName: 'budget_leases',
  properties: {
    organizationNumber: integer().primary(),
    budgetId: id().primary(),
    periodStartedAtMs: instant('period_started_at').primary(),
    subject: id().primary(),
    processId: id().primary(),
    // Tells the leases of a process in one bucket apart.
    fence: integer().primary().autoincrement(false),
    nanoUsd: nanoUsd('nano_usd'),
    renewedAtMs: instant('renewed_at'),
  },
  indexes: [{ name: 'budget_leases_by_process', properties: ['processId'] }],
});

/** How full the bucket of a rate limit was at an instant. A limit that was never used has no row, and is full. WITHOUT ROWID. */
export const RateBucketRow = table('RateBucket', 'rate_buckets', {
  organizationNumber: integer().primary(),
  virtualKeyId: id().primary(),
  dimension: enumText<RateDimension>().primary(),
  // Requests or tokens, times the milliseconds of the window: so filling by the millisecond needs no fractions.
  level: bigInteger(),
  filledAtMs: instant('filled_at'),
});
