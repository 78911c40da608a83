/** The port through which an append reads budgets and changes what is spent of them, in one transaction of the store. */

import type { ActiveBudgets } from './active-budgets.ts';
import type { Bucket, BucketKey } from './budget.ts';

export type BudgetTables = {
  /** The budgets of the organization as of the transaction. */
  active(): ActiveBudgets;
  /** The team of a project; null when the project was removed. */
  teamOf(projectNumber: number): string | null;
  /** Locked until the transaction ends. Undefined, or without amounts: nothing was counted in it yet. */
  findBucket(key: BucketKey): Bucket | undefined;
  /** Adds to a bucket that was looked for, and makes it if there was none. */
  changeBucket(key: BucketKey, change: BucketChange): void;
};

export type BucketChange = {
  /** Of a new bucket. */
  readonly periodEndsAtMs: number | null;
  readonly spentNanoUsd: bigint;
  readonly leasedNanoUsd: bigint;
  /** Bits that are set. */
  readonly marks: number;
};
