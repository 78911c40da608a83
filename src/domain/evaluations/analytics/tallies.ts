/** Counts evaluations into groups and intervals while a caller reads them, ordered by the start of their traces. */

import { createOpenInterval, type Span } from '../../analytics/calendar.ts';
import { createDistribution, type Distribution, type Percentiles, SIGNED_BINS } from '../../analytics/distribution.ts';
import { compareNames } from '../../analytics/tallies.ts';
import type {
  EvaluationAnalyticsAnswer,
  EvaluationAnalyticsQuery,
  EvaluationBucket,
  EvaluationConditions,
  EvaluationTotals,
} from '../../analytics/trace-analytics-store.ts';
import type { Evaluation } from '../../traces/trace.ts';

export type CountedEvaluation = Pick<
  Evaluation,
  'evaluatorId' | 'label' | 'monitorId' | 'status' | 'passed' | 'score'
> & {
  /** The start of its trace. */
  readonly startMs: number;
};

export type EvaluationTallies = ReturnType<typeof createEvaluationTallies>;

type Limits = { readonly cellsMax: number; readonly valuesMax: number };

/** A cell takes a few hundred bytes without its scores. */
const LIMITS: Limits = { cellsMax: 50_000, valuesMax: 2_000_000 };

const NO_COUNTS = {
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
};

type Cell = typeof NO_COUNTS & { readonly span: Span; values: Distribution | null; scores: Percentiles | null };

type Tally = { readonly group: string | null; evaluations: number; readonly cells: Map<number, Cell> };

export function createEvaluationTallies(query: EvaluationAnalyticsQuery, limits: Limits = LIMITS) {
  const { groupsMax, bucketsMax, hasPercentiles } = query;
  const tallies = new Map<string | null, Tally>();
  const interval = createOpenInterval<Cell>(query, { newCell, closeCell });
  let cells = 0;
  let isOverLimit = false;

  function newCell(span: Span): Cell {
    cells += 1;
    return { ...NO_COUNTS, span, values: hasPercentiles ? createDistribution(SIGNED_BINS) : null, scores: null };
  }

  return {
    /** Instants must ascend. False: the memory limit is exceeded. */
    add(evaluation: CountedEvaluation): boolean {
      if (isOverLimit || !matches(evaluation, query.conditions)) return !isOverLimit;
      const group = groupOf(evaluation, query);
      const tally = tallies.get(group) ?? { group, evaluations: 0, cells: new Map() };
      tallies.set(group, tally);
      tally.evaluations += 1;
      const cell = interval.cellAt(tally.cells, evaluation.startMs);
      const before = cell.values?.size() ?? 0;
      count(cell, evaluation);
      interval.values += (cell.values?.size() ?? 0) - before;
      isOverLimit = cells > limits.cellsMax || interval.values > limits.valuesMax;
      return !isOverLimit;
    },
    answer(): EvaluationAnalyticsAnswer {
      interval.close();
      const best = [...tallies.values()].sort(compareRank).slice(0, groupsMax);
      const buckets = best.toSorted((one, other) => compareNames(one.group, other.group)).flatMap(bucketsOf);
      if (isOverLimit || buckets.length > bucketsMax) return { kind: 'too_many_buckets' };
      buckets.sort((one, other) => one.startMs - other.startMs);
      return { kind: 'buckets', buckets, isTruncated: tallies.size > groupsMax };
    },
  };
}

function closeCell(cell: Cell): void {
  cell.scores = cell.values?.percentiles() ?? null;
  cell.values = null;
}

function matches(evaluation: CountedEvaluation, { evaluatorId, label, monitorId }: EvaluationConditions): boolean {
  return (
    (evaluatorId === null || evaluation.evaluatorId === evaluatorId) &&
    (label === null || evaluation.label === label) &&
    (monitorId === null || evaluation.monitorId === monitorId)
  );
}

function groupOf(evaluation: CountedEvaluation, { groupBy }: EvaluationAnalyticsQuery): string | null {
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
  const decided = cell.passed + cell.failed;
  const hasScores = cell.scored > 0;
  return {
    ...cell,
    passRate: decided === 0 ? null : cell.passed / decided,
    // Every score is finite, but their sum may overflow.
    scoreMean: hasScores && Number.isFinite(sum) ? sum / cell.scored : null,
    scoreMin: hasScores ? min : null,
    scoreMax: hasScores ? max : null,
  };
}

/** By evaluations, then name. */
function compareRank(one: Tally, other: Tally): number {
  return other.evaluations - one.evaluations || compareNames(one.group, other.group);
}
