/** Runs the evaluators that need no model and no network. */

import type { RunEvaluator } from '../../domain/evaluations/outcome.ts';
import { loadEvaluator } from './evaluators.ts';
import { failed } from './outcomes.ts';

export type BuiltinRunner = {
  readonly run: RunEvaluator;
  /** Ends what still runs. */
  close(): Promise<void>;
};

export function createBuiltinRunner(): BuiltinRunner {
  return {
    run: async (run) => {
      try {
        const evaluate = await loadEvaluator(run);
        return evaluate(run);
      } catch (error) {
        return failed('EVALUATOR_ERROR', error instanceof Error ? error.message : String(error));
      }
    },
    close: async () => {},
  };
}
