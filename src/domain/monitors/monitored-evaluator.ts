/** Which evaluators a monitor can run. */

import { type EvaluationTarget, targetOfEvaluator } from '../evaluations/evaluation-target.ts';
import { unavailableReason } from '../evaluations/evaluator-availability.ts';
import type { Evaluator } from '../evaluator.ts';
import { Fault } from '../fault.ts';

/** Throws evaluator_not_runnable, evaluator_unavailable. */
export function targetToRun(evaluator: Evaluator): EvaluationTarget {
  const target = targetOfEvaluator(evaluator);
  const reason = unavailableReason(target.entry);
  if (reason === null) return target;
  throw new Fault('evaluator_unavailable', `${target.entry.id} is not available: ${reason}`);
}
