/** Ranks the groups of an answer: by traces, then cost, then name. */

/** `costUsd` is 0 where no cost is known. */
export type Ranked = { readonly traces: number; readonly costUsd: number };

/** Where names do not matter yet. */
export function compareRanks(one: Ranked, other: Ranked): number {
  return other.traces - one.traces || other.costUsd - one.costUsd;
}

const SPARE = 1_000;

/** Finds the first groups of very many, in any order, and all that tie with the last of them: names decide among those. */
export function createRanking<Group extends Ranked>(groupsMax: number) {
  let groups: Group[] = [];
  let last: Group | null = null;
  let sortAt = groupsMax + SPARE;
  let count = 0;

  function cut(): void {
    groups.sort(compareRanks);
    const worst = groups[groupsMax - 1] ?? null;
    if (worst !== null) groups = groups.filter((each) => compareRanks(each, worst) <= 0);
    last = worst;
    sortAt = 2 * groups.length + SPARE;
  }

  return {
    add(group: Group): void {
      count += 1;
      if (last !== null && compareRanks(group, last) > 0) return;
      groups.push(group);
      if (groups.length >= sortAt) cut();
    },
    end(): { readonly groups: readonly Group[]; readonly count: number } {
      cut();
      return { groups, count };
    },
  };
}
