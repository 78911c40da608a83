/** How evaluation results look in rows, in both directions. */

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

/** Answers evaluations as they are. */
export const EVALUATION_SELECT = `SELECT
  evaluation_id AS "evaluationId",
  evaluator_id AS "evaluatorId",
  name,
  type,
  span_id AS "spanId",
  thread_id AS "threadId",
  is_guardrail AS "isGuardrail",
  status,
  passed,
  score,
  label,
  details,
  error AS "errorJson",
  inputs AS "inputsJson",
  cost AS "costJson",
  monitor_id AS "monitorId",
  inserted_at AS "insertedAtMs",
  started_at AS "startedAtMs",
  finished_at AS "finishedAtMs"
FROM evaluations`;

/** SQL for about how many bytes the texts of an evaluation have; none of them is read for it. */
export const EVALUATION_BYTES = ['label', 'details', 'error', 'inputs', 'cost']
  .map((column) => `coalesce(octet_length(${column}), 0)`)
  .join(' + ');
