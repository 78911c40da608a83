/** The admission of one request by our own gateway, and how it is applied in the transaction that stores it. */

import type { BucketKey } from '../budgets/budget.ts';
import type { Charges } from '../budgets/charges.ts';
import { addReserved } from '../budgets/counting.ts';
import type { AppendTables, OrganizationLog } from '../events/append-tables.ts';
import type { RequestContent } from '../events/request-content.ts';
import { findRequest, recordRequest } from '../events/request-record.ts';
import type { LeaseKey } from './lease-store.ts';

/** What a request may cost in a bucket. */
export type ReservedAmount = BucketKey & {
  readonly nanoUsd: number;
  /** The lease of the process that it is taken from; null: the bucket does not limit the request. */
  readonly fence: number | null;
};

export type Admission = {
  readonly kind: 'admission';
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly projectId: string;
  readonly projectNumber: number;
  readonly receivedAtMs: number;
  readonly gatewayRequestId: string;
  readonly content: RequestContent;
  /** Whose leases they are. */
  readonly processId: string;
  /** In the order of the buckets' names. */
  readonly amounts: readonly ReservedAmount[];
};

/**
 * `lost`: nothing is stored, because a lease is not the process's own any more or holds too little, or because a budget is
 * spent, whatever its lease holds.
 */
export type Admitted = 'admitted' | 'lost';

export function applyAdmission(tables: AppendTables, admission: Admission): Admitted {
  const { organizationNumber, processId, amounts, kind: _, ...request } = admission;
  const log = tables.log(organizationNumber);
  // All leases are read before any is judged, so that a store reads them together.
  const leases = amounts.flatMap(({ fence, nanoUsd, ...bucket }) => {
    if (fence === null) return [];
    const key: LeaseKey = { ...bucket, organizationNumber, processId, fence };
    return { bucket, key, restNanoUsd: (tables.findLease(key) ?? Number.NaN) - nanoUsd };
  });
  // The answer to an earlier attempt was lost: what it reserved is stored.
  if (findRequest(log, request) !== undefined) return 'admitted';
  if (!leases.every(({ restNanoUsd }) => restNanoUsd >= 0)) return 'lost';
  // Requests that cost more than their estimates, reports and lowered limits spend what leases still hold.
  if (leases.some(({ bucket }) => isSpent(log, bucket))) return 'lost';
  recordRequest(log, {
    ...request,
    signal: { status: 'admitted' },
    content: () => request.content,
    cost: null,
    price: null,
    reserved: chargesOf(amounts),
  });
  for (const { key, restNanoUsd } of leases) tables.changeLease(key, restNanoUsd);
  addReserved(
    log,
    amounts.flatMap(({ fence, nanoUsd, ...bucket }) => (fence === null ? [[bucket, nanoUsd] as const] : [])),
  );
  return 'admitted';
}

function isSpent({ budgets }: OrganizationLog, bucket: BucketKey): boolean {
  const spentNanoUsd = budgets.findBucket(bucket)?.spentNanoUsd ?? 0n;
  // One that was archived limits nothing.
  const budget = budgets.active().find(bucket.budgetId);
  return budget !== undefined && spentNanoUsd >= BigInt(budget.limitNanoUsd);
}

function chargesOf(amounts: readonly ReservedAmount[]): Charges {
  const estimates = amounts.map(({ nanoUsd }) => nanoUsd);
  const buckets = amounts.map(({ budgetId, periodStartedAtMs, subject }) => ({ budgetId, periodStartedAtMs, subject }));
  return { nanoUsd: Math.max(0, ...estimates), buckets, estimates };
}
