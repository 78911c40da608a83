/**
 * Counts traces into groups and intervals while a caller reads them, oldest first. Memory is bounded: where the groups do
 * not all fit, the caller reads the traces again for each further part of the groups.
 */

import { createGroupPasses, type GroupHash, insertRanked } from '../group-parts.ts';
import { createOpenInterval, type Span } from './calendar.ts';
import { createDistribution, type Distribution } from './distribution.ts';
import { compareRanks, type Ranked } from './group-ranking.ts';
import { addSums, costOf, type MutableSums, NO_DURATIONS, noSums, type Sums, totalsOfSums } from './sums.ts';
import type { AnalyticsAnswer, AnalyticsQuery, Bucket } from './trace-analytics-store.ts';

/** What one trace adds to one group. */
export type Entry = {
  readonly group: string | null;
  readonly sums: Sums;
  readonly firstTokensMs: readonly number[];
  readonly totalTimesMs: readonly number[];
};

export type Tallies = ReturnType<typeof createTallies>;

type TalliesLimits = {
  /** Buckets held in memory while groups are ranked. */
  readonly cellsMax: number;
  /** Durations held in memory. */
  readonly valuesMax: number;
};

type Cell = {
  readonly span: Span;
  readonly sums: MutableSums;
  firstTokens: Distribution | null;
  totalTimes: Distribution | null;
  durations: typeof NO_DURATIONS;
};
type Tally = { readonly group: string | null; readonly sums: MutableSums; readonly cells: Map<number, Cell> };

/** A cell with durations takes a few kilobytes; the reader thread has a heap of a few hundred megabytes. */
const LIMITS: TalliesLimits = { cellsMax: 20_000, valuesMax: 2_000_000 };

export function createTallies(query: AnalyticsQuery, hashOf: GroupHash, limits: TalliesLimits = LIMITS) {
  const { groupsMax, bucketsMax } = query;
  const passes = createGroupPasses(hashOf);
  const interval = createOpenInterval<Cell>(query, { newCell, closeCell });
  const best: Tally[] = [];
  let groupCount = 0;
  let tallies = new Map<string | null, Tally>();
  let cells = 0;
  let isOverLimit = false;

  function newCell(span: Span): Cell {
    cells += 1;
    return {
      span,
      sums: noSums(),
      firstTokens: query.hasPercentiles ? createDistribution() : null,
      totalTimes: query.hasPercentiles ? createDistribution() : null,
      durations: NO_DURATIONS,
    };
  }

  function addValues(kept: Distribution | null, added: readonly number[]): void {
    if (kept === null) return;
    const before = kept.size();
    for (const value of added) kept.add(value);
    interval.values += kept.size() - before;
  }

  function isFull(): boolean {
    return cells > limits.cellsMax || interval.values > limits.valuesMax;
  }

  /** Leaves half of the groups to another pass. */
  function splitPart(): void {
    if (tallies.size < 2 || !passes.split()) {
      isOverLimit = true;
      return;
    }
    tallies = new Map([...tallies].filter(([group]) => passes.covers(group)));
    cells = 0;
    for (const tally of tallies.values()) cells += tally.cells.size;
    const kept = new Set([...tallies.values()].flatMap((tally) => [...tally.cells.values()]));
    interval.retain((cell) => kept.has(cell));
    interval.values = interval.cells().reduce((sum, cell) => sum + sizeOf(cell), 0);
  }

  return {
    /** Starts a pass: the caller MUST then read all traces. False when every group is counted, or a limit is exceeded. */
    beginPass(): boolean {
      if (isOverLimit || !passes.begin()) return false;
      tallies = new Map();
      cells = 0;
      return true;
    },
    /** Within a pass instants must ascend. */
    add(startedAtMs: number, { group, sums, firstTokensMs, totalTimesMs }: Entry): void {
      if (isOverLimit || !passes.covers(group)) return;
      const tally = tallies.get(group) ?? { group, sums: noSums(), cells: new Map() };
      tallies.set(group, tally);
      addSums(tally.sums, sums);
      const cell = interval.cellAt(tally.cells, startedAtMs);
      addSums(cell.sums, sums);
      addValues(cell.firstTokens, firstTokensMs);
      addValues(cell.totalTimes, totalTimesMs);
      while (isFull() && !isOverLimit) splitPart();
    },
    endPass(): void {
      interval.close();
      // Removed traces are subtracted: a group of which nothing is left is not returned.
      for (const tally of tallies.values()) {
        if (tally.sums.traces <= 0) continue;
        groupCount += 1;
        insertRanked(best, tally, { countMax: groupsMax, compare: compareRank });
      }
      tallies = new Map();
      if (countCells(best) > limits.cellsMax) isOverLimit = true;
    },
    answer(): AnalyticsAnswer {
      if (isOverLimit || countCells(best) > bucketsMax) return { kind: 'too_many_buckets' };
      return { kind: 'buckets', buckets: bucketsOf(best), isTruncated: groupCount > groupsMax };
    },
  };
}

function closeCell(cell: Cell): void {
  cell.durations = {
    firstTokenMs: cell.firstTokens?.percentiles() ?? null,
    totalTimeMs: cell.totalTimes?.percentiles() ?? null,
  };
  cell.firstTokens = null;
  cell.totalTimes = null;
}

function sizeOf({ firstTokens, totalTimes }: Cell): number {
  return (firstTokens?.size() ?? 0) + (totalTimes?.size() ?? 0);
}

function countCells(tallies: readonly Tally[]): number {
  return tallies.reduce((count, { cells }) => count + [...cells.values()].filter(hasTraces).length, 0);
}

function hasTraces({ sums }: Cell): boolean {
  return sums.traces > 0;
}

function bucketsOf(tallies: readonly Tally[]): readonly Bucket[] {
  const buckets = tallies.flatMap(({ group, cells }) =>
    [...cells.values()]
      .filter(hasTraces)
      .map(({ span, sums, durations }) => ({ ...span, group, totals: totalsOfSums(sums, durations) })),
  );
  return inOrder(buckets);
}

/** By start, then group. */
export function inOrder(buckets: readonly Bucket[]): readonly Bucket[] {
  return buckets.toSorted((one, other) => one.startMs - other.startMs || compareNames(one.group, other.group));
}

function compareRank(one: Tally, other: Tally): number {
  return compareRanks(rankOf(one), rankOf(other)) || compareNames(one.group, other.group);
}

function rankOf({ sums }: Tally): Ranked {
  return { traces: sums.traces, costUsd: costOf(sums) };
}

/** Compares names by their bytes; null comes last. */
export function compareNames(one: string | null, other: string | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
