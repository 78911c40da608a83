/** Sums up the results of a run, page by page: a run may have more scores than fit into memory beside other reads. */

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
  /** Of processed evaluations; null when none has a score. */
  readonly meanScore: number | null;
  /** From 0 to 1, of processed evaluations; null when none has a verdict. */
  readonly passRate: number | null;
};

export function createRunSums() {
  const evaluators = new Map<string, EvaluatorSums>();
  const [costs, evaluationCosts, durations] = [createSum(), createSum(), createSum()];
  let results = 0;
  let errors = 0;
  return {
    add({ hasError, costUsd, durationMs, scores }: ResultFigures): void {
      results += 1;
      if (hasError) errors += 1;
      costs.add(costUsd);
      durations.add(durationMs);
      for (const score of scores) {
        evaluationCosts.add(score.costUsd);
        const sums = evaluators.get(score.name) ?? createEvaluatorSums();
        evaluators.set(score.name, sums);
        sums.add(score);
      }
    },
    summary: (): RunSummary => ({
      results,
      errors,
      costUsd: costs.total(),
      evaluationCostUsd: evaluationCosts.total(),
      meanDurationMs: durations.mean(),
      evaluators: [...evaluators.keys()].sort().flatMap((name) => evaluators.get(name)?.summary(name) ?? []),
    }),
  };
}

type EvaluatorSums = ReturnType<typeof createEvaluatorSums>;

function createEvaluatorSums() {
  const counts = { processed: 0, skipped: 0, error: 0 };
  const [scores, verdicts] = [createSum(), createSum()];
  return {
    add({ status, score, passed }: ScoreFigures): void {
      counts[status] += 1;
      // What a failed or skipped evaluation says of the score is not a measurement.
      if (status !== 'processed') return;
      scores.add(score);
      verdicts.add(passed === null ? null : Number(passed));
    },
    summary(name: string): EvaluatorSummary {
      const { processed, skipped, error: failed } = counts;
      return { name, processed, skipped, failed, meanScore: scores.mean(), passRate: verdicts.mean() };
    },
  };
}

/** Of the numbers that are known; null when none is. */
function createSum() {
  let count = 0;
  let sum = 0;
  return {
    add(value: number | null): void {
      if (value === null) return;
      count += 1;
      sum += value;
    },
    total: (): number | null => (count === 0 ? null : sum),
    mean: (): number | null => (count === 0 ? null : sum / count),
  };
}
