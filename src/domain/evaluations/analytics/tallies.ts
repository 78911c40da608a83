/** Counts evaluations into buckets as they are gone through, in the order in which their traces began. */

import { calendarSpan, type Span } from '../../analytics/calendar.ts';
import { compareNames } from '../../analytics/tallies.ts';
import { ANY_NUMBERS, createValues, type Percentiles, type Values } from '../../analytics/values.ts';
import type { Evaluation } from '../../trace.ts';
import type {
  EvaluationBucket,
  EvaluationConditions,
  EvaluationsAnswer,
  EvaluationsQuestion,
} from '../../trace-analytics-store.ts';

/** Means and rates are null where nothing has a score, or was judged. */
export type EvaluationTotals = {
  readonly evaluations: number;
  readonly processed: number;
  readonly skipped: number;
  readonly errors: number;
  readonly passed: number;
  readonly failed: number;
  readonly passRate: number | null;
  readonly scored: number;
  readonly scoreMean: number | null;
  readonly scoreMin: number | null;
  readonly scoreMax: number | null;
  /** Null, too, where percentiles are not asked for. */
  readonly scores: Percentiles | null;
};

export type CountedEvaluation = Pick<
  Evaluation,
  'evaluatorId' | 'label' | 'monitorId' | 'status' | 'passed' | 'score'
> & {
  /** When its trace began. */
  readonly startMs: number;
};

export type EvaluationTallies = {
  /** With ascending instants. False: there is more than can be counted. */
  add(evaluation: CountedEvaluation): boolean;
  answer(): EvaluationsAnswer;
};

type Limits = { readonly cellsMax: number; readonly valuesMax: number };

/** A cell takes some hundred bytes without its scores. */
const LIMITS: Limits = { cellsMax: 50_000, valuesMax: 2_000_000 };
const LAST_INSTANT_MS = Number.MAX_SAFE_INTEGER;

type Cell = {
  readonly span: Span;
  evaluations: number;
  processed: number;
  skipped: number;
  errors: number;
  passed: number;
  failed: number;
  scored: number;
  sum: number;
  min: number;
  max: number;
  values: Values | null;
  scores: Percentiles | null;
};

type Tally = { readonly group: string | null; evaluations: number; readonly cells: Map<number, Cell> };

export function createEvaluationTallies(question: EvaluationsQuestion, limits: Limits = LIMITS): EvaluationTallies {
  const { interval, fromMs, toMs, groupsMax, bucketsMax, hasPercentiles } = question;
  const tallies = new Map<string | null, Tally>();
  let cells = 0;
  let open: { readonly span: Span; readonly cells: Cell[]; values: number } | null = null;
  let isTooMuch = false;

  function spanOf(instantMs: number): Span {
    if (interval !== 'total') return calendarSpan(interval, instantMs);
    return { startMs: fromMs, endMs: Math.min(toMs, LAST_INSTANT_MS - 1) + 1 };
  }

  /** The scores of an interval are kept only until the next one begins. */
  function openAt(instantMs: number): NonNullable<typeof open> {
    if (open !== null && instantMs >= open.span.startMs && instantMs < open.span.endMs) return open;
    closeCells();
    open = { span: spanOf(instantMs), cells: [], values: 0 };
    return open;
  }

  function closeCells(): void {
    for (const cell of open?.cells ?? []) {
      cell.scores = cell.values?.percentiles() ?? null;
      cell.values = null;
    }
    open = null;
  }

  function cellOf(tally: Tally, now: NonNullable<typeof open>): Cell {
    const known = tally.cells.get(now.span.startMs);
    if (known !== undefined) return known;
    const cell = newCell(now.span, hasPercentiles);
    tally.cells.set(now.span.startMs, cell);
    now.cells.push(cell);
    cells += 1;
    return cell;
  }

  return {
    add(evaluation) {
      if (isTooMuch || !matches(evaluation, question.conditions)) return !isTooMuch;
      const group = groupOf(evaluation, question);
      const tally = tallies.get(group) ?? { group, evaluations: 0, cells: new Map() };
      tallies.set(group, tally);
      tally.evaluations += 1;
      const now = openAt(evaluation.startMs);
      const cell = cellOf(tally, now);
      const before = cell.values?.size() ?? 0;
      count(cell, evaluation);
      now.values += (cell.values?.size() ?? 0) - before;
      isTooMuch = cells > limits.cellsMax || now.values > limits.valuesMax;
      return !isTooMuch;
    },
    answer() {
      closeCells();
      const best = [...tallies.values()].sort(compareRank).slice(0, groupsMax);
      const buckets = best.toSorted((one, other) => compareNames(one.group, other.group)).flatMap(bucketsOf);
      if (isTooMuch || buckets.length > bucketsMax) return { kind: 'too_many_buckets' };
      buckets.sort((one, other) => one.startMs - other.startMs);
      return { kind: 'buckets', buckets, isTruncated: tallies.size > groupsMax };
    },
  };
}

function matches(evaluation: CountedEvaluation, { evaluatorId, label, monitorId }: EvaluationConditions): boolean {
  return (
    (evaluatorId === null || evaluation.evaluatorId === evaluatorId) &&
    (label === null || evaluation.label === label) &&
    (monitorId === null || evaluation.monitorId === monitorId)
  );
}

function groupOf(evaluation: CountedEvaluation, { groupBy }: EvaluationsQuestion): string | null {
  switch (groupBy) {
    case 'none':
      return null;
    case 'evaluator_id':
      return evaluation.evaluatorId;
    case 'label':
      return evaluation.label;
    case 'monitor_id':
      return evaluation.monitorId;
  }
}

function newCell(span: Span, hasPercentiles: boolean): Cell {
  return {
    span,
    evaluations: 0,
    processed: 0,
    skipped: 0,
    errors: 0,
    passed: 0,
    failed: 0,
    scored: 0,
    sum: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    values: hasPercentiles ? createValues(ANY_NUMBERS) : null,
    scores: null,
  };
}

function count(cell: Cell, { status, passed, score }: CountedEvaluation): void {
  cell.evaluations += 1;
  if (status === 'processed') cell.processed += 1;
  if (status === 'skipped') cell.skipped += 1;
  if (status === 'error') cell.errors += 1;
  if (passed === true) cell.passed += 1;
  if (passed === false) cell.failed += 1;
  if (score === null) return;
  cell.scored += 1;
  cell.sum += score;
  cell.min = Math.min(cell.min, score);
  cell.max = Math.max(cell.max, score);
  cell.values?.add(score);
}

function bucketsOf({ group, cells }: Tally): readonly EvaluationBucket[] {
  return [...cells.values()].map((cell) => ({ ...cell.span, group, totals: totalsOf(cell) }));
}

function totalsOf({ span: _, sum, min, max, values: __, ...cell }: Cell): EvaluationTotals {
  const judged = cell.passed + cell.failed;
  const hasScores = cell.scored > 0;
  return {
    ...cell,
    passRate: judged === 0 ? null : cell.passed / judged,
    // Each of them is finite, their sum need not be.
    scoreMean: hasScores && Number.isFinite(sum) ? sum / cell.scored : null,
    scoreMin: hasScores ? min : null,
    scoreMax: hasScores ? max : null,
  };
}

/** By evaluations, then name. */
function compareRank(one: Tally, other: Tally): number {
  return other.evaluations - one.evaluations || compareNames(one.group, other.group);
}
