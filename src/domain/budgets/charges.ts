/**
 * What a request counts, and in which buckets. It is stored with the request: so every later change of the request moves
 * exactly what it counted, whatever has become of the budgets since.
 */

import type { BucketKey } from './budget.ts';

export type Charges = {
  /** The cost; until there is an outcome, the largest estimate of the admission. */
  readonly nanoUsd: number;
  /** In the order of their ids. */
  readonly buckets: readonly BucketKey[];
  /** The estimate of each bucket, while there is no outcome; null: the cost in each. */
  readonly estimates: readonly number[] | null;
};

type Packed = {
  readonly nanoUsd: number;
  readonly buckets: readonly (readonly [string, number, string])[];
  readonly estimates?: readonly number[];
};

/** Null: counts nowhere. */
export function packCharges(charges: Charges | null): string | null {
  if (charges === null || charges.buckets.length === 0) return null;
  const { nanoUsd, buckets, estimates } = charges;
  const packed: Packed = {
    nanoUsd,
    buckets: buckets.map(({ budgetId, periodStartedAtMs, subject }) => [budgetId, periodStartedAtMs, subject]),
    ...(estimates === null ? {} : { estimates }),
  };
  return JSON.stringify(packed);
}

export function unpackCharges(text: string | null): Charges | null {
  if (text === null) return null;
  const { nanoUsd, buckets, estimates = null } = JSON.parse(text) as Packed;
  return {
    nanoUsd,
    estimates,
    buckets: buckets.map(([budgetId, periodStartedAtMs, subject]) => ({ budgetId, periodStartedAtMs, subject })),
  };
}

/** What a request counts in each of its buckets. */
export function amountsOf({ nanoUsd, buckets, estimates }: Charges): readonly (readonly [BucketKey, number])[] {
  return buckets.map((bucket, index) => [bucket, estimates?.[index] ?? nanoUsd]);
}

/** A name for each bucket; names are in the order of ids. */
export function bucketName({ budgetId, periodStartedAtMs, subject }: BucketKey): string {
  return `${budgetId} ${periodStartedAtMs} ${subject}`;
}
