/**
 * Counts traces into buckets as they are gone through, oldest first. Memory is bounded: of more groups than there is room
 * for, a part is counted at a time, and the traces are gone through once more for each further part.
 */

import { ALL_GROUPS, type GroupHash, type GroupPart, halvesOf, isInPart, PARTS_MAX } from '../group-parts.ts';
import type { AnalyticsAnswer, AnalyticsQuestion, Bucket } from '../trace-analytics-store.ts';
import { calendarSpan, type Span } from './calendar.ts';
import { addSums, costOf, noSums, type Sums, type SumsInMaking } from './sums.ts';
import { NO_DURATIONS, totalsOfSums } from './totals.ts';
import { createValues, type Percentiles, type Values } from './values.ts';

/** What a trace counts for in a group. */
export type Entry = {
  readonly group: string | null;
  readonly sums: Sums;
  readonly firstTokensMs: readonly number[];
  readonly totalTimesMs: readonly number[];
};

export type Tallies = {
  /** Whether the traces have to be gone through, once more after each time. */
  beginPass(): boolean;
  /** To be called with ascending instants in a pass. */
  add(startedAtMs: number, entry: Entry): void;
  endPass(): void;
  answer(): AnalyticsAnswer;
};

export type TalliesLimits = {
  /** Buckets that are kept while groups are compared. */
  readonly cellsMax: number;
  /** Durations that are kept. */
  readonly valuesMax: number;
};

type Cell = {
  readonly span: Span;
  readonly sums: SumsInMaking;
  firstTokens: Values | null;
  totalTimes: Values | null;
  durations: { readonly firstTokenMs: Percentiles | null; readonly totalTimeMs: Percentiles | null };
};
type Tally = { readonly group: string | null; readonly sums: SumsInMaking; readonly cells: Map<number, Cell> };

/** A cell with durations takes a few kilobytes, and the thread that counts has a few hundred megabytes. */
const LIMITS: TalliesLimits = { cellsMax: 20_000, valuesMax: 2_000_000 };
const LAST_INSTANT_MS = Number.MAX_SAFE_INTEGER;

