/** Outcomes of evaluators in this process. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';

export type Evaluate = (run: EvaluationRun) => EvaluationOutcome;

/** Code points. */
const DETAILS_LENGTH_MAX = 2000;

type Verdict = { readonly score: number; readonly passed?: boolean; readonly details?: string };

export function processed({ score, passed, details }: Verdict): EvaluationOutcome {
  return {
    status: 'processed',
    score,
    passed: passed ?? null,
    label: null,
    details: details === undefined ? null : cutDetails(details),
    costNanoUsd: null,
  };
}

export function verdictOf(passed: boolean, details?: string): EvaluationOutcome {
  return processed({ score: passed ? 1 : 0, passed, ...(details === undefined ? {} : { details }) });
}

/** A failure that a retry would repeat. */
export function failed(errorType: string, details: string): EvaluationOutcome {
  return { status: 'error', errorType, details: cutDetails(details), isRetryable: false };
}

function cutDetails(details: string): string {
  if (details.length <= DETAILS_LENGTH_MAX) return details;
  // A code point has at most two code units, so only the beginning is split.
  return [...details.slice(0, 2 * DETAILS_LENGTH_MAX)].slice(0, DETAILS_LENGTH_MAX).join('');
}
