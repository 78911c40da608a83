/** A model of the stored buckets and leases: what every store must do, in memory. */

import { unavailableFault } from '../../../src/domain/fault.ts';
import type { BudgetBucket } from '../../../src/domain/gateway/budget-demands.ts';
import type { Reservation } from '../../../src/domain/gateway/lease-holder.ts';
import type { BudgetLeaseStore, LeaseKey } from '../../../src/domain/gateway/lease-store.ts';

type Bucket = { limit: number; spent: number; leased: number };
type StoredLease = LeaseKey & { amount: number; renewedAtMs: number };

export type LeaseModel = ReturnType<typeof createLeaseModel>;

/** `nowMs` is the clock of the database. */
export function createLeaseModel(nowMs: () => number) {
  const buckets = new Map<number, Bucket>();
  const leases = new Map<string, StoredLease>();
  let calls = 0;
  let isAway = false;

  async function reach(): Promise<void> {
    calls += 1;
    await Promise.resolve();
    if (isAway) throw unavailableFault('The store is away.', 1);
  }

  const store: BudgetLeaseStore = {
    async grant({ wantedNanoUsd, atLeastNanoUsd, onlyIfLeasedNanoUsd, ...key }) {
      await reach();
      const bucket = buckets.get(key.bucketNumber);
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
        periodEndsInMs: null,
      };
    },
    async renew(processId) {
      await reach();
      const own = [...leases.values()].filter((lease) => lease.processId === processId);
      return own.map((lease) => {
        lease.renewedAtMs = nowMs();
        const { limit = 0, spent = 0, leased = 0 } = buckets.get(lease.bucketNumber) ?? {};
        const { organizationNumber, bucketNumber, fence, amount } = lease;
        return { organizationNumber, bucketNumber, fence, heldNanoUsd: amount, isOverdrawn: spent + leased > limit };
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
    bucketOf(lease.bucketNumber).leased -= lease.amount;
  }

  function bucketOf(number: number): Bucket {
    const bucket = buckets.get(number);
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
    addBucket(bucketNumber: number, limit: number): void {
      buckets.set(bucketNumber, { limit, spent: 0, leased: 0 });
    },
    /** Commits an admission, or nothing of it. */
    admit({ amounts }: Reservation): boolean {
      const held = amounts.map((amount) => ({ lease: leases.get(nameOf(amount)), nanoUsd: amount.nanoUsd }));
      if (held.some(({ lease, nanoUsd }) => lease === undefined || lease.amount < nanoUsd)) return false;
      for (const { lease, nanoUsd } of held) if (lease !== undefined) lease.amount -= nanoUsd;
      return true;
    },
    /** Commits an outcome: what the request had reserved is replaced by its cost. */
    complete({ amounts }: Reservation, cost: number): void {
      for (const { bucketNumber, nanoUsd } of amounts) {
        const bucket = bucketOf(bucketNumber);
        bucket.leased -= nanoUsd;
        bucket.spent += cost;
      }
    },
    leasedIn: (bucketNumber: number) =>
      [...leases.values()].reduce((sum, lease) => sum + (lease.bucketNumber === bucketNumber ? lease.amount : 0), 0),
    countLeases: () => leases.size,
  };
}

function nameOf({ organizationNumber, bucketNumber, processId, fence }: LeaseKey): string {
  return `${organizationNumber} ${bucketNumber} ${processId} ${fence}`;
}

export function bucketOf(bucketNumber: number, of: Partial<BudgetBucket> = {}): BudgetBucket {
  return {
    budgetId: `budget_${bucketNumber}`,
    scope: { kind: 'virtual_key', id: 'vk_1' },
    window: 'day',
    organizationNumber: 1,
    bucketNumber,
    limitNanoUsd: 1000,
    onBreach: 'block',
    reserve: 'expected',
    ...of,
  };
}
