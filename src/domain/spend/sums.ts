/** Sums of whole numbers that stay exact however large they grow: a double as long as it holds them, then more. */

import { SPENT, type Spent } from './spend-store.ts';

export type Sums = {
  readonly group: string | null;
  /** What a double still holds, by the place in SPENT. */
  readonly low: Float64Array;
  /** What was moved out of there before it would have been rounded. */
  high: bigint[] | null;
};

export const AT = Object.fromEntries(SPENT.map((name, index) => [name, index])) as {
  readonly [Each in (typeof SPENT)[number]]: number;
};

export function newSums(group: string | null): Sums {
  return { group, low: new Float64Array(SPENT.length), high: null };
}

/** `value` is a safe integer. */
export function addValue(sums: Sums, at: number, value: number): void {
  const { low } = sums;
  const before = low[at] ?? 0;
  const after = before + value;
  if (after <= Number.MAX_SAFE_INTEGER) {
    low[at] = after;
    return;
  }
  sums.high ??= SPENT.map(() => 0n);
  sums.high[at] = (sums.high[at] ?? 0n) + BigInt(before);
  low[at] = value;
}

/** A number where that is exact: groups are compared by it, and nearly all of them are left out. */
export function amountOf({ low, high }: Sums, at: number): number | bigint {
  const before = high?.[at] ?? 0n;
  return before === 0n ? (low[at] ?? 0) : before + BigInt(low[at] ?? 0);
}

export function readSums(sums: Sums): Spent {
  return Object.fromEntries(SPENT.map((name, at) => [name, BigInt(amountOf(sums, at))])) as unknown as Spent;
}
