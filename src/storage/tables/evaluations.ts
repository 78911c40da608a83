import { defineEntity } from '@mikro-orm/core';
import type { Evaluation } from '../../domain/trace.ts';
import { flag, id, instant, json, large, real, text, whole, word } from './kinds.ts';

/** Results of evaluators, as they were sent with a trace. */
export const EvaluationRow = defineEntity({
  name: 'Evaluation',
  tableName: 'evaluations',
  properties: {
    projectNumber: whole().primary(),
    traceSequence: large().primary(),
    evaluationId: id().primary(),
    insertedAtMs: instant('inserted_at'),
    evaluatorId: text(),
    name: text(),
    type: text().strictNullable(),
    spanId: text().strictNullable(),
    threadId: text().strictNullable(),
    isGuardrail: flag(),
    status: word<Evaluation['status']>(),
    passed: flag().strictNullable(),
    score: real().strictNullable(),
    label: text().strictNullable(),
    monitorId: text().strictNullable(),
    startedAtMs: instant('started_at').strictNullable(),
    finishedAtMs: instant('finished_at').strictNullable(),
    details: text().strictNullable(),
    errorJson: json('error').strictNullable(),
    inputsJson: json('inputs').strictNullable(),
    costJson: json('cost').strictNullable(),
  },
});
