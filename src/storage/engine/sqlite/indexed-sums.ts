/**
 * Sums up the file of the index of traces. Traces are grouped here: SQLite would sort them for it, which takes twice as
 * long.
 */

import { createRanking } from '../../../domain/analytics/group-ranking.ts';
import {
  createIntervalSums,
  type GroupSums,
  type SummedTrace,
  totalsOf,
} from '../../../domain/analytics/interval-sums.ts';
import { addSums, addTrace, costOf, NO_DURATIONS, noSums, totalsOfSums } from '../../../domain/analytics/sums.ts';
import type { UserStats } from '../../../domain/analytics/trace-analytics-store.ts';
import {
  type Dimension,
  type IndexedAnswer,
  type IndexedBucket,
  type IndexedSums,
  isListed,
  type KeepGroups,
  type ModelDurations,
  NAMED_MAX,
  type RankedGroup,
  type SumsQuery,
  type TracesQuery,
} from '../../analytics/indexed-sums.ts';
import type { IndexReads } from '../../reads.ts';
import type { Database } from './connection.ts';
import { countDurations, listDurations } from './durations.ts';
import { type CountedGroup, countGroups, createGroupsOf } from './group-counts.ts';
import { rankGroups, sumNamedGroups } from './indexed-groups.ts';
import { prepareModelDurations } from './model-durations.ts';
import { createSearchIndex } from './search-index.ts';
import type { SearchedFile } from './search-steps.ts';
import { type Cell, COLUMNS, createSummedRows, type Slice, type SummedRows } from './summed-rows.ts';
import { createYieldWhenDue } from './yield-when-due.ts';

export function createIndexReads(file: SearchedFile): IndexReads {
  return { index: createSearchIndex(file), indexedSums: createIndexedSums(file) };
}

export function createIndexedSums({ searchedFile, noteFailure }: SearchedFile): IndexedSums {
  async function read<Found>(sum: (file: Database) => Promise<IndexedAnswer<Found>>): Promise<IndexedAnswer<Found>> {
    const file = await searchedFile();
    if (file === null) return null;
    try {
      return await sum(file);
    } catch (error) {
      // Analytics do without a file that is damaged.
      if (!noteFailure(error)) throw error;
      return null;
    }
  }
  const modelDurations = new WeakMap<Database, ModelDurations>();
  const modelDurationsOf = (file: Database) => {
    const prepared = modelDurations.get(file) ?? prepareModelDurations(file);
    modelDurations.set(file, prepared);
    return prepared;
  };
  return {
    sumUp: (query, keep) => read((file) => sumUp(createSummedRows(file, query), query, keep)),
    statsOf: (query) => read((file) => statsOf(createSummedRows(file, query), query)),
    countDurations: async (query) => {
      const counts = await read(async (file) => countDurations(file, query));
      return counts === 'too_long' ? null : counts;
    },
    listDurations: (query, known) => read((file) => listDurations(createSummedRows(file, query), known)),
    modelDurations: {
      count: (query) => read((file) => modelDurationsOf(file).count(query)),
      list: (query, buckets) => read((file) => modelDurationsOf(file).list(query, buckets)),
    },
    rankGroups: (query) => read((file) => rankGroups(createSummedRows(file, query), query)),
    sumGroups: (query) => read((file) => sumNamedGroups(createSummedRows(file, query), query)),
  };
}

async function sumUp(
  rows: SummedRows,
  query: SumsQuery,
  keep: KeepGroups,
): Promise<IndexedAnswer<readonly IndexedBucket[]>> {
  const { groupBy } = query;
  const all = await sumGroups(rows, query, null);
  if (all === 'too_long') return all;
  if (groupBy === null) return all === null ? null : bucketsOf(all, [null]);
  const ranking = all === null ? await countGroups(rows, query, { dimension: groupBy }) : rankAll(all, query);
  if (ranking === null || ranking === 'too_long') return ranking;
  if (ranking.groups.length > NAMED_MAX) return null;
  const kept = await keep({ ...ranking, groups: await withSequences(rows, ranking.groups, groupBy) });
  if (kept === null) return null;
  const sums = all ?? (await sumGroups(rows, query, kept));
  return sums === null || sums === 'too_long' ? sums : bucketsOf(sums, kept);
}

type Group = { readonly number: number | null; readonly sums: GroupSums; first: Slice | null; last: Slice | null };
type Groups = ReadonlyMap<number | null, Group>;

/** With more groups it is found out first which of them are kept. */
const GROUPS_MAX = 1_000;

