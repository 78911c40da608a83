import { defineEntity } from '@mikro-orm/core';
import type { Evaluator } from '../../domain/evaluator.ts';
import { id, instant, json, text, word } from './kinds.ts';

export const EvaluatorRow = defineEntity({
  name: 'Evaluator',
  tableName: 'evaluators',
  properties: {
    projectId: id().primary(),
    id: id().primary(),
    name: text(),
    slug: id(),
    type: word<Evaluator['type']>(),
    configJson: json('config'),
    workflowId: text().strictNullable(),
    workflowName: text().strictNullable(),
    workflowIcon: text().strictNullable(),
    copiedFromEvaluatorId: text().strictNullable(),
    fieldsJson: json('fields'),
    outputFieldsJson: json('output_fields'),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
    // What is deleted is kept, while its slug is free again.
    deletedAtMs: instant('deleted_at').strictNullable(),
  },
  uniques: [{ name: 'evaluators_by_live_slug', properties: ['projectId', 'slug'], where: 'deleted_at is null' }],
});
