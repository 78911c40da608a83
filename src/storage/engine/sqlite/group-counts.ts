/** Counts the traces of very many groups, to find those that come first. */

import { createRanking, type Ranked } from '../../../domain/analytics/group-ranking.ts';
import { createNumberIds } from '../../../domain/analytics/number-ids.ts';
import { costOf } from '../../../domain/analytics/sums.ts';
import { type Dimension, type IndexedAnswer, isListed, type SumsQuery } from '../../analytics/indexed-sums.ts';
import { type Cell, COLUMNS, type Slice, type SummedRows } from './summed-rows.ts';
import { createYieldWhenDue } from './yield-when-due.ts';

/** A group, and the slices of the first and the last row that has its value. */
export type CountedGroup = Ranked & {
  readonly number: number | null;
  readonly first: Slice | null;
  readonly last: Slice | null;
};

export type CountedGroups = ReturnType<ReturnType<typeof createRanking<CountedGroup>>['end']>;

/** Each takes about a hundred bytes. With more of them each pass over the traces counts a part of the groups. */
const COUNTED_MAX = 1_000_000;
const PARTS_MAX = 16;
const RANKED_AT_ONCE = 1_000;

/** Null: there are too many groups. */
export async function countGroups(
  rows: SummedRows,
  query: SumsQuery,
  { dimension, countedMax = COUNTED_MAX }: { readonly dimension: Dimension; readonly countedMax?: number | undefined },
): Promise<IndexedAnswer<CountedGroups>> {
  const yieldWhenDue = createYieldWhenDue();
  for (let parts = 1; parts <= PARTS_MAX; parts *= 2) {
    const ranking = createRanking<CountedGroup>(query.groupsMax);
    let outcome: 'through' | 'full' | 'too_long' = 'through';
    for (let part = 0; part < parts && outcome === 'through'; part += 1) {
      const counts = createCounts(countedMax, (number) => number % parts === part);
      outcome = await countPart(rows, query, { dimension, counts });
      for (let first = 0; first < counts.size(); first += RANKED_AT_ONCE) {
        for (const group of counts.list(first, first + RANKED_AT_ONCE)) ranking.add(group);
        await yieldWhenDue();
      }
    }
    if (outcome === 'too_long') return outcome;
    if (outcome === 'through') return ranking.end();
  }
  return null;
}

type Counts = ReturnType<typeof createCounts>;

async function countPart(
  rows: SummedRows,
  query: SumsQuery,
  { dimension, counts }: { readonly dimension: Dimension; readonly counts: Counts },
): Promise<'through' | 'full' | 'too_long'> {
  const idsOf = createGroupsOf(dimension, counts.idOf);
  const columns = [COLUMNS[dimension], 'total_cost_nano_usd'];
  const isInTime = await rows.forEach({ columns, values: null }, (row, slice) => {
    for (const id of idsOf(row[0] ?? null)) counts.add(id, row[1] as number | null, slice);
    return counts.isFull();
  });
  if (!isInTime) return 'too_long';
  for (const { groups, totalCostNanoUsd } of query.changed) {
    for (const number of groups) {
      const id = counts.idOf(number);
      if (id !== undefined) counts.add(id, totalCostNanoUsd, null);
    }
  }
  return counts.isFull() ? 'full' : 'through';
}

const NANO_PER_USD = 1_000_000_000;
/** Stands for traces without a value. */
const NONE = -1;

function createCounts(countedMax: number, isCovered: (number: number) => boolean) {
  const ids = createNumberIds(countedMax);
  const traces: number[] = [];
  const costs: { readonly usd: number[]; readonly restNanoUsd: number[] } = { usd: [], restNanoUsd: [] };
  const slices: { readonly first: (Slice | null)[]; readonly last: (Slice | null)[] } = { first: [], last: [] };
  let isFull = false;
  return {
    isFull: () => isFull,
    /** Undefined: the group is not counted. */
    idOf(number: number | null): number | undefined {
      if (!isCovered(number ?? 0)) return undefined;
      const id = ids.idOf(number ?? NONE);
      isFull ||= id === undefined;
      if (id !== traces.length) return id;
      traces.push(0);
      for (const each of Object.values(costs)) each.push(0);
      for (const each of Object.values(slices)) each.push(null);
      return id;
    },
    add(id: number, costNanoUsd: number | null, slice: Slice | null): void {
      traces[id] = (traces[id] ?? 0) + 1;
      slices.first[id] ??= slice;
      slices.last[id] = slice ?? slices.last[id] ?? null;
      if (costNanoUsd === null) return;
      const usd = Math.floor(costNanoUsd / NANO_PER_USD);
      costs.usd[id] = (costs.usd[id] ?? 0) + usd;
      costs.restNanoUsd[id] = (costs.restNanoUsd[id] ?? 0) + costNanoUsd - usd * NANO_PER_USD;
    },
    size: () => traces.length,
    /** The groups with ids from one on, and below another. */
    list: (fromId: number, toId: number): readonly CountedGroup[] =>
      traces.slice(fromId, toId).map((count, index) => {
        const id = fromId + index;
        const number = ids.numberOf(id);
        const cost = { costUsd: costs.usd[id] ?? 0, costRestNanoUsd: costs.restNanoUsd[id] ?? 0 };
        const [first = null, last = null] = [slices.first[id], slices.last[id]];
        return { number: number === NONE ? null : number, traces: count, costUsd: costOf(cost), first, last };
      }),
  };
}

/** More texts of labels than these are read again. */
const TEXTS_MAX = 10_000;

/** The groups of a row, by what it has in the column of the dimension. Without one all rows are in one group. */
export function createGroupsOf<Group>(
  dimension: Dimension | null,
  groupOf: (number: number | null) => Group | undefined,
): (cell: Cell) => readonly Group[] {
  if (dimension === null || !isListed(dimension)) {
    return (cell) => {
      const group = groupOf(cell as number | null);
      return group === undefined ? [] : [group];
    };
  }
  const known = new Map<Cell, readonly Group[]>();
  return (cell) => {
    const found = known.get(cell);
    if (found !== undefined) return found;
    const numbers: readonly (number | null)[] = cell === null ? [null] : JSON.parse(String(cell));
    const groups = numbers.map(groupOf).filter((group) => group !== undefined);
    if (known.size < TEXTS_MAX) known.set(cell, groups);
    return groups;
  };
}
