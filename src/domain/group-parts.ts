/** Bounds the memory of sums by group: where not all groups fit, each pass over the data covers a part of them. */

import { hash } from 'node:crypto';

/** A whole number below 2 ** 32. */
export type GroupHash = (group: string | null) => number;

/** Groups whose hash leaves `remainder` when divided by `divisor`. */
type GroupPart = { readonly divisor: number; readonly remainder: number };

/** Beyond it the groups that are left are too large by themselves, and splitting does not help. */
const PARTS_MAX = 2 ** 20;

export function createGroupPasses(hashOf: GroupHash) {
  const parts: GroupPart[] = [{ divisor: 1, remainder: 0 }];
  let current: GroupPart = { divisor: 1, remainder: 0 };
  return {
    /** Starts a pass over the data for the next part of the groups; false when no part is left. */
    begin(): boolean {
      const next = parts.shift();
      if (next !== undefined) current = next;
      return next !== undefined;
    },
    /** Whether the current pass covers the group. */
    covers: (group: string | null): boolean =>
      current.divisor === 1 || hashOf(group) % current.divisor === current.remainder,
    /** Leaves half of the groups of the current pass to a later one. False: the part is as small as it may become. */
    split(): boolean {
      const { divisor, remainder } = current;
      if (divisor >= PARTS_MAX) return false;
      current = { divisor: divisor * 2, remainder };
      parts.push({ divisor: divisor * 2, remainder: remainder + divisor });
      return true;
    },
  };
}

/** Users choose the names of groups: the key keeps them from choosing names that stay together in every split. */
export function keyedGroupHash(key: string): GroupHash {
  return (group) => hash('sha256', key + (group ?? ''), 'buffer').readUInt32LE();
}

type Ranking<T> = { readonly countMax: number; readonly compare: (one: T, other: T) => number };

/** Inserts an item into a sorted array that holds at most `countMax`, so that few of many groups are ever sorted. */
export function insertRanked<T>(best: T[], item: T, { countMax, compare }: Ranking<T>): void {
  const last = best.at(-1);
  if (last !== undefined && best.length >= countMax && compare(item, last) > 0) return;
  let [from, to] = [0, best.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const other = best[middle];
    if (other !== undefined && compare(other, item) < 0) from = middle + 1;
    else to = middle;
  }
  best.splice(from, 0, item);
  if (best.length > countMax) best.pop();
}
