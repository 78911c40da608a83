/** Outcomes of evaluators in this process. */

import { type EvaluationOutcome, type EvaluationRun, failedOutcome } from '../../domain/evaluations/outcome.ts';
import { cutToCharacters } from '../../domain/text-limits.ts';

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
    details: details === undefined ? null : cutToCharacters(details, DETAILS_LENGTH_MAX),
    costNanoUsd: null,
  };
}

export function verdictOf(passed: boolean, details?: string): EvaluationOutcome {
  return processed({ score: passed ? 1 : 0, passed, ...(details === undefined ? {} : { details }) });
}

/** A failure that a retry would repeat. */
export function failed(errorType: string, details: string): EvaluationOutcome {
  return failedOutcome(errorType, cutToCharacters(details, DETAILS_LENGTH_MAX));
}
