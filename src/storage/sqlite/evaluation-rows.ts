/** How evaluation results are stored. */

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
