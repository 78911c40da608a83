/** Wires the evaluators: those of this process, the judge, and runs over traces. */

import type { Config } from './config/config.ts';
import type { Clock, RandomBytes } from './domain/clock.ts';
import type { RunEvaluator } from './domain/evaluations/outcome.ts';
import type { CheckPatterns } from './domain/evaluators/text-rules.ts';
import type { PriceResolver } from './domain/pricing/prices.ts';
import type { Store } from './domain/store.ts';
import { createBuiltinRunner } from './evaluation/builtin/runner.ts';
import { createChat } from './evaluation/judge/chat.ts';
import { createJudge } from './evaluation/judge/judge.ts';
import { createPostJson } from './evaluation/judge/post-json.ts';
import { createRunner, type RunnerDeps } from './evaluation/runner.ts';
import { type RunsWorker, type RunsWorkerDeps, startRunsWorker } from './evaluation/runs-worker.ts';
import { waitUnref } from './schedule.ts';

export type EvaluationPorts = {
  readonly run: RunEvaluator;
  readonly checkPatterns: CheckPatterns;
  /** Whether a language model is configured. */
  readonly hasModel: boolean;
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal;
  /** Called after a run over traces was started or cancelled. */
  readonly onRunChanged: () => void;
};

type Evaluating = {
  readonly ports: EvaluationPorts;
  /** Starts the worker for runs over traces. */
  work(
    deps: Pick<RunsWorkerDeps, 'searches' | 'results'> & { readonly store: Store; readonly random: RandomBytes },
  ): void;
  /** Aborts running evaluations. */
  close(): Promise<void>;
};

type EvaluatingDeps = Pick<RunnerDeps, 'onEnd'> & {
  readonly log: RunnerDeps['log'] & RunsWorkerDeps['log'];
  readonly config: Config;
  readonly prices: PriceResolver;
  readonly clock: Clock;
};

/** Traces of a run that are evaluated concurrently. */
const TRACES_AT_ONCE = 4;
const FENCE_BYTES = 6;
const OPENAI_HOST = 'api.openai.com';

export function createEvaluating({ config, prices, clock, onEnd, log }: EvaluatingDeps): Evaluating {
  const { llm } = config;
  const stopping = new AbortController();
  const builtin = createBuiltinRunner(config.evaluators);
  const judge = createJudge({
    endpoint: createEndpoint(config, clock),
    model: llm.model,
    permitsMax: llm.concurrencyMax,
    permitTimeoutMs: llm.timeoutMs,
    prices,
    clock,
  });
  const monotonicMs = () => performance.now();
  const run = createRunner({ builtin: builtin.run, judge, monotonicMs, onEnd, log });
  let worker: RunsWorker | null = null;
  return {
    ports: {
      run,
      checkPatterns: builtin.checkPatterns,
      hasModel: llm.baseUrl !== null,
      stopping: stopping.signal,
      onRunChanged: () => worker?.wake(),
    },
    work({ store, searches, results, random }) {
      worker = startRunsWorker({
        store: store.evaluatorRuns,
        evaluators: store.evaluators,
        findProject: store.keys.findProject,
        searches,
        results,
        run,
        clock,
        tracesAtOnce: TRACES_AT_ONCE,
        fence: () => random(FENCE_BYTES).readUIntBE(0, FENCE_BYTES),
        wait: waitUnref,
        log,
      });
    },
    async close() {
      stopping.abort();
      await worker?.stop();
      await builtin.close();
    },
  };
}

function createEndpoint({ llm }: Config, clock: Clock): Parameters<typeof createJudge>[0]['endpoint'] {
  const { baseUrl, apiKey, timeoutMs } = llm;
  if (baseUrl === null) return null;
  const post = createPostJson({ url: `${baseUrl}/chat/completions`, apiKey, timeoutMs });
  return {
    ask: createChat({ post, wait: waitUnref, clock }),
    isOpenAi: new URL(baseUrl).hostname === OPENAI_HOST,
  };
}