export function createTallies(question: AnalyticsQuestion, hashOf: GroupHash, limits: TalliesLimits = LIMITS): Tallies {
  const { interval, fromMs, toMs, groupsMax, bucketsMax } = question;
  const parts: GroupPart[] = [ALL_GROUPS];
  let part = ALL_GROUPS;
  const best: Tally[] = [];
  let groupCount = 0;
  let tallies = new Map<string | null, Tally>();
  let cells = 0;
  let open: { readonly span: Span; readonly cells: Cell[]; values: number } | null = null;
  let isTooMuch = false;

  function spanOf(instantMs: number): Span {
    if (interval !== 'total') return calendarSpan(interval, instantMs);
    return { startMs: fromMs, endMs: Math.min(toMs, LAST_INSTANT_MS - 1) + 1 };
  }

  function closeCells(): void {
    for (const cell of open?.cells ?? []) {
      cell.durations = {
        firstTokenMs: cell.firstTokens?.percentiles() ?? null,
        totalTimeMs: cell.totalTimes?.percentiles() ?? null,
      };
      cell.firstTokens = null;
      cell.totalTimes = null;
    }
    open = null;
  }

  function openAt(instantMs: number): NonNullable<typeof open> {
    if (open !== null && instantMs >= open.span.startMs && instantMs < open.span.endMs) return open;
    closeCells();
    open = { span: spanOf(instantMs), cells: [], values: 0 };
    return open;
  }

  function cellOf(tally: Tally, now: NonNullable<typeof open>): Cell {
    const known = tally.cells.get(now.span.startMs);
    if (known !== undefined) return known;
    const cell: Cell = {
      span: now.span,
      sums: noSums(),
      firstTokens: question.hasPercentiles ? createValues() : null,
      totalTimes: question.hasPercentiles ? createValues() : null,
      durations: NO_DURATIONS,
    };
    tally.cells.set(now.span.startMs, cell);
    now.cells.push(cell);
    cells += 1;
    return cell;
  }

  function addValues(values: Values | null, added: readonly number[], now: NonNullable<typeof open>): void {
    if (values === null) return;
    const before = values.size();
    for (const value of added) values.add(value);
    now.values += values.size() - before;
  }

  function isFull(): boolean {
    return cells > limits.cellsMax || (open?.values ?? 0) > limits.valuesMax;
  }

  /** Leaves half of the groups to another pass. */
  function makeRoom(): void {
    if (part.of >= PARTS_MAX || tallies.size < 2) {
      isTooMuch = true;
      return;
    }
    const [kept, other] = halvesOf(part);
    parts.push(other);
    part = kept;
    tallies = new Map([...tallies].filter(([group]) => isInPart(kept, group, hashOf)));
    cells = 0;
    for (const tally of tallies.values()) cells += tally.cells.size;
    if (open === null) return;
    const { span } = open;
    const left = [...tallies.values()].flatMap((tally) => tally.cells.get(span.startMs) ?? []);
    let values = 0;
    for (const cell of left) values += (cell.firstTokens?.size() ?? 0) + (cell.totalTimes?.size() ?? 0);
    open = { span, cells: left, values };
  }

  return {
    beginPass() {
      const next = isTooMuch ? undefined : parts.shift();
      if (next === undefined) return false;
      part = next;
      tallies = new Map();
      cells = 0;
      return true;
    },
    add(startedAtMs, { group, sums, firstTokensMs, totalTimesMs }) {
      if (isTooMuch || !isInPart(part, group, hashOf)) return;
      const tally = tallies.get(group) ?? { group, sums: noSums(), cells: new Map() };
      tallies.set(group, tally);
      addSums(tally.sums, sums);
      const now = openAt(startedAtMs);
      const cell = cellOf(tally, now);
      addSums(cell.sums, sums);
      addValues(cell.firstTokens, firstTokensMs, now);
      addValues(cell.totalTimes, totalTimesMs, now);
      while (isFull() && !isTooMuch) makeRoom();
    },
    endPass() {
      closeCells();
      // Where everything was taken off again nothing is left to tell of.
      for (const tally of tallies.values()) {
        if (tally.sums.traces <= 0) continue;
        groupCount += 1;
        keepBest(best, tally, groupsMax);
      }
      tallies = new Map();
      if (countCells(best) > limits.cellsMax) isTooMuch = true;
    },
    answer() {
      if (isTooMuch || countCells(best) > bucketsMax) return { kind: 'too_many_buckets' };
      return { kind: 'buckets', buckets: bucketsOf(best), isTruncated: groupCount > groupsMax };
    },
  };
}

function countCells(tallies: readonly Tally[]): number {
  return tallies.reduce((count, { cells }) => count + [...cells.values()].filter(isTold).length, 0);
}

function isTold({ sums }: Cell): boolean {
  return sums.traces > 0;
}

function bucketsOf(tallies: readonly Tally[]): readonly Bucket[] {
  const ordered = tallies.toSorted((one, other) => compareNames(one.group, other.group));
  const buckets = ordered.flatMap(({ group, cells }) =>
    [...cells.values()]
      .filter(isTold)
      .map(({ span, sums, durations }) => ({ ...span, group, totals: totalsOfSums(sums, durations) })),
  );
  return buckets.sort((one, other) => one.startMs - other.startMs);
}

/** Into an array that is in order, so that however many groups there are, few are put in order. */
function keepBest(best: Tally[], tally: Tally, countMax: number): void {
  const last = best.at(-1);
  if (last !== undefined && best.length >= countMax && compareRank(tally, last) > 0) return;
  let [from, to] = [0, best.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const other = best[middle];
    if (other !== undefined && compareRank(other, tally) < 0) from = middle + 1;
    else to = middle;
  }
  best.splice(from, 0, tally);
  if (best.length > countMax) best.pop();
}

/** By traces, then cost, then name. */
function compareRank(one: Tally, other: Tally): number {
  return (
    other.sums.traces - one.sums.traces || costOf(other.sums) - costOf(one.sums) || compareNames(one.group, other.group)
  );
}

/** By their bytes, as everywhere; what has none comes last. */
export function compareNames(one: string | null, other: string | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
