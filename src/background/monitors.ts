/** Runs monitors and the triggers on traces: polls the queue of evaluation jobs. */

import type { Deps } from '../app/deps.ts';
import { kindOfJob } from '../domain/evaluations/jobs.ts';
import type { RunEvaluator } from '../domain/evaluations/outcome.ts';
import { withSettlements } from '../domain/evaluations/settlement-run.ts';
import type { TraceResults } from '../domain/evaluations/trace-results.ts';
import { createMonitorRun } from '../domain/monitors/monitor-run.ts';
import type { RunCooperatively } from '../domain/steps.ts';
import { type TraceRunDeps, withTriggers } from '../domain/triggers/trace-run.ts';
import { createJobWorker } from '../evaluation/job-worker.ts';
import { startPollLoop } from '../scheduling/poll-loop.ts';
import { waitUnref } from '../scheduling/schedule.ts';

type MonitorRunnerDeps = Pick<Deps, 'config' | 'store' | 'clock' | 'retentionNowMs' | 'random' | 'log'> & {
  readonly run: RunEvaluator;
  readonly results: TraceResults;
  readonly runCooperatively: RunCooperatively;
  /** What the job of triggers on traces needs. */
  readonly traceRun: TraceRunDeps;
};

/** Shorter than the time a trace must stay unchanged before its job is due. */
const WAKE_GAP_MS = 200;
const GAP_MIN_MS = 5;
/** At least as long as any lease of a stopped process. */
const LEASES_MAX_MS = 120_000;
const FENCE_BYTES = 6;

export function startMonitorRunner(deps: MonitorRunnerDeps) {
  const { store, clock, config, log } = deps;
  const { evaluationJobs } = store;
  const traceDefaultDays = config.traceRetentionDays;
  let isFirst = evaluationJobs.isSingleProcess;
  const loop = startPollLoop({
    clock,
    store: evaluationJobs,
    async poll() {
      if (isFirst) await evaluationJobs.takeOver(clock(), LEASES_MAX_MS);
      isFirst = false;
      return await worker.poll();
    },
    wakeGapMs: () => WAKE_GAP_MS,
    gapMinMs: GAP_MIN_MS,
    waiting: 'evaluations wait for the store',
    log,
  });
  const worker = createJobWorker({
    store: evaluationJobs,
    run: withSettlements(
      { ...store, clock: loop.nowMs },
      withTriggers(
        { ...deps.traceRun, clock: loop.nowMs },
        createMonitorRun({ ...deps, ...store, clock: loop.nowMs, traceDefaultDays }),
      ),
    ),
    nowMs: loop.nowMs,
    monotonicMs: () => performance.now(),
    wait: waitUnref,
    newFence: () => deps.random(FENCE_BYTES).readUIntBE(0, FENCE_BYTES) + 1,
    concurrency: config.evaluators.concurrency,
    kindOf: kindOfJob,
    onError: loop.reportError,
    onCapacity: () => loop.schedule(GAP_MIN_MS),
  });
  loop.schedule(0);
  return {
    /** Starts no more jobs, and resolves when running ones are stored or released. */
    async stop(drainMs: number): Promise<void> {
      await loop.stop();
      await worker.stop(drainMs);
    },
  };
}
