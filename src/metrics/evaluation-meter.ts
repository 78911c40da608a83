/** Counts runs of evaluators, whether a caller or a monitor started them. */

import type { Registry } from './registry.ts';

/** From comparisons of texts to calls of language models. */
const BOUNDS_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 100];

export function createEvaluationMeter(registry: Registry) {
  const ended = registry.counter({
    name: 'spandrel_evaluations_total',
    help: 'Runs of evaluators that ended, by the type of the evaluator and what came of it.',
    labels: ['type', 'status'],
  });
  const seconds = registry.histogram({
    name: 'spandrel_evaluation_seconds',
    help: 'How long runs of evaluators took, waiting included.',
    bounds: BOUNDS_SECONDS,
  });
  return {
    ended(type: string, status: string, durationMs: number): void {
      ended({ type, status });
      seconds({}, durationMs / 1000);
    },
  };
}
