/**
 * Sums requests up into groups and keeps those that an answer shows. Memory is bounded: of more groups than there is room
 * for, a part is summed up at a time, and the requests are gone through once more for each further part.
 */

import { ALL_GROUPS, type GroupPart, halvesOf, isInPart } from '../group-parts.ts';
import { comparePlaces, placeOf } from './group-order.ts';
import type { SpendPlace, SpendQuestion, Spent, SpentGroup } from './spend-store.ts';
import { newSums, readSums, type Sums } from './sums.ts';

export type SpendTally = {
  /** Whether the requests have to be gone through, once more after each time. */
  beginPass(): boolean;
  /** What a request counts for beside its group; null in all passes but the first. */
  total(): Sums | null;
  /** Where requests of a group are summed up; null: not in this pass. */
  sumsOf(group: string | null): Sums | null;
  endPass(): void;
  answer(): { readonly groups: readonly SpentGroup[]; readonly total: Spent };
};

type Placed = SpentGroup & { readonly place: SpendPlace };

/** A group takes a few hundred bytes. */
const GROUPS_MAX = 100_000;

export function createSpendTally(
  { after, limit, order }: Pick<SpendQuestion, 'after' | 'limit' | 'order'>,
  groupsMax = GROUPS_MAX,
): SpendTally {
  const total = newSums(null);
  const parts: GroupPart[] = [ALL_GROUPS];
  let part = ALL_GROUPS;
  let isFirstPass = true;
  let groups = new Map<string | null, Sums>();
  let best: Placed[] = [];

  /** Leaves half of the groups to another pass. */
  function makeRoom(): void {
    const [kept, left] = halvesOf(part);
    parts.push(left);
    part = kept;
    groups = new Map([...groups].filter(([group]) => isInPart(kept, group)));
  }

  return {
    beginPass() {
      const next = parts.shift();
      if (next === undefined) return false;
      part = next;
      groups = new Map();
      return true;
    },
    total: () => (isFirstPass ? total : null),
    sumsOf(group) {
      const known = groups.get(group);
      if (known !== undefined) return known;
      while (groups.size >= groupsMax && isInPart(part, group)) makeRoom();
      if (!isInPart(part, group)) return null;
      const sums = newSums(group);
      groups.set(group, sums);
      return sums;
    },
    endPass() {
      isFirstPass = false;
      const placed: Placed[] = [];
      for (const sums of groups.values()) {
        const spent = readSums(sums);
        // Its requests were looked at, and none of them counted.
        if (spent.requests === 0n) continue;
        const place = placeOf(sums.group, spent, order);
        if (after === null || comparePlaces(place, after) > 0) placed.push({ group: sums.group, spent, place });
      }
      best = [...best, ...placed].sort((one, other) => comparePlaces(one.place, other.place)).slice(0, limit);
      groups = new Map();
    },
    answer: () => ({ groups: best.map(({ group, spent }) => ({ group, spent })), total: readSums(total) }),
  };
}
