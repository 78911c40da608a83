/** What processes of the gateway have taken of budgets and of rate limits, to admit requests without asking the database. */

import { defineEntity } from '@mikro-orm/core';
import type { RateDimension } from '../../domain/gateway/refusal.ts';
import { bigInteger, enumText, id, instant, integer, nanoUsd, table } from './kinds.ts';

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
