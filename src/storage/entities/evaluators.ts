import { defineEntity } from '@mikro-orm/core';
import type { Evaluator, EvaluatorField } from '../../domain/evaluators/evaluator.ts';
import { enumText, json, parsed, slugged, text } from './kinds.ts';

export const EvaluatorRow = defineEntity(
  slugged('Evaluator', 'evaluators', {
    type: enumText<Evaluator['type']>(),
    configJson: json('config'),
    workflowId: text().strictNullable(),
    workflowName: text().strictNullable(),
    workflowIcon: text().strictNullable(),
    copiedFromEvaluatorId: text().strictNullable(),
    fields: parsed<readonly EvaluatorField[]>('fields'),
    outputFields: parsed<readonly EvaluatorField[]>('output_fields'),
  }),
);
