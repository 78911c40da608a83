/**
 * Ends jobs, and tries again while the store is unavailable. Those without a result are ended many at a time: what ends
 * while a commit runs shares the next one, and appends of traces need not read first.
 */

import type { ClaimedJob, EvaluationJobStore, JobOutcome } from '../domain/evaluations/jobs.ts';
import { Fault } from '../domain/fault.ts';

type EndDeps = {
  readonly store: Pick<EvaluationJobStore, 'drop' | 'end'>;
  /** Resolves at once when the signal is aborted. */
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown, doing: string) => void;
};

/** Delay before a failed attempt to store an outcome is repeated. */
const END_RETRY_MS = 1000;
/** Jobs that one commit drops. */
const DROPPED_MAX = 1000;
/** Those that end within this time may be dropped together. */
const DROPPED_TOGETHER_MS = 50;

type Dropping = { readonly job: ClaimedJob; readonly resolve: () => void; readonly reject: (error: unknown) => void };

/** Keeps the lease and retries while the store is unavailable, so that no outcome is lost. */
export function createJobEnd(deps: EndDeps) {
  const { store, wait, onError } = deps;
  const drop = createDrop(deps, () => Promise.resolve());
  const dropLater = createDrop(deps, (signal) => wait(DROPPED_TOGETHER_MS, signal));

  /** `isPatient`: the end of the job may wait for those of others. */
  return async (
    job: ClaimedJob,
    outcome: JobOutcome,
    { signal, isPatient }: { readonly signal: AbortSignal; readonly isPatient: boolean },
  ): Promise<void> => {
    while (true) {
      try {
        if (outcome.kind === 'drop') await (isPatient ? dropLater : drop)(job, signal);
        else await store.end({ ...job, kind: 'evaluation', outcome });
        return;
      } catch (error) {
        if (!(error instanceof Fault && error.kind === 'unavailable') || signal.aborted) throw error;
        onError(error, 'the result of an evaluation could not be stored yet');
      }
      await wait(END_RETRY_MS, signal);
    }
  };
}

/** Drops jobs one batch after the other; `pause` comes before each. */
function createDrop({ store }: Pick<EndDeps, 'store'>, pause: (signal: AbortSignal) => Promise<void>) {
  let waiting: Dropping[] = [];
  let isRunning = false;

  async function dropAll(signal: AbortSignal): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      await pause(signal);
      const some = waiting.slice(0, DROPPED_MAX);
      waiting = waiting.slice(DROPPED_MAX);
      try {
        await store.drop(some.map(({ job }) => job));
        for (const { resolve } of some) resolve();
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
    isRunning = false;
  }

  return (job: ClaimedJob, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ job, resolve, reject });
      if (!isRunning) void dropAll(signal);
    });
}
