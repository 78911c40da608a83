/** Converts the outcome of a run to the same draft that senders of evaluations use. */

import { createHash } from 'node:crypto';
import type { LosslessObject } from '../../json/lossless-json.ts';
import { nanoToUsdNumber } from '../pricing/money.ts';
import type { EvaluationDraft } from '../traces/collector/collector-draft.ts';
import type { EvaluationOutcome, EvaluationRun } from './outcome.ts';

export type Result = {
  readonly evaluationId: string;
  readonly evaluatorId: string;
  readonly name: string;
  readonly spanId: string | null;
  readonly isGuardrail: boolean;
  readonly run: Pick<EvaluationRun, 'evaluatorType'>;
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
    // Not as senders give them: see result-inputs.ts.
    inputs: undefined,
    cost: costOf(outcome) ?? undefined,
    error: outcome.status === 'error' ? errorOf(outcome.errorType, outcome.details) : undefined,
    startedAt: result.startedAtMs,
    finishedAt: result.finishedAtMs,
    // Only needed to derive an id, which the result already has.
    toJson: () => null,
  };
}

const ID_DIGITS = 32;

/** Always the same for one source and trace, so that a later result replaces an earlier one. */
export function resultIdOf(kind: 'mon' | 'run', sourceId: string, traceId: string): string {
  const digest = createHash('sha256').update(`${sourceId}:${traceId}`).digest('hex');
  return `eval_${kind}_${digest.slice(0, ID_DIGITS)}`;
}

/** The cost of a run; null: unknown. */
function costOf(outcome: EvaluationOutcome): LosslessObject | null {
  if (outcome.status !== 'processed' || outcome.costNanoUsd === null) return null;
  return { currency: 'USD', amount: nanoToUsdNumber(outcome.costNanoUsd) };
}

function errorOf(errorType: string, details: string): EvaluationDraft['error'] {
  return { message: `${errorType}: ${details}`, stacktrace: undefined, kind: undefined, httpStatus: undefined };
}
