/** Works on runs over the traces of searches, page by page: another process can continue a run at the next page. */

import type { Clock, RandomBytes } from '../domain/clock.ts';
import { Fault } from '../domain/fault.ts';
import type { Leased, PageOutcome, SearchRun, SearchRunStore } from '../domain/traces/search/search-run.ts';
import { type Loop, startLoop, type Wait } from '../scheduling/schedule.ts';

export type RunWorkerDeps<Run extends SearchRun> = {
  /** What the runs do, for the log. */
  readonly name: string;
  readonly store: Pick<SearchRunStore<Run>, 'lease' | 'advance'>;
  /**
   * Works on the next page of a run. Once the signal is aborted, what it returns says how far it came: the rest of the page
   * comes again. Throws a Fault other than unavailable to end the run.
   */
  readonly workPage: (run: Leased<Run>, signal: AbortSignal) => Promise<PageOutcome<Run>>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly wait: Wait;
  readonly log: { warn(fields: object, message: string): void };
};

const FENCE_BYTES = 6;
const POLL_MS = 2_000;
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;
/** Delay after a failure, and the failures in a row that end a run. */
const RETRY_MS = 5_000;
const FAILURES_MAX = 100;

/** To be woken after a run was started or cancelled. A stop waits for the page that is worked on: its run continues later. */
export function startRunWorker<Run extends SearchRun>(deps: RunWorkerDeps<Run>): Loop {
  return startLoop({
    ...{ retryDelayMs: POLL_MS, wait: deps.wait },
    run: async (signal, wait) => ((await workOnce({ ...deps, wait }, signal)) ? 0 : POLL_MS),
    onError: (error) => deps.log.warn({ err: error }, `${deps.name} could not be worked on`),
  });
}

/** False when no run is free. */
async function workOnce<Run extends SearchRun>(deps: RunWorkerDeps<Run>, stopping: AbortSignal): Promise<boolean> {
  const nowMs = deps.clock();
  const fence = deps.random(FENCE_BYTES).readUIntBE(0, FENCE_BYTES);
  const run = await deps.store.lease({ nowMs, untilMs: nowMs + LEASE_MS, fence });
  if (run === null) return false;
  await workOn(deps, run, stopping);
  return true;
}

/** Works on one page only, so that a long run does not delay others: the run that waited longest is next. */
async function workOn<Run extends SearchRun>(
  deps: RunWorkerDeps<Run>,
  run: Leased<Run>,
  stopping: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const lost = new AbortController();
  const renewing = renew(deps, run, { done: done.signal, lost });
  const signal = AbortSignal.any([stopping, lost.signal]);
  try {
    const { next, restMs } = await deps.workPage(run, signal);
    if (!lost.signal.aborted) await save(deps, next, stopping.aborted ? 0 : restMs);
  } catch (error) {
    await recordFailure(deps, run, error);
  } finally {
    done.abort();
    await renewing;
  }
}

type Renewing = { readonly done: AbortSignal; readonly lost: AbortController };

/** Renews the lease, and sets `lost` when the run was cancelled or leased by another process. */
async function renew<Run extends SearchRun>(
  deps: RunWorkerDeps<Run>,
  run: Leased<Run>,
  { done, lost }: Renewing,
): Promise<void> {
  for (;;) {
    await deps.wait(RENEW_MS, done);
    if (done.aborted) return;
    try {
      if (await save(deps, run, LEASE_MS)) continue;
      lost.abort();
      return;
    } catch (error) {
      deps.log.warn({ err: error }, `the lease of one of ${deps.name} could not be renewed`);
    }
  }
}

function save<Run extends SearchRun>(deps: RunWorkerDeps<Run>, run: Leased<Run>, leaseMs: number): Promise<boolean> {
  const nowMs = deps.clock();
  return deps.store.advance({ ...run, updatedAtMs: Math.max(run.updatedAtMs, nowMs), leasedUntilMs: nowMs + leaseMs });
}

/** Lets the run be retried later; a permanent failure ends it. */
async function recordFailure<Run extends SearchRun>(
  deps: RunWorkerDeps<Run>,
  run: Leased<Run>,
  error: unknown,
): Promise<void> {
  const failures = run.failures + 1;
  const isPermanent = (error instanceof Fault && error.kind !== 'unavailable') || failures >= FAILURES_MAX;
  deps.log.warn({ err: error, run: run.id }, `one of ${deps.name} was broken off`);
  const message = error instanceof Fault ? error.message : 'The run failed again and again.';
  await save(deps, isPermanent ? failed(run, message) : { ...run, failures }, RETRY_MS);
}

/** The run once it cannot go on. */
export function failed<Run extends SearchRun>(run: Leased<Run>, error: string): Leased<Run> {
  return { ...run, status: 'failed', error };
}
