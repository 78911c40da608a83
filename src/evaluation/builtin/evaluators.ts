/** The evaluators that need nothing but this process, by their ids in the catalogue. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';

export type Evaluate = (run: EvaluationRun) => EvaluationOutcome;

/** Each is loaded when it first runs: a server that never runs one does not hold its code. */
const LOADERS: { readonly [evaluatorType: string]: () => Promise<Evaluate> } = {
  'langevals/exact_match': async () => (await import('./exact-match.ts')).matchExactly,
  'langevals/basic': async () => (await import('./basic.ts')).followRules,
};

/** Throws for an id that is not run here. */
export async function loadEvaluator(evaluatorType: string): Promise<Evaluate> {
  const load = Object.hasOwn(LOADERS, evaluatorType) ? LOADERS[evaluatorType] : undefined;
  if (load === undefined) throw new Error(`${evaluatorType} does not run in this process.`);
  return await load();
}
