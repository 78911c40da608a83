/** Exact sums of whole numbers of any size: a double while it is exact, and a bigint for the overflow. */

import { SPEND_MEASURES, type SpendTotals } from './spend-store.ts';

export type Sums = {
  readonly group: string | null;
  /** By the index in SPEND_MEASURES; every number is a safe integer. */
  readonly low: Float64Array;
  /** What was moved out of `low` before it could be rounded. */
  high: bigint[] | null;
};

export const AT = Object.fromEntries(SPEND_MEASURES.map((name, index) => [name, index])) as {
  readonly [Each in (typeof SPEND_MEASURES)[number]]: number;
};

export function newSums(group: string | null): Sums {
  return { group, low: new Float64Array(SPEND_MEASURES.length), high: null };
}

/** The numbers of one measure, each a safe integer, by the index of the request. */
export type Measured = { readonly at: number; readonly numbers: Float64Array };

/** Adds the numbers at an index. Runs for every request of a range: it calls nothing that it need not. */
export function addMeasured(sums: Sums, measured: readonly Measured[], index: number): void {
  const { low } = sums;
  for (let column = 0; column < measured.length; column += 1) {
    const { at, numbers } = measured[column] ?? NOTHING;
    const value = numbers[index] ?? 0;
    const after = (low[at] ?? 0) + value;
    if (after <= Number.MAX_SAFE_INTEGER) low[at] = after;
    else addValue(sums, at, value);
  }
}

const NOTHING: Measured = { at: 0, numbers: new Float64Array(0) };

/** `value` is a safe integer. */
export function addValue(sums: Sums, at: number, value: number): void {
  const { low } = sums;
  const before = low[at] ?? 0;
  const after = before + value;
  if (after <= Number.MAX_SAFE_INTEGER) {
    low[at] = after;
    return;
  }
  sums.high ??= SPEND_MEASURES.map(() => 0n);
  sums.high[at] = (sums.high[at] ?? 0n) + BigInt(before);
  low[at] = value;
}

/** A number while that is exact: comparing groups must be fast, since nearly all of them are left out. */
export function amountOf({ low, high }: Sums, at: number): number | bigint {
  const before = high?.[at] ?? 0n;
  return before === 0n ? (low[at] ?? 0) : before + BigInt(low[at] ?? 0);
}

export function readSums(sums: Sums): SpendTotals {
  return Object.fromEntries(
    SPEND_MEASURES.map((name, at) => [name, BigInt(amountOf(sums, at))]),
  ) as unknown as SpendTotals;
}
