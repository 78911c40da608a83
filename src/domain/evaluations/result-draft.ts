/** The result of a run in the form that traces keep: the same as results that come from elsewhere have. */

import type { EvaluationDraft } from '../collector-draft.ts';
import type { LosslessObject } from '../lossless-json.ts';
import { nanoToUsdNumber } from '../money.ts';
import type { EvaluationOutcome, EvaluationRun } from './outcome.ts';

export type Result = {
  readonly evaluationId: string;
  readonly evaluatorId: string;
  readonly name: string;
  readonly spanId: string | null;
  readonly isGuardrail: boolean;
  readonly run: Pick<EvaluationRun, 'evaluatorType' | 'data'>;
  readonly outcome: EvaluationOutcome;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
};

export function resultDraft(result: Result): EvaluationDraft {
  const { run, outcome } = result;
  const processed = outcome.status === 'processed' ? outcome : null;
  return {
    name: result.name,
    evaluationId: result.evaluationId,
    evaluatorId: result.evaluatorId,
    spanId: result.spanId ?? undefined,
    type: run.evaluatorType,
    threadId: undefined,
    isGuardrail: result.isGuardrail,
    status: outcome.status,
    passed: processed?.passed ?? undefined,
    score: processed?.score ?? undefined,
    label: processed?.label ?? undefined,
    details: outcome.details ?? undefined,
    inputs: run.data,
    cost: costOf(outcome) ?? undefined,
    error: outcome.status === 'error' ? errorOf(outcome.errorType, outcome.details) : undefined,
    startedAt: result.startedAtMs,
    finishedAt: result.finishedAtMs,
    // The result has an id, so none is derived from it.
    toJson: () => null,
  };
}

/** What a run cost; null where nobody knows. */
export function costOf(outcome: EvaluationOutcome): LosslessObject | null {
  if (outcome.status !== 'processed' || outcome.costNanoUsd === null) return null;
  return { currency: 'USD', amount: nanoToUsdNumber(outcome.costNanoUsd) };
}

function errorOf(errorType: string, details: string): EvaluationDraft['error'] {
  return { message: `${errorType}: ${details}`, stacktrace: undefined, kind: undefined, httpStatus: undefined };
}
