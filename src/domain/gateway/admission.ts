/** The admission of one request by our own gateway, and how it is applied in the transaction that stores it. */

import type { BucketKey } from '../budgets/budget.ts';
import type { AppendTables } from '../events/append-tables.ts';
import type { RequestContent } from '../events/request-content.ts';
import { recordRequest } from '../events/request-record.ts';
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

/** `lost`: nothing is stored, because a lease is not the process's own any more, or holds too little. */
export type Admitted = 'admitted' | 'lost';

export function applyAdmission(tables: AppendTables, admission: Admission): Admitted {
  const { organizationNumber, processId, amounts, kind: _, ...request } = admission;
  const log = tables.log(organizationNumber);
  const taken = amounts.flatMap(({ fence, nanoUsd, ...bucket }) =>
    fence === null ? [] : [{ key: { ...bucket, organizationNumber, processId, fence } satisfies LeaseKey, nanoUsd }],
  );
  // All of them are looked up before any is judged, so that a store reads them together.
  const leases = taken.map(({ key, nanoUsd }) => ({ key, nanoUsd, held: tables.findLease(key) ?? 0 }));
  if (leases.some(({ held, nanoUsd }) => held < nanoUsd)) return 'lost';
  const result = recordRequest(log, {
    ...request,
    signal: { status: 'admitted' },
    content: () => request.content,
    cost: null,
    price: null,
    reserved: toCharges(amounts),
  });
  // The answer to an earlier attempt was lost, and what it reserved is stored.
  if (result !== 'stored') return 'admitted';
  for (const { key, nanoUsd, held } of leases) tables.changeLease(key, held - nanoUsd);
  for (const { fence, nanoUsd, ...bucket } of amounts) {
    if (fence === null && nanoUsd > 0) log.budgets.changeBucket(bucket, leasedMore(nanoUsd));
  }
  return 'admitted';
}
