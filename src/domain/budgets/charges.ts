/**
 * What a request counts, and in which buckets. It is stored with the request: so every later change of the request moves
 * exactly what it counted, whatever has become of the budgets since.
 */

import type { BucketKey } from './budget.ts';

export type Charges = {
  /** The cost; until there is an outcome, the estimate of the admission. */
  readonly nanoUsd: number;
  /** In the order of their ids. */
  readonly buckets: readonly BucketKey[];
};

type Packed = { readonly nanoUsd: number; readonly buckets: readonly (readonly [string, number, string])[] };

/** Null: counts nowhere. */
export function packCharges(charges: Charges | null): string | null {
  if (charges === null || charges.buckets.length === 0) return null;
  const { nanoUsd, buckets } = charges;
  const packed: Packed = {
    nanoUsd,
    buckets: buckets.map(({ budgetId, periodStartedAtMs, subject }) => [budgetId, periodStartedAtMs, subject]),
  };
  return JSON.stringify(packed);
}

export function unpackCharges(text: string | null): Charges | null {
  if (text === null) return null;
  const { nanoUsd, buckets } = JSON.parse(text) as Packed;
  return {
    nanoUsd,
    buckets: buckets.map(([budgetId, periodStartedAtMs, subject]) => ({ budgetId, periodStartedAtMs, subject })),
  };
}

/** A name for each bucket; names are in the order of ids. */
export function bucketName({ budgetId, periodStartedAtMs, subject }: BucketKey): string {
  return `${budgetId} ${periodStartedAtMs} ${subject}`;
}
