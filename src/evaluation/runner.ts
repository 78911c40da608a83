/** Runs an evaluator in this process or with the judge, and reports the outcome. */

import { type EvaluationOutcome, failedOutcome, type RunEvaluator } from '../domain/evaluations/outcome.ts';
import { findCatalogueEntry } from '../domain/evaluators/evaluator-catalogue.ts';
import { Fault } from '../domain/fault.ts';

export type RunnerDeps = {
  /** Runs the types that need only this process. */
  readonly builtin: RunEvaluator;
  /** Runs the types that ask a language model. */
  readonly judge: RunEvaluator;
  readonly monotonicMs: () => number;
  /** Called after every run that has an outcome. */
  readonly onEnd: (evaluatorType: string, status: EvaluationOutcome['status'], durationMs: number) => void;
  readonly log: { error(fields: object, message: string): void };
};

export function createRunner(deps: RunnerDeps): RunEvaluator {
  return async (run, signal) => {
    const { evaluatorType } = run;
    const startedAtMs = deps.monotonicMs();
    const outcome = await runSafely(deps, run, signal);
    deps.onEnd(evaluatorType, outcome.status, deps.monotonicMs() - startedAtMs);
    return outcome;
  };
}

/** An unexpected error is logged as a bug, and is an outcome, too. That nothing could be judged now is neither. */
async function runSafely(deps: RunnerDeps, ...[run, signal]: Parameters<RunEvaluator>): Promise<EvaluationOutcome> {
  const isJudge = findCatalogueEntry(run.evaluatorType)?.run === 'judge';
  try {
    return await (isJudge ? deps.judge : deps.builtin)(run, signal);
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unavailable') throw error;
    deps.log.error({ err: error, evaluatorType: run.evaluatorType }, 'an evaluator failed');
    return failedOutcome('EVALUATOR_ERROR', error instanceof Error ? error.message : String(error));
  }
}
