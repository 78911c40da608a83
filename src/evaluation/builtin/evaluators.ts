/** The evaluators that need only this process, by catalogue id. */

import type { EvaluationRun } from '../../domain/evaluations/outcome.ts';
import type { Evaluate } from './outcomes.ts';

/** Loads the code of a run; synchronous once loaded, because a repeated import takes longer than most runs. */
type Load = (run: EvaluationRun) => Evaluate | Promise<Evaluate>;

/** Each is loaded with its first run, so that unused evaluators take no memory. */
const LOADERS: { readonly [evaluatorType: string]: Load } = {
  'langevals/exact_match': once(async () => (await import('./exact-match.ts')).matchExactly),
  'langevals/basic': loadBy(async () => (await import('./basic.ts')).loadRules),
  'langevals/competitor_blocklist': once(async () => (await import('./competitor-blocklist.ts')).findCompetitors),
  'langevals/valid_format': loadBy(async () => (await import('./valid-format.ts')).loadFormat),
  'ragas/bleu_score': once(async () => (await import('./bleu.ts')).scoreBleu),
  'ragas/rouge_score': once(async () => (await import('./rouge.ts')).scoreRouge),
  'ragas/context_precision': once(async () => (await import('./contexts.ts')).scoreContextPrecision),
  'ragas/context_recall': once(async () => (await import('./contexts.ts')).scoreContextRecall),
  'ragas/context_f1': once(async () => (await import('./contexts.ts')).scoreContextF1),
  'langwatch/api_keys_and_secrets_detection': once(async () => (await import('./secrets.ts')).findSecrets),
};

/** Loads the code of a run. Throws for an id that does not run here. */
export function loadEvaluator(run: EvaluationRun): Evaluate | Promise<Evaluate> {
  const load = Object.hasOwn(LOADERS, run.evaluatorType) ? LOADERS[run.evaluatorType] : undefined;
  if (load === undefined) throw new Error(`${run.evaluatorType} does not run in this process.`);
  return load(run);
}

/** Loads code once. */
function once<T>(load: () => Promise<T>): () => T | Promise<T> {
  let loaded: T | undefined;
  return () =>
    loaded ??
    load().then((value) => {
      loaded = value;
      return value;
    });
}

/** Loads code that itself loads what the settings of a run need. */
function loadBy(load: () => Promise<Load>): Load {
  const loader = once(load);
  return (run) => {
    const known = loader();
    return known instanceof Promise ? known.then((each) => each(run)) : known(run);
  };
}
