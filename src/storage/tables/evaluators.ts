import { defineEntity } from '@mikro-orm/core';
import type { Evaluator } from '../../domain/evaluators/evaluator.ts';
import { enumText, json, slugged, text } from './kinds.ts';

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
