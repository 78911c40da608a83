/** A model of the stored buckets and leases: what every store must do, in memory. */

import type { Budget } from '../../../src/domain/budgets/budget.ts';
import { bucketName } from '../../../src/domain/budgets/charges.ts';
import { unavailableFault } from '../../../src/domain/fault.ts';
import type { BudgetBucket } from '../../../src/domain/gateway/budget-demands.ts';
import type { Reservation } from '../../../src/domain/gateway/lease-holder.ts';
import type { BudgetLeaseStore, LeaseKey } from '../../../src/domain/gateway/lease-store.ts';

type Bucket = { limit: number; spent: number; leased: number };
type StoredLease = LeaseKey & { amount: number; renewedAtMs: number };

export type LeaseModel = ReturnType<typeof createLeaseModel>;

/** `nowMs` is the clock of the database. */
export function createLeaseModel(nowMs: () => number) {
  const buckets = new Map<string, Bucket>();
  const leases = new Map<string, StoredLease>();
  let calls = 0;
  let isAway = false;

  async function reach(): Promise<void> {
    calls += 1;
    await Promise.resolve();
    if (isAway) throw unavailableFault('The store is away.', 1);
  }

  const store: BudgetLeaseStore = {
    async grant({ wantedNanoUsd, atLeastNanoUsd, onlyIfLeasedNanoUsd, organizationId: _, periodEndsAtMs: __, ...key }) {
      await reach();
      const bucket = buckets.get(key.budgetId);
      if (bucket === undefined) return null;
      const free = bucket.limit - bucket.spent - bucket.leased;
      const isLike = onlyIfLeasedNanoUsd === null || bucket.leased === onlyIfLeasedNanoUsd;
      const granted = isLike && free >= atLeastNanoUsd ? Math.min(free, wantedNanoUsd) : 0;
      const lease = leases.get(nameOf(key)) ?? { ...key, amount: 0, renewedAtMs: 0 };
      if (granted > 0) {
        bucket.leased += granted;
        lease.amount += granted;
        lease.renewedAtMs = nowMs();
        leases.set(nameOf(key), lease);
      }
      return {
        grantedNanoUsd: granted,
        heldNanoUsd: lease.amount,
        leftNanoUsd: bucket.limit - bucket.spent,
        leasedNanoUsd: bucket.leased,
      };
    },
    async renew(processId) {
      await reach();
      const own = [...leases.values()].filter((lease) => lease.processId === processId);
      return own.map((lease) => {
        lease.renewedAtMs = nowMs();
        const { limit = 0, spent = 0, leased = 0 } = buckets.get(lease.budgetId) ?? {};
        return { ...lease, isOverdrawn: spent + leased > limit };
      });
    },
    async giveBack(keys) {
      await reach();
      for (const key of keys) end(leases.get(nameOf(key)));
    },
    async takeBack(unrenewedMs) {
      await reach();
      const old = [...leases.values()].filter(({ renewedAtMs }) => renewedAtMs <= nowMs() - unrenewedMs);
      for (const lease of old) end(lease);
      return old.length;
    },
  };

  function end(lease: StoredLease | undefined): void {
    if (lease === undefined) return;
    leases.delete(nameOf(lease));
    bucketOf(lease.budgetId).leased -= lease.amount;
  }

  function bucketOf(budgetId: string): Bucket {
    const bucket = buckets.get(budgetId);
    if (bucket === undefined) throw new Error('no such bucket');
    return bucket;
  }

  return {
    store,
    bucketOf,
    calls: () => calls,
    setAway: (away: boolean) => {
      isAway = away;
    },
    addBucket(budgetId: string, limit: number): void {
      buckets.set(budgetId, { limit, spent: 0, leased: 0 });
    },
    /** Commits an admission, or nothing of it. */
    admit({ processId, amounts }: Reservation): boolean {
      const taken = amounts.map(({ fence, nanoUsd, ...bucket }) => ({
        nanoUsd,
        lease: leases.get(nameOf({ ...bucket, organizationNumber: 1, processId, fence: fence ?? 0 })),
      }));
      if (taken.some(({ lease, nanoUsd }) => lease === undefined || lease.amount < nanoUsd)) return false;
      for (const { lease, nanoUsd } of taken) if (lease !== undefined) lease.amount -= nanoUsd;
      return true;
    },
    /** Commits an outcome: what the request had reserved is replaced by its cost. */
    complete({ amounts }: Reservation, cost: number): void {
      for (const { budgetId, nanoUsd } of amounts) {
        const bucket = bucketOf(budgetId);
        bucket.leased -= nanoUsd;
        bucket.spent += cost;
      }
    },
    leasedIn: (budgetId: string) =>
      [...leases.values()].reduce((sum, lease) => sum + (lease.budgetId === budgetId ? lease.amount : 0), 0),
    countLeases: () => leases.size,
  };
}

function nameOf({ organizationNumber, processId, fence, ...key }: LeaseKey): string {
  return `${organizationNumber} ${bucketName(key)} ${processId} ${fence}`;
}

export function bucketOf(budgetId: string, of: Partial<Budget> = {}): BudgetBucket {
  const budget: Budget = {
    organizationId: 'organization_1',
    id: budgetId,
    name: budgetId,
    scope: { kind: 'virtual_key', id: 'vk_1' },
    window: 'day',
    cycleAnchorAtMs: 0,
    resetAtMs: null,
    resetReason: null,
    limitNanoUsd: 1000,
    onBreach: 'block',
    providerId: null,
    reserve: 'expected',
    archivedAtMs: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    ...of,
  };
  return { organizationNumber: 1, budget, budgetId, subject: '', periodStartedAtMs: 0, periodEndsAtMs: null };
}
