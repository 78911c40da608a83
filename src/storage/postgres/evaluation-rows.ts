/** How evaluation results are stored. */

import type { Evaluation } from '../../domain/trace.ts';
import type { Cell } from './binary-rows.ts';

/** A value of the type `evaluation_row`. */
export function evaluationRow(projectNumber: number, sequence: number, evaluation: Evaluation): Cell[] {
  return [
    projectNumber,
    sequence,
    evaluation.evaluationId,
    evaluation.insertedAtMs,
    evaluation.evaluatorId,
    evaluation.name,
    evaluation.type,
    evaluation.spanId,
    evaluation.threadId,
    evaluation.isGuardrail,
    evaluation.status,
    evaluation.passed,
    evaluation.score,
    evaluation.label,
    evaluation.monitorId,
    evaluation.startedAtMs,
    evaluation.finishedAtMs,
    evaluation.details,
    evaluation.errorJson,
    evaluation.inputsJson,
    evaluation.costJson,
  ];
}
