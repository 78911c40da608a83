/** Runs monitors: follows the queue of evaluations from start to stop. */

import type { Config } from './config.ts';
import type { Clock, RandomBytes } from './domain/clock.ts';
import type { RunEvaluator } from './domain/evaluations/outcome.ts';
import type { TraceResults } from './domain/evaluations/trace-results.ts';
import { createMonitorRun } from './domain/monitors/monitor-run.ts';
import type { Store } from './domain/store.ts';
import { createJobWorker } from './evaluation/job-worker.ts';
import { startLookLoop } from './queue/look-loop.ts';
import { waitUnseen } from './schedule.ts';

export type MonitorRunnerDeps = {
  readonly config: Config;
  readonly store: Store;
  readonly run: RunEvaluator;
  readonly results: TraceResults;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: { warn(fields: object, message: string): void };
};

export type MonitorRunner = {
  /** Begins nothing any more, and resolves when what was under way is stored or put back. */
  stop(drainMs: number): Promise<void>;
};

/** A trace settles for longer than this before anything is due. */
const WAKE_GAP_MS = 200;
const GAP_MIN_MS = 5;
/** Covers every lease of a process that is gone. */
const LEASES_MAX_MS = 120_000;
const FENCE_BYTES = 6;

export function startMonitorRunner(deps: MonitorRunnerDeps): MonitorRunner {
  const { store, clock, config, log } = deps;
  const { evaluationJobs } = store;
  const traceDefaultDays = config.traceRetentionDays;
  let isFirst = evaluationJobs.isAlone;
  const loop = startLookLoop({
    clock,
    store: evaluationJobs,
    async look() {
      if (isFirst) await evaluationJobs.takeOver(clock(), LEASES_MAX_MS);
      isFirst = false;
      return await worker.look();
    },
    wakeGapMs: () => WAKE_GAP_MS,
    gapMinMs: GAP_MIN_MS,
    waiting: 'evaluations wait for the store',
    log,
  });
  const worker = createJobWorker({
    store: evaluationJobs,
    run: createMonitorRun({ ...store, results: deps.results, run: deps.run, clock: loop.nowMs, traceDefaultDays }),
    nowMs: loop.nowMs,
    monotonicMs: () => performance.now(),
    wait: waitUnseen,
    newFence: () => deps.random(FENCE_BYTES).readUIntBE(0, FENCE_BYTES) + 1,
    concurrency: config.evaluators.concurrency,
    onError: loop.complain,
    onRoom: () => loop.arm(GAP_MIN_MS),
  });
  loop.arm(0);
  return {
    async stop(drainMs) {
      await loop.stop();
      await worker.stop(drainMs);
    },
  };
}
