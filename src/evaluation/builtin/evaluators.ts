/** The evaluators that need nothing but this process, by their ids in the catalogue. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';

export type Evaluate = (run: EvaluationRun) => EvaluationOutcome;

/** Each is loaded when it first runs: a server that never runs one does not hold its code. */
const LOADERS: { readonly [evaluatorType: string]: (run: EvaluationRun) => Promise<Evaluate> } = {
  'langevals/exact_match': async () => (await import('./exact-match.ts')).matchExactly,
  'langevals/basic': async (run) => (await import('./basic.ts')).loadRules(run),
  'langevals/competitor_blocklist': async () => (await import('./competitor-blocklist.ts')).findCompetitors,
  'langevals/valid_format': async (run) => (await import('./valid-format.ts')).loadFormat(run),
  'ragas/bleu_score': async () => (await import('./bleu.ts')).scoreBleu,
  'ragas/rouge_score': async () => (await import('./rouge.ts')).scoreRouge,
  'ragas/context_precision': async () => (await import('./contexts.ts')).scoreContextPrecision,
  'ragas/context_recall': async () => (await import('./contexts.ts')).scoreContextRecall,
  'ragas/context_f1': async () => (await import('./contexts.ts')).scoreContextF1,
  'langwatch/api_keys_and_secrets_detection': async () => (await import('./secrets.ts')).findSecrets,
};

/** Loads all that the run needs. Throws for an id that is not run here. */
export async function loadEvaluator(run: EvaluationRun): Promise<Evaluate> {
  const load = Object.hasOwn(LOADERS, run.evaluatorType) ? LOADERS[run.evaluatorType] : undefined;
  if (load === undefined) throw new Error(`${run.evaluatorType} does not run in this process.`);
  return await load(run);
}
