import { defineEntity } from '@mikro-orm/core';
import type { EvaluatorRun } from '../../domain/evaluations/evaluator-run.ts';
import { flag, id, instant, json, large, text, whole, word } from './kinds.ts';

/** Runs of evaluators over all traces that a search finds. */
export const EvaluatorRunRow = defineEntity({
  name: 'EvaluatorRun',
  tableName: 'evaluator_runs',
  properties: {
    projectId: id().primary(),
    id: id().primary(),
    evaluatorId: id(),
    searchJson: json('search'),
    status: word<EvaluatorRun['status']>(),
    // Where the search goes on; empty at its beginning.
    cursor: text(),
    tracesFound: large().strictNullable(),
    isFoundExactly: flag(),
    processed: large(),
    skipped: large(),
    failed: large(),
    error: text().strictNullable(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
    // Until then nobody else works on it.
    leasedUntilMs: instant('leased_until'),
    fence: large(),
    failures: whole(),
  },
  indexes: [
    { name: 'evaluator_runs_by_creation', properties: ['projectId', 'createdAtMs'] },
    // When somebody last worked for a project, on runs that have ended, too.
    { name: 'evaluator_runs_by_turn', properties: ['projectId', 'leasedUntilMs'] },
    // Who works looks for work in all projects; there is little of it at any time.
    { name: 'evaluator_runs_by_lease', properties: ['leasedUntilMs'], where: "status = 'running'" },
  ],
});
