/** The order of groups: the largest amount first, then by the bytes of the names; the unnamed group comes last. */

import { hash } from 'node:crypto';
import type { SpendOrder, SpendPosition, SpendTotals } from './spend-store.ts';

/** A longer name is shortened to its beginning and a hash, because positions go into cursors. */
const NAME_KEY_BYTES = 256;
const HASH_BYTES = 32;
const NAMED = '1';
const UNNAMED = '2';

/** The amount that ranks groups. */
export const RANKED_BY = { cost: 'costNanoUsd', requests: 'requests' } as const satisfies Record<
  SpendOrder,
  keyof SpendTotals
>;

export function positionOf(group: string | null, spent: SpendTotals, order: SpendOrder): SpendPosition {
  return { rank: spent[RANKED_BY[order]], nameKey: nameKeyOf(group) };
}

/** A number while that is exact. */
type Position = { readonly rank: number | bigint; readonly nameKey: string };

/** Negative: the first position comes before the second. */
export function comparePositions(one: Position, other: Position): number {
  if (one.rank > other.rank) return -1;
  if (one.rank < other.rank) return 1;
  if (one.nameKey === other.nameKey) return 0;
  return one.nameKey < other.nameKey ? -1 : 1;
}

/** One Latin-1 character per byte of the name, so that keys sort like the bytes. */
export function nameKeyOf(group: string | null): string {
  if (group === null) return UNNAMED;
  const bytes = Buffer.from(group);
  if (bytes.length <= NAME_KEY_BYTES) return NAMED + bytes.toString('latin1');
  const digest = hash('sha256', bytes, 'buffer').toString('latin1');
  return NAMED + bytes.toString('latin1', 0, NAME_KEY_BYTES - HASH_BYTES) + digest;
}
