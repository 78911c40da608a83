/** The order of groups: what comes to most first, then by the bytes of their names; what has no name comes last. */

import { hash } from 'node:crypto';
import type { SpendOrder, SpendPlace, Spent } from './spend-store.ts';

/** A longer name is told by its beginning and a hash: places have to fit into a cursor. */
const NAME_KEY_BYTES = 256;
const HASH_BYTES = 32;
const NAMED = '1';
const NAMELESS = '2';

/** What groups are ordered by. */
export const ORDERED_BY = { cost: 'costNanoUsd', requests: 'requests' } as const satisfies Record<
  SpendOrder,
  keyof Spent
>;

export function placeOf(group: string | null, spent: Spent, order: SpendOrder): SpendPlace {
  return { rank: spent[ORDERED_BY[order]], nameKey: nameKeyOf(group) };
}

/** A number where that is exact. */
type Place = { readonly rank: number | bigint; readonly nameKey: string };

/** Negative: the first place comes before the second. */
export function comparePlaces(one: Place, other: Place): number {
  if (one.rank > other.rank) return -1;
  if (one.rank < other.rank) return 1;
  if (one.nameKey === other.nameKey) return 0;
  return one.nameKey < other.nameKey ? -1 : 1;
}

/** Ordered as the bytes are that it stands for: a character for each. */
export function nameKeyOf(group: string | null): string {
  if (group === null) return NAMELESS;
  const bytes = Buffer.from(group);
  if (bytes.length <= NAME_KEY_BYTES) return NAMED + bytes.toString('latin1');
  const digest = hash('sha256', bytes, 'buffer').toString('latin1');
  return NAMED + bytes.toString('latin1', 0, NAME_KEY_BYTES - HASH_BYTES) + digest;
}
