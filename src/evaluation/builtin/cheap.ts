/** Decides which runs are so short that they stay on the event loop: passing them to a thread would take longer. */

import type { EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { readTextRules } from '../../domain/evaluators/text-rules.ts';
import { isLosslessArray, readMember } from '../../json/lossless-json.ts';

/** Code units of all texts, up to which a run took about a millisecond in a measurement. */
const CHARACTERS_MAX: { readonly [evaluatorType: string]: (run: EvaluationRun) => number } = {
  'langevals/exact_match': () => 20_000,
  'langevals/basic': ({ settings }) => {
    const rules = readTextRules(settings);
    return rules.some(({ isPattern }) => isPattern) ? 0 : 200_000 / Math.max(1, rules.length);
  },
  'langevals/competitor_blocklist': ({ settings }) => {
    const names = readMember(settings, 'competitors');
    return isLosslessArray(names) ? 10_000 / Math.max(1, names.length) : 0;
  },
  'langevals/valid_format': ({ settings: { format, json_schema: schema } }) =>
    format === 'json' && typeof schema !== 'string' ? 20_000 : 0,
  'ragas/bleu_score': () => 1000,
  'ragas/rouge_score': () => 1000,
  'ragas/context_precision': () => 200,
  'ragas/context_recall': () => 200,
  'ragas/context_f1': () => 200,
};

export function isCheap(run: EvaluationRun): boolean {
  const charactersMax = CHARACTERS_MAX[run.evaluatorType]?.(run) ?? 0;
  return charactersMax > 0 && countCharacters(run) <= charactersMax;
}

/** Code units of all texts and the schema, plus one per list item. */
export function countCharacters({ data, settings }: EvaluationRun): number {
  let count = typeof settings.json_schema === 'string' ? settings.json_schema.length : 0;
  for (const value of Object.values(data)) {
    if (typeof value === 'string') count += value.length;
    else for (const item of value) count += 1 + (typeof item === 'string' ? item.length : 0);
  }
  return count;
}
