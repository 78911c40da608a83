/**
 * Runs evaluation jobs: claims due jobs, project by project, so that no backlog delays other projects; renews their
 * leases; and stores the outcome of each run. One project may use all concurrent runs but one.
 */

import type { ClaimedJob, EvaluationJobStore, JobOutcome } from '../domain/evaluations/jobs.ts';
import { allButOne, createCounts } from '../scheduling/semaphore.ts';
import { type Capacity, divideCapacity, leavesSome, startAfter } from './claim-shares.ts';
import { createJobEnd } from './job-ends.ts';

type JobWorkerDeps = {
  readonly store: EvaluationJobStore;
  /** Ends early when the signal is aborted; its outcome is then ignored. */
  readonly run: (job: ClaimedJob, signal: AbortSignal) => Promise<JobOutcome>;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** Resolves at once when the signal is aborted. */
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
  /** Never 0, and never repeated. */
  readonly newFence: () => number;
  /** Concurrent jobs. */
  readonly concurrency: number;
  /** Whether a job only waits for the store, and so runs beside the concurrent ones. */
  readonly isQuick?: (job: ClaimedJob) => boolean;
  readonly onError: (error: unknown, doing: string) => void;
  /** Called when the worker can claim more jobs. */
  readonly onCapacity: () => void;
};

/** Until the lease expires no other process runs the job. */
const JOB_LEASE_MS = 60_000;
/** Leases with less time left are renewed. */
const RENEWED_BELOW_MS = JOB_LEASE_MS / 2;
/** Short jobs are claimed in advance, so that one commit claims many; long ones only when they can start. */
const PREFETCH_FACTOR = 8;
const SHORT_RUN_MS = 50;
/** The share of one project in the jobs claimed in advance. */
const PREFETCH_SHARE = 3 / 4;
/** Quick jobs at once, and those of one project. */
const QUICK_MAX = 512;
const QUICK_SHARE = 3 / 4;
/** What becomes due within this time is claimed together, unless a claim left jobs behind. */
const CLAIM_GAP_MS = 100;
/** Projects whose last duration is remembered. */
const KNOWN_MAX = 1000;

type HeldJob = {
  readonly job: ClaimedJob;
  leasedUntilMs: number;
  /** Null: the job waits to start. */
  running: { readonly stop: AbortController; readonly startedAtMs: number } | null;
};

/** The held jobs of one project. */
type Work = { readonly waiting: Set<HeldJob>; readonly running: Set<HeldJob> };

