/** The order of groups: what comes to most first, then by the bytes of their names; what has no name comes last. */

import { hash } from 'node:crypto';
import type { SpendOrder, SpendPlace, Spent } from './spend-store.ts';

/** A longer name is told by its beginning and a hash: places have to fit into a cursor. */
const NAME_KEY_BYTES = 256;
const HASH_BYTES = 32;
const NAMED = '1';
const NAMELESS = '2';

export function placeOf(group: string | null, spent: Spent, order: SpendOrder): SpendPlace {
  return { rank: order === 'cost' ? spent.costNanoUsd : spent.requests, nameKey: nameKeyOf(group) };
}

/** Negative: the first place comes before the second. */
export function comparePlaces(one: SpendPlace, other: SpendPlace): number {
  if (one.rank !== other.rank) return one.rank > other.rank ? -1 : 1;
  if (one.nameKey === other.nameKey) return 0;
  return one.nameKey < other.nameKey ? -1 : 1;
}

/** Ordered as the bytes are that it stands for: a character for each. */
function nameKeyOf(group: string | null): string {
  if (group === null) return NAMELESS;
  const bytes = Buffer.from(group);
  if (bytes.length <= NAME_KEY_BYTES) return NAMED + bytes.toString('latin1');
  const digest = hash('sha256', bytes, 'buffer').toString('latin1');
  return NAMED + bytes.toString('latin1', 0, NAME_KEY_BYTES - HASH_BYTES) + digest;
}
