/** Leases of budgets and slices of rate limits, for the processes of the gateway. */

import type { BudgetLeaseStore, LeaseAsk, LeaseGrant, LeaseKey } from '../../domain/gateway/lease-store.ts';
import type { RateSlice, RateSliceAsk, RateSliceStore } from '../../domain/gateway/rate-limits.ts';
import type { Transact, Transaction } from '../transaction.ts';

export type LeaseWork = ReturnType<typeof createLeaseWork>;

type At<Of> = Of & { readonly nowMs: number };

const TAKEN_BACK_AT_ONCE = 500;

/**
 * The verbs that write. Every transaction locks leases before buckets, and each in the order of their keys, as appends do:
 * so two may wait for each other, but never deadlock.
 */
export function createLeaseWork(transact: Transact) {
  return {
    grantLease: (ask: At<LeaseAsk>) => transact((tx) => grant(tx, ask)),
    renewLeases: ({ processId, nowMs }: At<Pick<LeaseKey, 'processId'>>) =>
      transact(async ({ change, runQuery, queries: { budgets } }) => {
        await change(budgets.renewLeases, { processId, renewedAtMs: nowMs });
        const renewed = await runQuery(budgets.listLeases, { processId });
        return renewed.map(({ excess, ...key }) => ({ ...key, isOverdrawn: BigInt(excess) > 0n }));
      }),
    endLeases: (keys: readonly LeaseKey[]) =>
      transact(async (tx) => void (await end(tx, keys, Number.MAX_SAFE_INTEGER))),
    takeBackLeases: (renewedByMs: number) =>
      transact(async (tx) => {
        const { runQuery, queries } = tx;
        const old = await runQuery(queries.budgets.listOldLeases, { renewedByMs, limit: TAKEN_BACK_AT_ONCE });
        return await end(tx, old, renewedByMs);
      }),
    takeSlice: (ask: At<RateSliceAsk>) => transact((tx) => takeSlice(tx, ask)),
  };
}

async function grant(tx: Transaction, ask: At<LeaseAsk>): Promise<LeaseGrant | null> {
  const { change, runQuery, queries } = tx;
  const { budgets } = queries;
  const { organizationId, budgetId, periodEndsAtMs, nowMs } = ask;
  const [limited] = await runQuery(budgets.findLimit, { organizationId, budgetId });
  if (limited === undefined) return null;
  const { limitNanoUsd } = limited;
  const key = keyOf(ask);
  const { processId: _, fence: __, ...bucket } = key;
  // Sent together: each waits for the one before it in the database.
  const [, , [locked]] = await Promise.all([
    change(budgets.touchLease, { ...key, nanoUsd: 0, renewedAtMs: nowMs }),
    change(budgets.insertBucket, { ...bucket, periodEndsAtMs, spentNanoUsd: 0, leasedNanoUsd: 0, marks: 0 }),
    runQuery(budgets.lockBucket, bucket),
  ]);
  if (locked === undefined) throw new Error('a bucket that was just made is gone');
  const { granted, left, leased } = judge(ask, { limitNanoUsd, ...locked });
  const [changed, , [lease]] = await Promise.all([
    granted === 0 ? 1 : change(budgets.leaseOfBucket, { ...bucket, nanoUsd: granted, limitNanoUsd }),
    granted === 0 ? 1 : change(budgets.addToLease, { ...key, nanoUsd: granted }),
    runQuery(budgets.findLeaseAmount, key),
  ]);
  if (changed === 0) throw new Error('a lease was judged by amounts that a lock did not hold');
  const held = lease?.nanoUsd ?? 0;
  if (held === 0) await change(budgets.removeLease, key);
  return { grantedNanoUsd: granted, heldNanoUsd: held, leftNanoUsd: toSafe(left), leasedNanoUsd: toSafe(leased) };
}

type StoredBucket = { readonly limitNanoUsd: number; readonly spent: string; readonly leased: string };

