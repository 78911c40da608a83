/**
 * Runs the jobs of the queue of evaluations: claims what is due, project after project, so that no backlog holds up the
 * others, keeps the leases of what it holds, and hands in what comes of each run.
 */

import type { ClaimedJob, EvaluationJobStore, JobOutcome } from '../domain/evaluations/jobs.ts';

export type JobWorkerDeps = {
  readonly store: EvaluationJobStore;
  /** Ends early when the signal says so; then its answer is thrown away. */
  readonly run: (job: ClaimedJob, signal: AbortSignal) => Promise<JobOutcome>;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** Never 0, and never the same twice. */
  readonly newFence: () => number;
  /** Jobs that run at once. */
  readonly concurrency: number;
  readonly onError: (error: unknown, doing: string) => void;
  /** There is room again. */
  readonly onRoom: () => void;
};

export type JobWorker = {
  /** Claims and begins what is due. Answers when to look again without being told; null: nothing waits. */
  look(): Promise<number | null>;
  /** Begins nothing any more, puts back what has not begun, and resolves when what runs has ended or the time is over. */
  stop(drainMs: number): Promise<void>;
};

/** While it lasts nobody else runs the job. */
export const JOB_LEASE_MS = 60_000;
/** Leases are renewed when less of them is left. */
const RENEWED_BELOW_MS = JOB_LEASE_MS / 2;
/** Short runs are claimed ahead, so that one commit claims many; long ones are left to whoever has a free place. */
const AHEAD_TIMES = 8;
const SHORT_RUN_MS = 50;

type Held = {
  readonly job: ClaimedJob;
  leasedUntilMs: number;
  /** Null: it waits for its place. */
  running: AbortController | null;
};

export function createJobWorker(deps: JobWorkerDeps): JobWorker {
  const { store, nowMs, concurrency } = deps;
  const held = new Set<Held>();
  let running = 0;
  let lastRunMs = 0;
  let lastProject = 0;
  let isStopped = false;
  let drained: (() => void) | null = null;

  function room(): number {
    return concurrency * (lastRunMs < SHORT_RUN_MS ? AHEAD_TIMES : 1) - held.size;
  }

  function begin(): void {
    for (const each of held) {
      if (running >= concurrency || isStopped) return;
      if (each.running !== null) continue;
      each.running = new AbortController();
      running += 1;
      void runOne(each, each.running.signal);
    }
  }

  async function runOne(each: Held, signal: AbortSignal): Promise<void> {
    const startedAtMs = deps.monotonicMs();
    try {
      const outcome = await deps.run(each.job, signal);
      lastRunMs = deps.monotonicMs() - startedAtMs;
      if (signal.aborted) await putBack([each.job]);
      else await store.end({ ...each.job, kind: 'evaluation', outcome });
    } catch (error) {
      // Whoever finds the lease over takes the job.
      if (!signal.aborted) deps.onError(error, 'an evaluation could not be made');
    }
    held.delete(each);
    running -= 1;
    if (running === 0) drained?.();
    begin();
    if (!isStopped && held.size <= concurrency) deps.onRoom();
  }

  async function putBack(jobs: readonly ClaimedJob[]): Promise<void> {
    if (jobs.length > 0) await store.release(jobs, nowMs());
  }

  /** What is not ours any more is given up. */
  async function renew(): Promise<void> {
    const ending = [...held].filter(({ leasedUntilMs }) => leasedUntilMs - nowMs() < RENEWED_BELOW_MS);
    if (ending.length === 0) return;
    const leasedUntilMs = nowMs() + JOB_LEASE_MS;
    const renewed = await store.renew(
      ending.map(({ job }) => job),
      leasedUntilMs,
    );
    for (const [index, each] of ending.entries()) {
      if (renewed[index] === true) each.leasedUntilMs = leasedUntilMs;
      else if (each.running === null) held.delete(each);
      else each.running.abort();
    }
  }

  /** The projects whose turn it is, each with its share of the room. */
  function shareOut(due: readonly number[]): readonly { readonly projectNumber: number; readonly limit: number }[] {
    const free = room();
    if (free <= 0 || due.length === 0) return [];
    const next = due.findIndex((projectNumber) => projectNumber > lastProject);
    const inTurn = next <= 0 ? due : [...due.slice(next), ...due.slice(0, next)];
    const served = inTurn.slice(0, free);
    lastProject = served.at(-1) ?? 0;
    const limit = Math.max(1, Math.floor(free / served.length));
    return served.map((projectNumber) => ({ projectNumber, limit }));
  }

  return {
    async look() {
      if (isStopped) return null;
      await renew();
      const queues = await store.queues();
      const now = nowMs();
      const due = queues.filter(({ dueAtMs }) => dueAtMs <= now).map(({ projectNumber }) => projectNumber);
      const shares = shareOut(due);
      if (shares.length > 0) {
        const jobs = await store.claim({ shares, nowMs: now, leaseMs: JOB_LEASE_MS, fence: deps.newFence() });
        for (const job of jobs) held.add({ job, leasedUntilMs: now + JOB_LEASE_MS, running: null });
        begin();
      }
      if (due.length > 0 && room() > 0) return now;
      const later = queues.filter(({ dueAtMs }) => dueAtMs > now).map(({ dueAtMs }) => dueAtMs);
      return later.length === 0 ? null : later.reduce((least, dueAtMs) => Math.min(least, dueAtMs));
    },
    async stop(drainMs) {
      isStopped = true;
      const waiting = [...held].filter((each) => each.running === null);
      for (const each of waiting) held.delete(each);
      await putBack(waiting.map(({ job }) => job)).catch((error) => deps.onError(error, 'jobs could not be put back'));
      if (running === 0) return;
      const ended = new Promise<void>((resolve) => {
        drained = resolve;
      });
      const timer = setTimeout(() => {
        for (const each of held) each.running?.abort();
      }, drainMs);
      await ended;
      clearTimeout(timer);
    },
  };
}
