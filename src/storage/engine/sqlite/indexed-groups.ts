/** Ranks the threads or the users of the file of the index, and sums up some of them. */

import { createNumberIds } from '../../../domain/analytics/number-ids.ts';
import { insertRanked } from '../../../domain/group-parts.ts';
import { compareGroups, type GroupPosition, type GroupSort } from '../../../domain/threads/group-store.ts';
import type {
  ChangedTrace,
  IndexedAnswer,
  IndexedGroup,
  NamedGroups,
  RankQuery,
} from '../../analytics/indexed-sums.ts';
import { addToGroup, type GroupSum, latestOf, newGroupSum } from '../../threads/group-sums.ts';
import { COLUMNS, type SummedRows } from './summed-rows.ts';
import { createYieldWhenDue } from './yield-when-due.ts';

/** Each takes about forty bytes. With more of them each pass over the traces ranks a part of the groups. */
const RANKED_MAX = 1_000_000;
const PARTS_MAX = 16;
const RANKED_AT_ONCE = 10_000;

/** What a trace adds to the key of its group; the last activity needs nothing but starts. */
const KEYS: Readonly<Record<GroupSort, { readonly column: string; readonly of: (trace: ChangedTrace) => number }>> = {
  last_activity: { column: '0', of: () => 0 },
  traces: { column: '1', of: () => 1 },
  total_cost: { column: 'coalesce(total_cost_nano_usd, 0)', of: ({ totalCostNanoUsd }) => totalCostNanoUsd ?? 0 },
  tokens: {
    column: 'coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)',
    of: ({ promptTokens, completionTokens }) => (promptTokens ?? 0) + (completionTokens ?? 0),
  },
  errors: { column: 'has_error', of: ({ hasError }) => Number(hasError) },
};

/** Null: there are too many groups. */
export async function rankGroups(
  rows: SummedRows,
  query: RankQuery,
  rankedMax = RANKED_MAX,
): Promise<IndexedAnswer<readonly GroupPosition[]>> {
  const countMax = Math.min(rankedMax, rows.countMax() + query.changed.length);
  for (let parts = 1; parts <= PARTS_MAX; parts *= 2) {
    const best: GroupPosition[] = [];
    let outcome: 'through' | 'full' | 'too_long' = 'through';
    for (let part = 0; part < parts && outcome === 'through'; part += 1) {
      const ranks = createRanks(query, { countMax, isCovered: (number) => number % parts === part });
      outcome = await rankPart(rows, query, ranks);
      await ranks.pick(best);
    }
    if (outcome === 'too_long') return outcome;
    if (outcome === 'through') return best;
  }
  return null;
}

type Ranks = ReturnType<typeof createRanks>;

async function rankPart(rows: SummedRows, query: RankQuery, ranks: Ranks): Promise<'through' | 'full' | 'too_long'> {
  const { dimension, numbers, sort, changed } = query;
  const columns = [COLUMNS[dimension], 'started_at', KEYS[sort].column];
  const values = numbers === null ? null : { dimension, numbers };
  const isInTime = await rows.forEach({ columns, values }, (row) => {
    ranks.add(row[0] as number | null, row[1] as number, row[2] as number);
    return ranks.isFull();
  });
  if (!isInTime) return 'too_long';
  const isWanted = numbers === null ? null : new Set(numbers);
  for (const trace of changed) {
    for (const number of trace.groups) {
      if (number !== null && isWanted?.has(number) !== false) ranks.add(number, trace.startMs, KEYS[sort].of(trace));
    }
  }
  return ranks.isFull() ? 'full' : 'through';
}

type RankLimits = { readonly countMax: number; readonly isCovered: (number: number) => boolean };

function createRanks({ sort, isAscending, after, limit }: RankQuery, { countMax, isCovered }: RankLimits) {
  const ids = createNumberIds(countMax);
  const lasts = new Float64Array(countMax);
  const keys = new Float64Array(countMax);
  let isFull = false;
  return {
    isFull: () => isFull,
    add(number: number | null, startMs: number, key: number): void {
      if (number === null || !isCovered(number)) return;
      const isNew = ids.count();
      const id = ids.idOf(number);
      if (id === undefined) {
        isFull = true;
        return;
      }
      const last = lasts[id] ?? 0;
      // Starts may be before 1970.
      lasts[id] = id === isNew ? startMs : Math.max(last, startMs);
      keys[id] = (keys[id] ?? 0) + key;
    },
    /** Inserts the groups after the position of the query that come first. */
    async pick(best: GroupPosition[]): Promise<void> {
      const yieldWhenDue = createYieldWhenDue();
      const compare = (one: GroupPosition, other: GroupPosition) => compareGroups(one, other, isAscending);
      for (let id = 0; id < ids.count(); id += 1) {
        const lastMs = lasts[id] ?? 0;
        const key = sort === 'last_activity' ? lastMs : (keys[id] ?? 0);
        const position = { key, lastMs, number: ids.numberOf(id) };
        if (after === null || compare(position, after) > 0) insertRanked(best, position, { countMax: limit, compare });
        if (id % RANKED_AT_ONCE === 0) await yieldWhenDue();
      }
    },
  };
}

const SUMMED = [
  ...['sequence', 'started_at', 'span_count', 'has_error'],
  ...['prompt_tokens', 'completion_tokens', 'total_cost_nano_usd'],
];

export async function sumNamedGroups(
  rows: SummedRows,
  { dimension, numbers, changed }: NamedGroups,
): Promise<IndexedAnswer<readonly IndexedGroup[]>> {
  const groups = new Map<number, GroupSum>();
  const add = (number: number, trace: Parameters<typeof newGroupSum>[0]) => {
    const group = groups.get(number);
    if (group === undefined) groups.set(number, newGroupSum(trace));
    else addToGroup(group, trace);
  };
  const request = { columns: [COLUMNS[dimension], ...SUMMED], values: { dimension, numbers } };
  const isInTime = await rows.forEach(request, (row) => {
    const [number, sequence, startMs, spanCount, hasError, promptTokens, completionTokens, totalCostNanoUsd] =
      row as readonly number[] as [number, number, number, number, number, number | null, number | null, number | null];
    const tokens = { promptTokens, completionTokens, totalCostNanoUsd };
    add(number, { sequence, startMs, spanCount, hasError: hasError === 1, ...tokens });
    return false;
  });
  if (!isInTime) return 'too_long';
  const isWanted = new Set(numbers);
  for (const trace of changed) {
    for (const number of trace.groups) if (number !== null && isWanted.has(number)) add(number, trace);
  }
  return [...groups].map(([number, group]) => ({
    ...{ number, sums: group.sums, latest: latestOf(group) },
    first: group.first.sequence,
    last: group.last.sequence,
  }));
}
