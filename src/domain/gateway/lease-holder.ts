/**
 * Holds the budget leases of this process in memory, so that a request is admitted without asking the database. Memory only
 * decides fast: the commit of an admission takes its amount from the stored lease, unless that has less or the budget is spent.
 */

import type { BucketKey } from '../budgets/budget.ts';
import { bucketName } from '../budgets/charges.ts';
import { Fault } from '../fault.ts';
import type { ReservedAmount } from './admission.ts';
import type { BudgetBucket, BudgetDemand } from './budget-demands.ts';
import {
  type BudgetLeaseStore,
  type LeaseAsk,
  type LeaseGrant,
  type LeaseKey,
  type RenewedLease,
  TRUSTED_MS,
  UNUSED_MS,
} from './lease-store.ts';
import { budgetExceeded, budgetReserved, type GatewayRefusal, UNAVAILABLE } from './refusal.ts';

export type LeaseHolderDeps = {
  readonly store: BudgetLeaseStore;
  readonly processId: string;
  /** A clock that is never set. */
  readonly nowMs: () => number;
};

/** What a request has reserved in every bucket that it counts in. */
export type Reservation = { readonly processId: string; readonly amounts: readonly ReservedAmount[] };

/**
 * How the admission of a reservation ended. `cancelled`: it was not committed. `lost`: a stored lease had less or was another
 * one's, or its budget is spent. `unknown`: the store did not say.
 */
export type ReservationEnd = 'admitted' | 'cancelled' | 'lost' | 'unknown';

export type LeaseHolder = ReturnType<typeof createLeaseHolder>;

type Lease = {
  readonly key: LeaseKey;
  freeNanoUsd: number;
  /** Reserved by requests whose admission is not committed. */
  pendingNanoUsd: number;
  /** When the newest grant or renewal was sent, and the limit of the budget then. */
  renewedAtMs: number;
  limitNanoUsd: number;
  usedAtMs: number;
};

type Held = { readonly lease: Lease; readonly nanoUsd: number };

// Of the limit.
const SLICE_SHARE = 0.05;
// Another round follows only when others took what was granted.
const ROUNDS_MAX = 20;

