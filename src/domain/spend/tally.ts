/**
 * Sums requests by group and keeps the groups of one page. Memory is bounded: where the groups do not all fit, the caller
 * reads the requests again for each further part of the groups.
 */

import { createGroupPasses, type GroupHash, insertRanked } from '../group-parts.ts';
import type { Steps } from '../steps.ts';
import { AT, amountOf, newSums, readSums, type Sums } from './exact-sums.ts';
import { comparePositions, nameKeyOf, RANKED_BY } from './group-order.ts';
import type { SpendAnswer, SpendQuery } from './spend-store.ts';

export type SpendTally = ReturnType<typeof createSpendTally>;

/** What ranks a group; its other sums are read only if the page shows the group. */
type Ranked = { readonly sums: Sums; readonly rank: number | bigint; readonly nameKey: string };

/** Groups held in memory; each takes nearly a kilobyte. */
const GROUPS_MAX = 20_000;
const RANKED_AT_ONCE = 500;

export function createSpendTally(
  { after, limit, order }: Pick<SpendQuery, 'after' | 'limit' | 'order'>,
  hashOf: GroupHash,
  groupsMax = GROUPS_MAX,
) {
  const total = newSums(null);
  const passes = createGroupPasses(hashOf);
  let isFirstPass = true;
  let isOverLimit = false;
  let groups = new Map<string | null, Sums>();
  const best: Ranked[] = [];

  /** Leaves half of the groups to another pass. */
  function splitPart(): void {
    isOverLimit = !passes.split();
    if (!isOverLimit) groups = new Map([...groups].filter(([group]) => passes.covers(group)));
  }

  function keepBest(sums: Sums): void {
    // The filters left out every request of the group.
    if (sums.low[AT.requests] === 0) return;
    const rank = amountOf(sums, AT[RANKED_BY[order]]);
    // Most groups are left out here, before the key of their name is computed.
    const last = best.length < limit ? undefined : best.at(-1);
    if ((last !== undefined && rank < last.rank) || (after !== null && rank > after.rank)) return;
    const ranked = { sums, rank, nameKey: nameKeyOf(sums.group) };
    if (after !== null && comparePositions(ranked, after) <= 0) return;
    insertRanked(best, ranked, { countMax: limit, compare: comparePositions });
  }

  return {
    /** Starts a pass: the caller MUST then read all requests. False when every group is summed, or there are too many. */
    beginPass(): boolean {
      if (isOverLimit || !passes.begin()) return false;
      groups = new Map();
      return true;
    },
    /** The sums over all groups; null in every pass but the first, so that each request counts once. */
    total: (): Sums | null => (isFirstPass ? total : null),
    /** The sums of a group; null when another pass covers the group. */
    sumsOf(group: string | null): Sums | null {
      const cached = groups.get(group);
      if (cached !== undefined) return cached;
      while (groups.size >= groupsMax && !isOverLimit && passes.covers(group)) splitPart();
      if (isOverLimit || !passes.covers(group)) return null;
      const sums = newSums(group);
      groups.set(group, sums);
      return sums;
    },
    *endPass(): Steps<void> {
      isFirstPass = false;
      let count = 0;
      for (const sums of groups.values()) {
        keepBest(sums);
        count += 1;
        if (count % RANKED_AT_ONCE === 0) yield;
      }
      groups = new Map();
    },
    answer(): SpendAnswer {
      if (isOverLimit) return { kind: 'too_long' };
      const shown = best.map(({ sums }) => ({ group: sums.group, spent: readSums(sums) }));
      return { kind: 'groups', groups: shown, total: readSums(total) };
    },
  };
}