export function createJobWorker(deps: JobWorkerDeps) {
  const { store, nowMs, concurrency, isQuick = () => false } = deps;
  const heldMax = concurrency * PREFETCH_FACTOR;
  const heldOfProjectMax = Math.max(1, Math.floor(heldMax * PREFETCH_SHARE));
  const runningOfProjectMax = allButOne(concurrency);
  // Projects with held jobs, in the order of their turns.
  const workByProject = new Map<number, Work>();
  const lastRunMs = new Map<number, number>();
  const quick = new Set<HeldJob>();
  const quickOf = createCounts<number>();
  const end = createJobEnd(deps);
  let running = 0;
  let lastProject = 0;
  let isStopped = false;
  let drained: (() => void) | null = null;

  function held(): readonly HeldJob[] {
    return [...workByProject.values()].flatMap(({ waiting, running }) => [...waiting, ...running]);
  }

  function heldOf(projectNumber: number): number {
    const work = workByProject.get(projectNumber);
    return work === undefined ? 0 : work.waiting.size + work.running.size;
  }

  function hold(each: HeldJob): void {
    const work = workByProject.get(each.job.projectNumber) ?? { waiting: new Set(), running: new Set() };
    workByProject.set(each.job.projectNumber, work);
    work.waiting.add(each);
  }

  function drop(each: HeldJob): void {
    const { projectNumber } = each.job;
    const work = workByProject.get(projectNumber);
    work?.waiting.delete(each);
    work?.running.delete(each);
    if (heldOf(projectNumber) === 0) workByProject.delete(projectNumber);
  }

  /** The next job to start, skipping projects that run as many as they may. */
  function next(): HeldJob | null {
    for (const [projectNumber, work] of workByProject) {
      const [each] = work.waiting;
      if (each === undefined || work.running.size >= runningOfProjectMax) continue;
      // Moves the project behind the others.
      workByProject.delete(projectNumber);
      workByProject.set(projectNumber, work);
      return each;
    }
    return null;
  }

  function begin(): void {
    while (running < concurrency && !isStopped) {
      const each = next();
      if (each === null) return;
      const stop = new AbortController();
      each.running = { stop, startedAtMs: deps.monotonicMs() };
      const work = workByProject.get(each.job.projectNumber);
      work?.waiting.delete(each);
      work?.running.add(each);
      running += 1;
      void runOne(each, stop.signal, each.running.startedAtMs);
    }
  }

  async function runOne(each: HeldJob, signal: AbortSignal, startedAtMs: number): Promise<void> {
    const { projectNumber } = each.job;
    try {
      const outcome = await deps.run(each.job, signal);
      recordDuration(projectNumber, deps.monotonicMs() - startedAtMs);
      if (signal.aborted) await release([each.job]);
      else await end(each.job, outcome, { signal, isPatient: false });
    } catch (error) {
      // The job is claimed again when its lease expires.
      if (!signal.aborted) deps.onError(error, 'an evaluation could not be made');
    }
    const wasFull = held().length >= heldMax;
    drop(each);
    running -= 1;
    if (isIdle()) drained?.();
    begin();
    if (!isStopped && (wasFull || heldOf(projectNumber) <= runningOfProjectMax)) deps.onCapacity();
  }

  async function runQuick(each: HeldJob): Promise<void> {
    const { signal } = each.running?.stop ?? new AbortController();
    const { projectNumber } = each.job;
    quick.add(each);
    quickOf.add(projectNumber, 1);
    try {
      const outcome = await deps.run(each.job, signal);
      if (signal.aborted) await release([each.job]);
      else await end(each.job, outcome, { signal, isPatient: true });
    } catch (error) {
      if (!signal.aborted) deps.onError(error, 'triggers could not be tested on a trace');
    }
    const wasFull = quickCapacityOf(projectNumber) === 0;
    quick.delete(each);
    quickOf.add(projectNumber, -1);
    if (isIdle()) drained?.();
    if (wasFull && !isStopped) deps.onCapacity();
  }

  function isIdle(): boolean {
    return running === 0 && quick.size === 0;
  }

  function recordDuration(projectNumber: number, durationMs: number): void {
    if (lastRunMs.size >= KNOWN_MAX) lastRunMs.clear();
    lastRunMs.set(projectNumber, durationMs);
  }

  function isSlow(projectNumber: number): boolean {
    if ((lastRunMs.get(projectNumber) ?? 0) >= SHORT_RUN_MS) return true;
    const startedBeforeMs = deps.monotonicMs() - SHORT_RUN_MS;
    for (const { running } of workByProject.get(projectNumber)?.running ?? []) {
      if (running !== null && running.startedAtMs <= startedBeforeMs) return true;
    }
    return false;
  }

  async function release(jobs: readonly ClaimedJob[]): Promise<void> {
    if (jobs.length > 0) await store.release(jobs, nowMs());
  }

  /** Releases waiting jobs of projects whose runs turn out to be long. */
  async function releaseSlow(): Promise<void> {
    const slow = [...workByProject].filter(([projectNumber]) => isSlow(projectNumber));
    const waiting = slow.flatMap(([, work]) => [...work.waiting]);
    for (const each of waiting) drop(each);
    await release(waiting.map(({ job }) => job));
  }

  /** Renews leases that expire soon, and drops jobs that another process has now. */
  async function renew(): Promise<void> {
    const ending = [...held(), ...quick].filter(({ leasedUntilMs }) => leasedUntilMs - nowMs() < RENEWED_BELOW_MS);
    if (ending.length === 0) return;
    const leasedUntilMs = nowMs() + JOB_LEASE_MS;
    const renewed = await store.renew(
      ending.map(({ job }) => job),
      leasedUntilMs,
    );
    for (const [index, each] of ending.entries()) {
      if (renewed[index] === true) each.leasedUntilMs = leasedUntilMs;
      else if (each.running === null) drop(each);
      else each.running.stop.abort();
    }
  }

  /** How many more jobs of a project may be claimed. */
  function capacityOf(projectNumber: number): number {
    const heldOfProject = heldOf(projectNumber);
    if (isSlow(projectNumber)) return Math.min(runningOfProjectMax - heldOfProject, concurrency - running);
    return Math.min(heldOfProjectMax - heldOfProject, heldMax - held().length);
  }

  /** The same of quick ones. */
  function quickCapacityOf(projectNumber: number): number {
    return Math.min(QUICK_MAX - quick.size, Math.floor(QUICK_MAX * QUICK_SHARE) - quickOf.of(projectNumber));
  }

  function accept(job: ClaimedJob, leasedUntilMs: number): void {
    if (!isQuick(job)) {
      hold({ job, leasedUntilMs, running: null });
      return;
    }
    const running = { stop: new AbortController(), startedAtMs: deps.monotonicMs() };
    void runQuick({ job, leasedUntilMs, running });
  }

  const capacity: Capacity = {
    evaluations: { free: () => heldMax - held().length, of: capacityOf },
    triggers: { free: () => QUICK_MAX - quick.size, of: quickCapacityOf },
  };

  return {
    /** Claims and starts due jobs. Returns when to poll next without a wake-up; null: no job waits. */
    async poll(): Promise<number | null> {
      if (isStopped) return null;
      await renew();
      await releaseSlow();
      const queues = await store.queues();
      const now = nowMs();
      const due = queues.filter(({ dueAtMs }) => dueAtMs <= now).map(({ projectNumber }) => projectNumber);
      const shares = divideCapacity(capacity, startAfter(due, lastProject));
      lastProject = shares.at(-1)?.projectNumber ?? lastProject;
      const jobs =
        shares.length === 0
          ? []
          : await store.claim({ shares, nowMs: now, leaseMs: JOB_LEASE_MS, fence: deps.newFence() });
      for (const job of jobs) accept(job, now + JOB_LEASE_MS);
      begin();
      if (leavesSome(capacity, due, { shares, jobs, isQuick })) return now;
      const later = queues.filter(({ dueAtMs }) => dueAtMs > now).map(({ dueAtMs }) => dueAtMs);
      if (due.some((projectNumber) => capacityOf(projectNumber) > 0)) later.push(now + CLAIM_GAP_MS);
      return later.length === 0 ? null : later.reduce((least, dueAtMs) => Math.min(least, dueAtMs));
    },
    /** Starts no more jobs, releases those that wait, and aborts running ones after `drainMs`. Resolves when all have ended. */
    async stop(drainMs: number): Promise<void> {
      isStopped = true;
      const waiting = held().filter((each) => each.running === null);
      for (const each of waiting) drop(each);
      await release(waiting.map(({ job }) => job)).catch((error) => deps.onError(error, 'jobs could not be put back'));
      if (isIdle()) return;
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      drained = resolve;
      const timer = setTimeout(() => {
        for (const each of [...held(), ...quick]) each.running?.stop.abort();
      }, drainMs);
      await ended;
      clearTimeout(timer);
    },
  };
}
