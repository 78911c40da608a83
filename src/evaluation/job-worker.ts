/**
 * Runs evaluation jobs: claims due jobs, project by project, so that no backlog delays other projects; renews their
 * leases; and stores the outcome of each run. Those of monitors may take long, and share a few concurrent runs; the others
 * only wait for the store, and run beside them.
 */

import type { ClaimedJob, EvaluationJobStore, JobKind, JobOutcome } from '../domain/evaluations/jobs.ts';
import { type Capacity, divideCapacity, hasCapacity, inTurns, leavesSome, type Owner } from './claim-shares.ts';
import { createHeldJobs, createQuickJobs, type HeldJob } from './held-jobs.ts';
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
  /** Concurrent jobs of monitors. */
  readonly concurrency: number;
  readonly kindOf: (job: ClaimedJob) => JobKind;
  readonly onError: (error: unknown, doing: string) => void;
  /** Called when the worker can claim more jobs. */
  readonly onCapacity: () => void;
};

/** Until the lease expires no other process runs the job. */
const JOB_LEASE_MS = 60_000;
/** Leases with less time left are renewed. */
const RENEWED_BELOW_MS = JOB_LEASE_MS / 2;
/** Jobs of triggers at once. Many fit into one commit. */
const TRIGGERS = { jobsMax: 512, ofOrganizationMax: 448 };
/** Jobs that settle calls at once: each reads all calls of a trace. */
const CALLS = { jobsMax: 256, ofOrganizationMax: 32 };
/** What becomes due within this time is claimed together, unless a claim left jobs behind. */
const CLAIM_GAP_MS = 100;

export function createJobWorker(deps: JobWorkerDeps) {
  const { store, nowMs, kindOf } = deps;
  const held = createHeldJobs(deps.concurrency, deps.monotonicMs);
  const quick = { triggers: createQuickJobs(TRIGGERS), calls: createQuickJobs(CALLS) };
  const capacity: Capacity = {
    monitors: held.capacity,
    triggers: quick.triggers.capacity,
    calls: quick.calls.capacity,
  };
  const end = createJobEnd(deps);
  let polls = 0;
  let isStopped = false;
  let drained: (() => void) | null = null;

  const all = () => [...held.all(), ...quick.triggers.jobs, ...quick.calls.jobs];

  function begin(): void {
    while (!isStopped) {
      const started = held.start();
      if (started === null) return;
      void runOne(started.each, started.signal);
    }
  }

  async function runOne(each: HeldJob, signal: AbortSignal): Promise<void> {
    try {
      const outcome = await deps.run(each.job, signal);
      held.recordDuration(each);
      if (signal.aborted) await release([each.job]);
      else await end(each.job, outcome, { signal, isPatient: false });
    } catch (error) {
      // The job is claimed again when its lease expires.
      if (!signal.aborted) deps.onError(error, 'an evaluation could not be made');
    }
    const wasFull = held.capacity.free() <= 0;
    held.drop(each);
    if (isIdle()) drained?.();
    begin();
    const { projectNumber } = each.job;
    if (!isStopped && (wasFull || held.isNearlyEmpty(projectNumber))) deps.onCapacity();
  }

  async function runQuick(each: HeldJob, kind: keyof typeof quick): Promise<void> {
    const { signal } = each.running?.stop ?? new AbortController();
    quick[kind].add(each);
    try {
      const outcome = await deps.run(each.job, signal);
      if (signal.aborted) await release([each.job]);
      else await end(each.job, outcome, { signal, isPatient: true });
    } catch (error) {
      if (!signal.aborted) deps.onError(error, `a job of ${kind} could not be done`);
    }
    const wasFull = capacity[kind].of(each.queue) <= 0;
    quick[kind].drop(each);
    if (isIdle()) drained?.();
    if (wasFull && !isStopped) deps.onCapacity();
  }

  function isIdle(): boolean {
    return held.runningCount() === 0 && quick.triggers.jobs.size + quick.calls.jobs.size === 0;
  }

  async function release(jobs: readonly ClaimedJob[]): Promise<void> {
    if (jobs.length > 0) await store.release(jobs, nowMs());
  }

  /** Releases waiting jobs of projects whose runs turn out to be long. */
  async function releaseSlow(): Promise<void> {
    const waiting = held.waiting().filter(({ job }) => held.isSlow(job.projectNumber));
    for (const each of waiting) held.drop(each);
    await release(waiting.map(({ job }) => job));
  }

  /** Renews leases that expire soon, and drops jobs that another process has now. */
  async function renew(): Promise<void> {
    const ending = all().filter(({ leasedUntilMs }) => leasedUntilMs - nowMs() < RENEWED_BELOW_MS);
    if (ending.length === 0) return;
    const leasedUntilMs = nowMs() + JOB_LEASE_MS;
    const renewed = await store.renew(
      ending.map(({ job }) => job),
      leasedUntilMs,
    );
    for (const [index, each] of ending.entries()) {
      if (renewed[index] === true) each.leasedUntilMs = leasedUntilMs;
      else if (each.running === null) held.drop(each);
      else each.running.stop.abort();
    }
  }

  function accept(job: ClaimedJob, queue: Owner, leasedUntilMs: number): void {
    const kind = kindOf(job);
    if (kind === 'monitors') {
      held.add({ job, queue, leasedUntilMs, running: null });
      return;
    }
    const running = { stop: new AbortController(), startedAtMs: deps.monotonicMs() };
    void runQuick({ job, queue, leasedUntilMs, running }, kind);
  }

  return {
    /** Claims and starts due jobs. Returns when to poll next without a wake-up; null: no job waits. */
    async poll(): Promise<number | null> {
      if (isStopped) return null;
      await renew();
      await releaseSlow();
      const queues = await store.queues();
      const now = nowMs();
      const due = queues.filter(({ dueAtMs }) => dueAtMs <= now);
      const shares = divideCapacity(capacity, inTurns(due, polls));
      polls += 1;
      const jobs =
        shares.length === 0
          ? []
          : await store.claim({ shares, nowMs: now, leaseMs: JOB_LEASE_MS, fence: deps.newFence() });
      const queueOf = new Map(due.map((queue) => [queue.projectNumber, queue]));
      for (const job of jobs) {
        const { projectNumber } = job;
        const { organizationId } = queueOf.get(projectNumber) ?? { organizationId: '' };
        accept(job, { projectNumber, organizationId }, now + JOB_LEASE_MS);
      }
      begin();
      if (leavesSome(capacity, due, { shares, jobs, kindOf })) return now;
      const later = queues.filter(({ dueAtMs }) => dueAtMs > now).map(({ dueAtMs }) => dueAtMs);
      // Behind what stays due, because its kind has no capacity, jobs of other kinds become due.
      if (due.some((queue) => hasCapacity(capacity, queue))) later.push(now + CLAIM_GAP_MS);
      return later.length === 0 ? null : later.reduce((least, dueAtMs) => Math.min(least, dueAtMs));
    },
    /** Starts no more jobs, releases those that wait, and aborts running ones after `drainMs`. Resolves when all have ended. */
    async stop(drainMs: number): Promise<void> {
      isStopped = true;
      const waiting = held.waiting();
      for (const each of waiting) held.drop(each);
      await release(waiting.map(({ job }) => job)).catch((error) => deps.onError(error, 'jobs could not be put back'));
      if (isIdle()) return;
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      drained = resolve;
      const timer = setTimeout(() => {
        for (const each of all()) each.running?.stop.abort();
      }, drainMs);
      await ended;
      clearTimeout(timer);
    },
  };
}