export function createLeaseHolder({ store, processId, nowMs }: LeaseHolderDeps) {
  const leases = new Map<string, Lease>();
  /** Leases that nothing is reserved from any more; each goes back once no admission is pending. */
  const ending = new Set<Lease>();
  const asked = new Map<string, Promise<LeaseGrant | null>>();
  const waitingNanoUsd = new Map<string, number>();
  const reserved = new WeakMap<Reservation, readonly Held[]>();
  let renewing: Promise<void> | null = null;
  let lastFence = 0;
  let isClosed = false;

  /** A limit that was lowered since may leave nothing to admit from, which the next renewal tells. */
  function isTrusted({ renewedAtMs, limitNanoUsd }: Lease, { bucket }: Need): boolean {
    return nowMs() - renewedAtMs <= TRUSTED_MS && bucket.budget.limitNanoUsd >= limitNanoUsd;
  }

  function retire(name: string, lease: Lease): void {
    if (leases.get(name) === lease) leases.delete(name);
    ending.add(lease);
  }

  /** Returns the first need that memory cannot serve. */
  function take(needs: readonly Need[]): Reservation | Need {
    const held: Held[] = [];
    for (const need of needs) {
      if (!need.isLimited) continue;
      const lease = leases.get(need.name);
      if (lease === undefined || !isTrusted(lease, need) || lease.freeNanoUsd < need.nanoUsd) return need;
      held.push({ lease, nanoUsd: need.nanoUsd });
    }
    for (const { lease, nanoUsd } of held) {
      lease.freeNanoUsd -= nanoUsd;
      lease.pendingNanoUsd += nanoUsd;
      lease.usedAtMs = nowMs();
    }
    const amounts = needs.map(({ name, bucket, nanoUsd, isLimited }) => {
      const { budgetId, subject, periodStartedAtMs } = bucket;
      const fence = isLimited ? (leases.get(name)?.key.fence ?? null) : null;
      return { budgetId, subject, periodStartedAtMs, nanoUsd, fence };
    });
    const reservation = { processId, amounts };
    reserved.set(reservation, held);
    return reservation;
  }

  /** Gets more for a need, or says why the request is refused. */
  async function fetchMore(need: Need): Promise<GatewayRefusal | null> {
    const { name } = need;
    const lease = leases.get(name);
    if (lease !== undefined && !isTrusted(lease, need)) {
      // One that is under way may have read the limit before.
      await renewing;
      await renew();
      lease.limitNanoUsd = need.bucket.budget.limitNanoUsd;
      return null;
    }
    // What this process has given up counts as leased until it is back.
    if (ending.size > 0) await giveBackEnded();
    if (!need.isWaiting) changeWaiting(name, need.demandedNanoUsd);
    need.isWaiting = true;
    const grant = await (asked.get(name) ?? askFor(need));
    if (grant !== null) return await judge(need, grant);
    // The budget was archived meanwhile.
    need.isLimited = false;
    return null;
  }

  /** Asks for what all requests that wait for the bucket need. */
  function askFor({ name, bucket, nanoUsd }: Need): Promise<LeaseGrant | null> {
    const free = leases.get(name)?.freeNanoUsd ?? 0;
    const waiting = waitingNanoUsd.get(name) ?? nanoUsd;
    return ask(name, {
      atLeastNanoUsd: Math.max(1, nanoUsd - free),
      wantedNanoUsd: Math.max(1, waiting - free, Math.ceil(bucket.budget.limitNanoUsd * SLICE_SHARE)),
      onlyIfLeasedNanoUsd: null,
      bucket,
    });
  }

  function changeWaiting(name: string, by: number): void {
    const waiting = (waitingNanoUsd.get(name) ?? 0) + by;
    if (waiting > 0) waitingNanoUsd.set(name, waiting);
    else waitingNanoUsd.delete(name);
  }

  async function judge(need: Need, grant: LeaseGrant): Promise<GatewayRefusal | null> {
    const { name, bucket, nanoUsd } = need;
    const { grantedNanoUsd, leftNanoUsd, leasedNanoUsd } = grant;
    const free = leases.get(name)?.freeNanoUsd ?? 0;
    if (grantedNanoUsd > 0 || leftNanoUsd - leasedNanoUsd >= nanoUsd - free) return null;
    if (leftNanoUsd <= 0) return budgetExceeded(bucket.budget, 'spent');
    if (nanoUsd <= leftNanoUsd) return budgetReserved(bucket.budget);
    if (bucket.budget.reserve === 'worst') return budgetExceeded(bucket.budget, 'estimate_exceeds_budget');
    if (leasedNanoUsd !== free) return budgetReserved(bucket.budget);
    return await takeAll(need, { freeNanoUsd: free, leftNanoUsd });
  }

  /** Gets all that is left of a budget for one request. */
  async function takeAll(
    need: Need,
    { freeNanoUsd, leftNanoUsd }: { readonly freeNanoUsd: number; readonly leftNanoUsd: number },
  ): Promise<GatewayRefusal | null> {
    const { name, bucket } = need;
    const rest = leftNanoUsd - freeNanoUsd;
    if (rest > 0) {
      if (asked.has(name)) return null;
      const amounts = { atLeastNanoUsd: rest, wantedNanoUsd: rest, onlyIfLeasedNanoUsd: freeNanoUsd };
      const grant = await ask(name, { ...amounts, bucket });
      if (grant?.grantedNanoUsd === 0) return budgetReserved(bucket.budget);
    }
    need.nanoUsd = leftNanoUsd;
    return null;
  }

  type Asking = Pick<LeaseAsk, 'atLeastNanoUsd' | 'wantedNanoUsd' | 'onlyIfLeasedNanoUsd'> & {
    readonly bucket: BudgetBucket;
  };

  /** One at a time for each bucket. */
  function ask(name: string, asking: Asking): Promise<LeaseGrant | null> {
    const asks = askStore(name, leases.get(name), asking).finally(() => asked.delete(name));
    asked.set(name, asks);
    return asks;
  }

  async function askStore(name: string, known: Lease | undefined, asking: Asking): Promise<LeaseGrant | null> {
    const { bucket, ...amounts } = asking;
    const { organizationNumber, budgetId, subject, periodStartedAtMs, periodEndsAtMs, budget } = bucket;
    if (known === undefined) lastFence += 1;
    const key = known?.key ?? { organizationNumber, budgetId, subject, periodStartedAtMs, processId, fence: lastFence };
    const sentAtMs = nowMs();
    const grant = await store.grant({ ...key, ...amounts, organizationId: budget.organizationId, periodEndsAtMs });
    if (grant === null || grant.grantedNanoUsd === 0) return grant;
    const lease = known ?? { key, freeNanoUsd: 0, pendingNanoUsd: 0, renewedAtMs: 0, usedAtMs: 0, limitNanoUsd: 0 };
    // After a pause of this process the stored lease may be another one, which holds only what was granted now.
    lease.freeNanoUsd = Math.min(lease.freeNanoUsd + grant.grantedNanoUsd, grant.heldNanoUsd);
    lease.renewedAtMs = sentAtMs;
    lease.usedAtMs = nowMs();
    lease.limitNanoUsd = bucket.budget.limitNanoUsd;
    if (ending.has(lease) || isClosed) retire(name, lease);
    else leases.set(name, lease);
    return grant;
  }

  /** Drops leases that the process no longer has. Concurrent calls share one renewal. */
  function renew(): Promise<void> {
    renewing ??= renewAll().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  async function renewAll(): Promise<void> {
    const sentAtMs = nowMs();
    const known = [...leases];
    const renewed = new Map((await store.renew(processId)).map((each) => [`${nameOf(each)} ${each.fence}`, each]));
    for (const [name, lease] of known) {
      const found: RenewedLease | undefined = renewed.get(`${name} ${lease.key.fence}`);
      // A grant that was sent later tells more.
      if (lease.renewedAtMs > sentAtMs) continue;
      if (found === undefined || found.isOverdrawn) retire(name, lease);
      else lease.renewedAtMs = sentAtMs;
    }
  }

  async function giveBackEnded(): Promise<void> {
    // A grant that is under way would begin the lease anew.
    const ended = [...ending].filter(({ pendingNanoUsd, key }) => pendingNanoUsd === 0 && !asked.has(nameOf(key)));
    if (ended.length === 0) return;
    await store.giveBack(ended.map(({ key }) => key));
    for (const lease of ended) ending.delete(lease);
  }

  return {
    /** Reserves all demands or none. The hot path asks no database. */
    async reserve(demands: readonly BudgetDemand[]): Promise<Reservation | GatewayRefusal> {
      const needs = demands.map(toNeed);
      try {
        for (let round = 1; !isClosed; round += 1) {
          const taken = take(needs);
          if (!('name' in taken)) return taken;
          if (round > ROUNDS_MAX) return budgetReserved(taken.bucket.budget);
          const refusal = await fetchMore(taken);
          if (refusal !== null) return refusal;
        }
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== 'unavailable') throw error;
      } finally {
        for (const { name, demandedNanoUsd, isWaiting } of needs) if (isWaiting) changeWaiting(name, -demandedNanoUsd);
      }
      return UNAVAILABLE;
    },
    /** Says how the admission of a reservation ended, once. */
    conclude(reservation: Reservation, end: ReservationEnd): void {
      for (const { lease, nanoUsd } of reserved.get(reservation) ?? []) {
        lease.pendingNanoUsd -= nanoUsd;
        if (end === 'cancelled') lease.freeNanoUsd += nanoUsd;
        // What the stored lease has is not known any more: it goes back whole.
        else if (end !== 'admitted') retire(nameOf(lease.key), lease);
      }
      reserved.delete(reservation);
    },
    /**
     * For every five seconds: renews all leases, and gives back those without use, such as those of ended periods. Throws
     * when the store is away.
     */
    async tick(): Promise<void> {
      const unusedSinceMs = nowMs() - UNUSED_MS;
      for (const [name, lease] of leases) {
        if (lease.usedAtMs <= unusedSinceMs && lease.pendingNanoUsd === 0) retire(name, lease);
      }
      if (leases.size > 0) await renew();
      await giveBackEnded();
    },
    /** Gives back everything that no pending admission needs, and reserves nothing afterwards. */
    async close(): Promise<void> {
      isClosed = true;
      await Promise.allSettled(asked.values());
      for (const [name, lease] of leases) retire(name, lease);
      await giveBackEnded();
    },
  };
}

type Need = {
  readonly name: string;
  readonly bucket: BudgetBucket;
  readonly demandedNanoUsd: number;
  /** Less than demanded where the request gets all that is left. */
  nanoUsd: number;
  isLimited: boolean;
  /** Whether what is demanded is a part of what waits. */
  isWaiting: boolean;
};

function toNeed({ bucket, nanoUsd, isLimited }: BudgetDemand): Need {
  return { name: nameOf(bucket), bucket, demandedNanoUsd: nanoUsd, nanoUsd, isLimited, isWaiting: false };
}

function nameOf({ organizationNumber, ...key }: Pick<LeaseKey, 'organizationNumber'> & BucketKey): string {
  return `${organizationNumber} ${bucketName(key)}`;
}
