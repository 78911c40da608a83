/** Wires the evaluators: those of this process, the judge, and runs over traces. */

import type { Deps } from '../app/deps.ts';
import type { Clock } from '../domain/clock.ts';
import type { PriceResolver } from '../domain/pricing/prices.ts';
import { createBuiltinRunner } from '../evaluation/builtin/runner.ts';
import { createChat } from '../evaluation/judge/chat.ts';
import { createJudge } from '../evaluation/judge/judge.ts';
import { createJudgeBudget } from '../evaluation/judge/judge-budget.ts';
import { createPostJson } from '../evaluation/judge/post-json.ts';
import { createRunPages, type RunPagesDeps } from '../evaluation/run-pages.ts';
import { createRunner, type RunnerDeps } from '../evaluation/runner.ts';
import { type Loop, waitUnref } from '../scheduling/schedule.ts';
import { startRunWorker } from './search-run-worker.ts';

export type EvaluationPorts = ReturnType<typeof createEvaluating>['ports'];

type EvaluatingDeps = Pick<Deps, 'config' | 'store' | 'clock' | 'log'> &
  Pick<RunnerDeps, 'onEnd'> & { readonly prices: PriceResolver };

type WorkDeps = Pick<Deps, 'store' | 'random'> & Pick<RunPagesDeps, 'searches' | 'results'>;

/** Traces of a run that are evaluated concurrently. */
const TRACES_AT_ONCE = 4;
const OPENAI_HOST = 'api.openai.com';

export function createEvaluating({ config, store, prices, clock, onEnd, log }: EvaluatingDeps) {
  const { llm } = config;
  const stopping = new AbortController();
  const builtin = createBuiltinRunner(config.evaluators);
  const judge = createJudge({
    endpoint: createEndpoint(config, clock),
    model: llm.model,
    limits: llm.limits,
    budget: createJudgeBudget({
      store: store.judgeSpending,
      prices: prices.listed,
      clock,
      budgetNanoUsd: llm.budget.nanoUsd,
      mayBeUnpriced: llm.budget.mayBeUnpriced,
      onError: (error) =>
        log.warn({ err: error }, 'the cost of a judgement could not be stored; its highest price counts'),
    }),
    permitsMax: llm.concurrencyMax,
    permitTimeoutMs: llm.timeoutMs,
    prices,
    clock,
  });
  const monotonicMs = () => performance.now();
  const run = createRunner({ builtin: builtin.run, judge, monotonicMs, onEnd, log });
  let worker: Loop | null = null;
  return {
    ports: {
      run,
      checkPatterns: builtin.checkPatterns,
      renderTexts: builtin.renderTexts,
      /** Whether a language model is configured. */
      hasModel: llm.baseUrl !== null,
      /** Aborted when the process stops. */
      stopping: stopping.signal,
      /** Called after a run over traces was started or cancelled. */
      onRunChanged: () => worker?.wake(),
    },
    /** Starts the worker for runs over traces. */
    work({ store, searches, results, random }: WorkDeps): void {
      worker = startRunWorker({
        name: 'runs of evaluators',
        store: store.evaluatorRuns,
        workPage: createRunPages({
          evaluators: store.evaluators,
          findProject: store.keys.findProject,
          searches,
          results,
          run,
          clock,
          tracesAtOnce: TRACES_AT_ONCE,
        }),
        clock,
        random,
        wait: waitUnref,
        log,
      });
    },
    /** Aborts running evaluations. */
    async close(): Promise<void> {
      stopping.abort();
      await worker?.stop();
      await builtin.close();
    },
  };
}

function createEndpoint({ llm }: Deps['config'], clock: Clock): Parameters<typeof createJudge>[0]['endpoint'] {
  const { baseUrl, apiKey, timeoutMs } = llm;
  if (baseUrl === null) return null;
  const post = createPostJson({ url: `${baseUrl}/chat/completions`, apiKey, timeoutMs });
  return {
    ask: createChat({ post, wait: waitUnref, clock }),
    isOpenAi: new URL(baseUrl).hostname === OPENAI_HOST,
  };
}
