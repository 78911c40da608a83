/** The code of a pool thread: runs one task after the other, and reports its start and its result. */

import { parentPort } from 'node:worker_threads';
import type { EvaluationRun } from '../../domain/evaluations/outcome.ts';
import type { RenderTask } from '../../domain/prompts/prompt-template.ts';
import type { ThreadReply } from '../pool/pool-thread.ts';
import { loadEvaluator } from './evaluators.ts';

const port = parentPort;
if (port === null) throw new Error('This file runs in a thread of its own.');

const reply = (message: ThreadReply) => port.postMessage(message);

port.on('message', async (task: Task) => {
  try {
    const work = await prepareTask(task);
    reply({ kind: 'begun' });
    reply({ kind: 'done', value: work() });
  } catch (error) {
    reply({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
});

export type Task =
  | { readonly kind: 'evaluate'; readonly run: SentRun }
  | { readonly kind: 'check_patterns'; readonly patterns: readonly string[] }
  | ({ readonly kind: 'render' } & RenderTask);

/** The settings as JSON text: numbers that keep their spelling cannot be sent to a thread. */
type SentRun = Omit<EvaluationRun, 'settings'> & { readonly settings: string };

/** Loads the code of a task, and resolves to the function that runs it. */
async function prepareTask(task: Task): Promise<() => unknown> {
  if (task.kind === 'evaluate') {
    const run: EvaluationRun = { ...task.run, settings: JSON.parse(task.run.settings) };
    const evaluate = await loadEvaluator(run);
    return () => evaluate(run);
  }
  if (task.kind === 'render') {
    const { loadRenderer } = await import('../../domain/prompts/prompt-template.ts');
    const render = await loadRenderer();
    return () => render(task);
  }
  const { patternProblem } = await import('./pattern.ts');
  return () => task.patterns.map(patternProblem);
}
