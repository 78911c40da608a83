import { defineEntity } from '@mikro-orm/core';
import type { EvaluatorRun } from '../../domain/evaluations/evaluator-run.ts';
import type { Evaluator } from '../../domain/evaluators/evaluator.ts';
import { bigInteger, enumText, flag, id, instant, integer, json, slugged, text, times } from './kinds.ts';

export const EvaluatorRow = defineEntity({
  name: 'Evaluator',
  ...slugged('evaluators', {
    type: enumText<Evaluator['type']>(),
    configJson: json('config'),
    workflowId: text().strictNullable(),
    workflowName: text().strictNullable(),
    workflowIcon: text().strictNullable(),
    copiedFromEvaluatorId: text().strictNullable(),
    fieldsJson: json('fields'),
    outputFieldsJson: json('output_fields'),
  }),
});

/** Runs of evaluators over all traces that match a search. */
export const EvaluatorRunRow = defineEntity({
  name: 'EvaluatorRun',
  tableName: 'evaluator_runs',
  properties: {
    projectId: id().primary(),
    id: id().primary(),
    evaluatorId: id(),
    searchJson: json('search'),
    status: enumText<EvaluatorRun['status']>(),
    // The cursor of the search; empty at its beginning.
    cursor: text(),
    tracesFound: bigInteger().strictNullable(),
    isFoundExactly: flag(),
    processed: bigInteger(),
    skipped: bigInteger(),
    failed: bigInteger(),
    error: text().strictNullable(),
    ...times(),
    // Until then no other worker takes the run.
    leasedUntilMs: instant('leased_until'),
    fence: bigInteger(),
    failures: integer(),
  },
  indexes: [
    { name: 'evaluator_runs_by_creation', properties: ['projectId', 'createdAtMs'] },
    // For the instant at which a project was last served, ended runs included.
    { name: 'evaluator_runs_by_turn', properties: ['projectId', 'leasedUntilMs'] },
    // For workers, who look for running runs of all projects; there are few at any time.
    { name: 'evaluator_runs_by_lease', properties: ['leasedUntilMs'], where: "status = 'running'" },
  ],
});
