/**
 * The port of budget leases. A lease is an amount of a bucket that one process may admit requests from without asking the
 * database. A bucket has leased what its leases hold and what admitted requests without an outcome have reserved.
 */

import type { BucketKey } from '../budgets/budget.ts';

export type BudgetLeaseStore = {
  /**
   * Adds to a lease in one conditional update of the bucket, and begins the lease if it does not exist. It MUST never make
   * spent and leased together larger than the limit, and MUST grant all that was wanted, or all that is free if that is
   * `atLeastNanoUsd` or more; else nothing. A grant renews the lease. Null: the budget is archived, or was
   * never made.
   */
  grant(ask: LeaseAsk): Promise<LeaseGrant | null>;
  /** Renews all leases of a process by the clock of the database, and MUST return exactly those that it still has. */
  renew(processId: string): Promise<readonly RenewedLease[]>;
  /** Ends leases. What they hold MUST be free afterwards; one that ended before MUST change nothing. */
  giveBack(leases: readonly LeaseKey[]): Promise<void>;
  /**
   * Ends leases of any process that were not renewed for `unrenewedMs`, and returns their number. What they hold MUST be free
   * afterwards, and what admitted requests have reserved MUST stay leased.
   */
  takeBack(unrenewedMs: number): Promise<number>;
};

export type LeaseKey = BucketKey & {
  readonly organizationNumber: number;
  /** Another one after every start. */
  readonly processId: string;
  /** Tells the leases of a process in one bucket apart. */
  readonly fence: number;
};

export type LeaseAsk = LeaseKey & {
  readonly organizationId: string;
  readonly periodEndsAtMs: number | null;
  readonly wantedNanoUsd: number;
  readonly atLeastNanoUsd: number;
  /**
   * Grant only while the bucket has leased exactly this; null: whatever it has leased. So a request that may cost more than
   * is left gets all of it, and only where nothing else is in flight.
   */
  readonly onlyIfLeasedNanoUsd: number | null;
};

export type LeaseGrant = {
  /** 0: refused. */
  readonly grantedNanoUsd: number;
  /** What the lease holds afterwards. */
  readonly heldNanoUsd: number;
  /** The limit less what is spent; below zero where more was spent. */
  readonly leftNanoUsd: number;
  /** Of the whole bucket, afterwards. */
  readonly leasedNanoUsd: number;
};

export type RenewedLease = LeaseKey & {
  /** The bucket has spent and leased more than its limit. */
  readonly isOverdrawn: boolean;
};

/** Leases are renewed after this time. */
export const RENEWAL_MS = 5000;
/** A process admits from a lease for this long after the last renewal. */
export const TRUSTED_MS = 15_000;
/** A lease that was not renewed for this long is taken back. */
export const TAKEN_BACK_MS = 30_000;
/** A lease that was not used for this long is given back. */
export const UNUSED_MS = 5000;