function judge({ wantedNanoUsd, atLeastNanoUsd, onlyIfLeasedNanoUsd }: LeaseAsk, bucket: StoredBucket) {
  const before = BigInt(bucket.leased);
  const left = BigInt(bucket.limitNanoUsd) - BigInt(bucket.spent);
  const free = left - before;
  const isAsExpected = onlyIfLeasedNanoUsd === null || before === BigInt(onlyIfLeasedNanoUsd);
  const isEnough = isAsExpected && free >= BigInt(atLeastNanoUsd);
  const granted = isEnough ? Math.min(wantedNanoUsd, Number(free)) : 0;
  return { granted, left, leased: before + BigInt(granted) };
}

/** Amounts that no budget reaches are cut. */
function toSafe(amount: bigint): number {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  return Number(amount > most ? most : amount < -most ? -most : amount);
}

/** Ends those not renewed since an instant, and returns their number. */
async function end(tx: Transaction, keys: readonly LeaseKey[], renewedByMs: number): Promise<number> {
  const { change, runQuery, changeRows, queries } = tx;
  const { budgets } = queries;
  const freed = new Map<string, ReturnType<typeof bucketOf> & { freedNanoUsd: number }>();
  let count = 0;
  for (const key of keys.map(keyOf).toSorted(compareKeys)) {
    const [lease] = await runQuery(budgets.lockLease, { ...key, renewedByMs });
    if (lease === undefined) continue;
    count += 1;
    await change(budgets.removeLease, key);
    const bucket = bucketOf(key);
    const name = JSON.stringify(bucket);
    freed.set(name, { ...bucket, freedNanoUsd: (freed.get(name)?.freedNanoUsd ?? 0) + lease.nanoUsd });
  }
  changeRows(budgets.freeOfBucket, [...freed.values()]);
  return count;
}

function keyOf({ organizationNumber, budgetId, periodStartedAtMs, subject, processId, fence }: LeaseKey): LeaseKey {
  return { organizationNumber, budgetId, periodStartedAtMs, subject, processId, fence };
}

function bucketOf({ processId: _, fence: __, ...bucket }: LeaseKey) {
  return bucket;
}

function compareKeys(one: LeaseKey, other: LeaseKey): number {
  return (
    one.organizationNumber - other.organizationNumber ||
    compareTexts(one.budgetId, other.budgetId) ||
    one.periodStartedAtMs - other.periodStartedAtMs ||
    compareTexts(one.subject, other.subject) ||
    compareTexts(one.processId, other.processId) ||
    one.fence - other.fence
  );
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

async function takeSlice(tx: Transaction, ask: At<RateSliceAsk>): Promise<RateSlice> {
  const { change, runQuery, queries } = tx;
  const { organizationNumber, virtualKeyId, dimension, limit, windowMs, wanted, atLeast, nowMs } = ask;
  const key = { organizationNumber, virtualKeyId, dimension };
  const full = limit * windowMs;
  await change(queries.budgets.insertRateBucket, { ...key, level: full, filledAtMs: nowMs });
  const [stored] = await runQuery(queries.budgets.lockRateBucket, key);
  if (stored === undefined) throw new Error('a bucket that was just made is gone');
  // A clock that was set back fills nothing.
  const filled = stored.level + Math.max(0, nowMs - stored.filledAtMs) * limit;
  const level = Math.min(full, filled);
  const there = Math.floor(level / windowMs);
  const granted = there >= atLeast ? Math.min(there, wanted) : 0;
  await change(queries.budgets.updateRateBucket, { ...key, level: level - granted * windowMs, filledAtMs: nowMs });
  return { granted, available: level / windowMs - granted };
}

/** `nowMs`: the clock of the database. */
export function createLeaseStore(work: LeaseWork, nowMs: () => Promise<number>): BudgetLeaseStore & RateSliceStore {
  return {
    grant: async (ask) => await work.grantLease({ ...ask, nowMs: await nowMs() }),
    renew: async (processId) => await work.renewLeases({ processId, nowMs: await nowMs() }),
    giveBack: work.endLeases,
    takeBack: async (unrenewedMs) => await work.takeBackLeases((await nowMs()) - unrenewedMs),
    takeSlice: async (ask) => await work.takeSlice({ ...ask, nowMs: await nowMs() }),
  };
}
