/** Runs an evaluator as a saved one would: with the defaults of the catalogue under its settings. */

import type { EvaluationOutcome, EvaluationRun } from '../../../src/domain/evaluations/outcome.ts';
import { findCatalogueEntry } from '../../../src/domain/evaluators/evaluator-catalogue.ts';
import { overlaySettings } from '../../../src/domain/evaluators/evaluator-settings.ts';
import { loadEvaluator } from '../../../src/evaluation/builtin/evaluators.ts';
import type { LosslessObject } from '../../../src/json/lossless-json.ts';

export type RunInput = { readonly data?: EvaluationRun['data']; readonly settings?: LosslessObject };

export function runOf(evaluatorType: string, { data = {}, settings = {} }: RunInput): EvaluationRun {
  const entry = findCatalogueEntry(evaluatorType);
  if (entry === undefined) throw new Error(`${evaluatorType} is not in the catalogue.`);
  const organization = { id: 'organization_1', priceVersion: 0 };
  return {
    projectId: 'project_1',
    organization,
    isGuardrail: false,
    evaluatorType,
    data,
    settings: overlaySettings(entry.settings, settings),
  };
}

export async function evaluate(evaluatorType: string, input: RunInput): Promise<EvaluationOutcome> {
  const run = runOf(evaluatorType, input);
  const evaluator = await loadEvaluator(run);
  return evaluator(run);
}