/** `kept` null: every group. Returns null where these are too many. */
async function sumGroups(
  rows: SummedRows,
  query: SumsQuery,
  kept: readonly (number | null)[] | null,
): Promise<IndexedAnswer<Groups>> {
  const { groupBy, hasPercentiles } = query;
  const interval = createIntervalSums(query);
  const groups = new Map((kept ?? []).map((number) => [number, newGroup(number)]));
  const groupsOf = createGroupsOf(groupBy, (number) => {
    const known = groups.get(number);
    if (known !== undefined || kept !== null) return known;
    const group = newGroup(number);
    groups.set(number, group);
    return group;
  });
  const isFull = () => interval.isFull() || (kept === null && groups.size > GROUPS_MAX);
  const isInTime = await rows.forEach(
    {
      columns: [
        groupBy === null ? 'NULL' : COLUMNS[groupBy],
        ...['started_at', 'span_count', 'has_error', 'prompt_tokens', 'completion_tokens', 'total_cost_nano_usd'],
        ...(hasPercentiles ? ['total_time_ms', 'first_token_ms'] : ['NULL', 'NULL']),
      ],
      values: groupBy === null || isListed(groupBy) || kept === null ? null : { dimension: groupBy, numbers: kept },
    },
    (row, slice) => {
      const trace = toTrace(row);
      for (const group of groupsOf(row[0] ?? null)) {
        interval.add(group.sums, trace);
        group.first ??= slice;
        group.last = slice;
      }
      return isFull();
    },
  );
  if (!isInTime) return 'too_long';
  for (const trace of query.changed) {
    for (const number of trace.groups) {
      const group = groups.get(number) ?? (kept === null ? newGroup(number) : undefined);
      if (group === undefined) continue;
      groups.set(number, group);
      interval.add(group.sums, trace);
    }
  }
  return isFull() ? null : groups;
}

function newGroup(number: number | null): Group {
  return { number, sums: new Map(), first: null, last: null };
}

/** Reads a row by its places: taking it apart as a list takes longer. */
function toTrace(row: readonly Cell[]): SummedTrace {
  return {
    startMs: row[1],
    spanCount: row[2],
    hasError: row[3] === 1,
    promptTokens: row[4],
    completionTokens: row[5],
    totalCostNanoUsd: row[6],
    totalTimeMs: row[7],
    firstTokenMs: row[8],
  } as SummedTrace;
}

function rankAll(groups: Groups, { groupsMax }: SumsQuery) {
  const ranking = createRanking<CountedGroup>(groupsMax);
  for (const { sums, ...group } of groups.values()) {
    const total = noSums();
    for (const each of sums.values()) addSums(total, each.sums);
    ranking.add({ ...group, traces: total.traces, costUsd: costOf(total) });
  }
  return ranking.end();
}

async function withSequences(
  rows: SummedRows,
  groups: readonly CountedGroup[],
  dimension: Dimension,
): Promise<readonly RankedGroup[]> {
  const yieldWhenDue = createYieldWhenDue();
  const ranked: RankedGroup[] = [];
  for (const { number, first, last, ...rank } of groups) {
    const slices = number === null ? [] : [first, last].filter((slice) => slice !== null);
    const found = slices.map((slice) => rows.find(slice, { dimension, number: number ?? 0 }));
    ranked.push({ ...rank, number, sequences: found.filter((sequence) => sequence !== null) });
    await yieldWhenDue();
  }
  return ranked;
}

function bucketsOf(groups: Groups, kept: readonly (number | null)[]): readonly IndexedBucket[] {
  return kept.flatMap((number) =>
    [...(groups.get(number)?.sums.values() ?? [])].map((sum) => ({ ...sum.span, number, totals: totalsOf(sum) })),
  );
}

/** Distinct threads of one user. */
const THREADS_MAX = 1_000_000;

async function statsOf(rows: SummedRows, query: TracesQuery): Promise<IndexedAnswer<UserStats>> {
  const sums = noSums();
  const threads = new Set<number>();
  let [firstSeenMs, lastSeenMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const add = (trace: SummedTrace, thread: number | null) => {
    addTrace(sums, trace);
    if (thread !== null) threads.add(thread);
    firstSeenMs = Math.min(firstSeenMs, trace.startMs);
    lastSeenMs = Math.max(lastSeenMs, trace.startMs);
    return threads.size > THREADS_MAX;
  };
  const columns = ['thread_value', 'started_at', 'span_count', 'has_error', 'prompt_tokens', 'completion_tokens'];
  const isInTime = await rows.forEach({ columns: [...columns, 'total_cost_nano_usd'], values: null }, (row) =>
    add(toTrace(row), row[0] as number | null),
  );
  if (!isInTime || threads.size > THREADS_MAX) return 'too_long';
  for (const trace of query.changed) add(trace, trace.thread);
  const isAny = sums.traces > 0;
  return {
    totals: totalsOfSums(sums, NO_DURATIONS),
    threads: threads.size,
    firstSeenMs: isAny ? firstSeenMs : null,
    lastSeenMs: isAny ? lastSeenMs : null,
  };
}
