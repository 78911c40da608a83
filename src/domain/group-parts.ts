/** Divides groups into parts, of which one at a time is summed up where there is no room for all. */

import { hash } from 'node:crypto';

/** Groups whose hash leaves `at` when divided by `of`. */
export type GroupPart = { readonly of: number; readonly at: number };

/** A whole number below 2 ** 32. */
export type GroupHash = (group: string | null) => number;

export const ALL_GROUPS: GroupPart = { of: 1, at: 0 };

/** Further parting would not help: what is left are groups that alone are too much. */
export const PARTS_MAX = 2 ** 20;

export function halvesOf({ of, at }: GroupPart): readonly [GroupPart, GroupPart] {
  return [
    { of: of * 2, at },
    { of: of * 2, at: at + of },
  ];
}

export function isInPart({ of, at }: GroupPart, group: string | null, hashOf: GroupHash): boolean {
  return of === 1 || hashOf(group) % of === at;
}

/** Names come from users: who does not know the key cannot choose names that stay together however they are parted. */
export function keyedGroupHash(key: string): GroupHash {
  return (group) => hash('sha256', key + (group ?? ''), 'buffer').readUInt32LE();
}
