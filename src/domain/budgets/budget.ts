/** Budgets: limits on what a scope may spend in a period. */

import type { Cycle } from './period.ts';

export const RESERVES = ['worst', 'expected'] as const;
/** How the cost of a request is estimated before it is known. */
export type Reserve = (typeof RESERVES)[number];

export const ON_BREACH = ['block', 'warn'] as const;

/** What a budget limits. */
export type BudgetScope =
  | {
      readonly kind: 'organization' | 'team' | 'project' | 'virtual_key' | 'principal';
      readonly id: string;
    }
  /** A budget for each end user of a virtual key or project. */
  | { readonly kind: 'attributed_user'; readonly id: string; readonly of: 'virtual_key' | 'project' };

export const SCOPE_KINDS = [
  'organization',
  'team',
  'project',
  'virtual_key',
  'principal',
  'attributed_user',
] as const satisfies readonly BudgetScope['kind'][];

export type Budget = Cycle & {
  readonly organizationId: string;
  readonly id: string;
  readonly name: string;
  readonly scope: BudgetScope;
  /** More than 0. */
  readonly limitNanoUsd: number;
  /** Whether requests are refused once the limit is reached. */
  readonly onBreach: (typeof ON_BREACH)[number];
  /** Only requests to this model provider count; null: all do. */
  readonly providerId: string | null;
  readonly reserve: Reserve;
  /** Of the last reset; null: none was given. */
  readonly resetReason: string | null;
  readonly archivedAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** Identifies what is counted together: a budget in one period, of one end user where there is a budget for each. */
export type BucketKey = {
  readonly budgetId: string;
  /** The end user; '' for the budgets of all other scopes. */
  readonly subject: string;
  readonly periodStartedAtMs: number;
};

/** Amounts may exceed what a double holds exactly. */
export type Bucket = BucketKey & {
  readonly periodEndsAtMs: number | null;
  readonly spentNanoUsd: bigint;
  /** What processes may still admit, and the estimates of admitted requests. */
  readonly leasedNanoUsd: bigint;
  /** The events that the period has emitted, a bit for each; see budget-event.ts. */
  readonly marks: number;
};
