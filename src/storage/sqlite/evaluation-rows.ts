/** How evaluation results look in rows, in both directions. */

import type { Evaluation } from '../../domain/trace.ts';
import type { Cell } from './trace-rows.ts';

export const EVALUATION_KEY = ['project_number', 'trace_sequence', 'evaluation_id'] as const;

/** The columns that a later result replaces, in the order of `evaluationCells`. */
export const EVALUATION_COLUMNS = [
  'evaluator_id',
  'name',
  'type',
  'span_id',
  'thread_id',
  'is_guardrail',
  'status',
  'passed',
  'score',
  'label',
  'monitor_id',
  'started_at',
  'finished_at',
  'details',
  'error',
  'inputs',
  'cost',
] as const;

export function evaluationCells(evaluation: Evaluation): Cell[] {
  return [
    evaluation.evaluatorId,
    evaluation.name,
    evaluation.type,
    evaluation.spanId,
    evaluation.threadId,
    Number(evaluation.isGuardrail),
    evaluation.status,
    evaluation.passed === null ? null : Number(evaluation.passed),
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

export const EVALUATION_SELECT = `SELECT
  evaluation_id AS evaluationId,
  evaluator_id AS evaluatorId,
  name,
  type,
  span_id AS spanId,
  thread_id AS threadId,
  is_guardrail AS isGuardrail,
  status,
  passed,
  score,
  label,
  details,
  error AS errorJson,
  inputs AS inputsJson,
  cost AS costJson,
  monitor_id AS monitorId,
  inserted_at AS insertedAtMs,
  started_at AS startedAtMs,
  finished_at AS finishedAtMs
FROM evaluations`;

/** SQL for about how many bytes the texts of an evaluation have; none of them is read for it. */
export const EVALUATION_BYTES = ['label', 'details', 'error', 'inputs', 'cost']
  .map((column) => `ifnull(octet_length(${column}), 0)`)
  .join(' + ');

export type EvaluationRow = Omit<Evaluation, 'isGuardrail' | 'passed'> & {
  readonly isGuardrail: number;
  readonly passed: number | null;
};

export function toEvaluation(row: EvaluationRow): Evaluation {
  return { ...row, isGuardrail: row.isGuardrail === 1, passed: row.passed === null ? null : row.passed === 1 };
}
