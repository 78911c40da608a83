/**
 * Sums requests up into groups and keeps those that an answer shows. Memory is bounded: of more groups than there is room
 * for, a part is summed up at a time, and the requests are gone through once more for each further part.
 */

import { ALL_GROUPS, type GroupHash, type GroupPart, halvesOf, isInPart, PARTS_MAX } from '../group-parts.ts';
import type { Steps } from '../steps.ts';
import { comparePlaces, nameKeyOf, ORDERED_BY } from './group-order.ts';
import type { SpendAnswer, SpendQuestion } from './spend-store.ts';
import { AT, amountOf, newSums, readSums, type Sums } from './sums.ts';

export type SpendTally = {
  /** Whether the requests have to be gone through, once more after each time. */
  beginPass(): boolean;
  /** What a request counts for beside its group; null in all passes but the first. */
  total(): Sums | null;
  /** Where requests of a group are summed up; null: not in this pass. */
  sumsOf(group: string | null): Sums | null;
  endPass(): Steps<void>;
  answer(): SpendAnswer;
};

/** What is needed to put groups in order; all else is read of those only that are answered. */
type Ranked = { readonly sums: Sums; readonly rank: number | bigint; readonly nameKey: string };

/** A group takes nearly a kilobyte. */
const GROUPS_MAX = 20_000;
const RANKED_AT_ONCE = 500;

export function createSpendTally(
  { after, limit, order }: Pick<SpendQuestion, 'after' | 'limit' | 'order'>,
  hashOf: GroupHash,
  groupsMax = GROUPS_MAX,
): SpendTally {
  const total = newSums(null);
  const parts: GroupPart[] = [ALL_GROUPS];
  let part = ALL_GROUPS;
  let isFirstPass = true;
  let isTooMuch = false;
  let groups = new Map<string | null, Sums>();
  const best: Ranked[] = [];

  /** Leaves half of the groups to another pass. */
  function makeRoom(): void {
    if (part.of >= PARTS_MAX) {
      isTooMuch = true;
      return;
    }
    const [kept, left] = halvesOf(part);
    parts.push(left);
    part = kept;
    groups = new Map([...groups].filter(([group]) => isInPart(kept, group, hashOf)));
  }

  /** Into an array that is in order, so that however many groups there are, few are put in order. */
  function keepBest(sums: Sums): void {
    // Its requests were looked at, and none of them counted.
    if (sums.low[AT.requests] === 0) return;
    const rank = amountOf(sums, AT[ORDERED_BY[order]]);
    const last = best.length < limit ? undefined : best.at(-1);
    if ((last !== undefined && rank < last.rank) || (after !== null && rank > after.rank)) return;
    const ranked = { sums, rank, nameKey: nameKeyOf(sums.group) };
    if (after !== null && comparePlaces(ranked, after) <= 0) return;
    let [from, to] = [0, best.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = best[middle];
      if (other !== undefined && comparePlaces(other, ranked) < 0) from = middle + 1;
      else to = middle;
    }
    best.splice(from, 0, ranked);
    if (best.length > limit) best.pop();
  }

  return {
    beginPass() {
      const next = isTooMuch ? undefined : parts.shift();
      if (next === undefined) return false;
      part = next;
      groups = new Map();
      return true;
    },
    total: () => (isFirstPass ? total : null),
    sumsOf(group) {
      const known = groups.get(group);
      if (known !== undefined) return known;
      while (groups.size >= groupsMax && !isTooMuch && isInPart(part, group, hashOf)) makeRoom();
      if (isTooMuch || !isInPart(part, group, hashOf)) return null;
      const sums = newSums(group);
      groups.set(group, sums);
      return sums;
    },
    *endPass() {
      isFirstPass = false;
      let count = 0;
      for (const sums of groups.values()) {
        keepBest(sums);
        count += 1;
        if (count % RANKED_AT_ONCE === 0) yield;
      }
      groups = new Map();
    },
    answer() {
      if (isTooMuch) return { kind: 'too_long' };
      const told = best.map(({ sums }) => ({ group: sums.group, spent: readSums(sums) }));
      return { kind: 'groups', groups: told, total: readSums(total) };
    },
  };
}
