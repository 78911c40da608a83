/** What is done in a thread of the pool. */

import type { EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { loadEvaluator } from './evaluators.ts';

export type Task =
  | { readonly kind: 'evaluate'; readonly run: EvaluationRun }
  | { readonly kind: 'check_patterns'; readonly patterns: readonly string[] };

/** Loads the code for a task; what it resolves to does it. */
export async function prepareTask(task: Task): Promise<() => unknown> {
  if (task.kind === 'evaluate') {
    const evaluate = await loadEvaluator(task.run);
    return () => evaluate(task.run);
  }
  const { patternProblem } = await import('./pattern.ts');
  return () => task.patterns.map(patternProblem);
}
