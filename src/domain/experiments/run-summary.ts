/** Sums up the results of a run. */

import type { ResultFigures, ScoreFigures } from './experiment.ts';

export type RunSummary = {
  readonly results: number;
  /** Results with an error. */
  readonly errors: number;
  /** Null when no result has a cost. */
  readonly costUsd: number | null;
  readonly evaluationCostUsd: number | null;
  readonly meanDurationMs: number | null;
  /** Ordered by name. */
  readonly evaluators: readonly EvaluatorSummary[];
};

type EvaluatorSummary = {
  readonly name: string;
  readonly processed: number;
  readonly skipped: number;
  readonly failed: number;
  /** Null when no evaluation has a score. */
  readonly meanScore: number | null;
  /** From 0 to 1; null when no evaluation has a verdict. */
  readonly passRate: number | null;
};

export function summarise(figures: readonly ResultFigures[]): RunSummary {
  const scores = figures.flatMap((figure) => figure.scores);
  const byName = Map.groupBy(scores, ({ name }) => name);
  const names = [...byName.keys()].sort();
  return {
    results: figures.length,
    errors: figures.filter(({ hasError }) => hasError).length,
    costUsd: sumOf(figures.map(({ costUsd }) => costUsd)),
    evaluationCostUsd: sumOf(scores.map(({ costUsd }) => costUsd)),
    meanDurationMs: meanOf(figures.map(({ durationMs }) => durationMs)),
    evaluators: names.map((name) => summariseScores(name, byName.get(name) ?? [])),
  };
}

function summariseScores(name: string, scores: readonly ScoreFigures[]): EvaluatorSummary {
  const countOf = (status: ScoreFigures['status']) => scores.filter((score) => score.status === status).length;
  return {
    name,
    processed: countOf('processed'),
    skipped: countOf('skipped'),
    failed: countOf('error'),
    meanScore: meanOf(scores.map(({ score }) => score)),
    passRate: meanOf(scores.map(({ passed }) => (passed === null ? null : Number(passed)))),
  };
}

function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
