/** Which evaluators a monitor can run, and with which settings. */

import { type EvaluationTarget, refuseUnavailable, targetOfEvaluator } from '../evaluations/evaluation-target.ts';
import type { Evaluator } from '../evaluator.ts';
import { isLosslessObject, type LosslessObject, parseLossless } from '../lossless-json.ts';

/** Throws evaluator_not_runnable, evaluator_unavailable. */
export function targetToRun(evaluator: Evaluator): EvaluationTarget {
  return refuseUnavailable(targetOfEvaluator(evaluator));
}

/** Our own stored text. */
export function readParameters(parametersJson: string): LosslessObject {
  const parsed = parseLossless(parametersJson, { depth: Number.POSITIVE_INFINITY });
  return parsed.kind === 'value' && isLosslessObject(parsed.value) ? parsed.value : {};
}
