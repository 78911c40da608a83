/**
 * Runs the jobs of the queue of evaluations: claims what is due, project after project, so that no backlog holds up the
 * others, keeps the leases of what it holds, and hands in what comes of each run. One project has all places but one at
 * most, however long its runs take.
 */

import type { ClaimedJob, EvaluationJobStore, JobOutcome } from '../domain/evaluations/jobs.ts';
import { Fault } from '../domain/fault.ts';
import { placesOfOwner } from './judge/places.ts';

export type JobWorkerDeps = {
  readonly store: EvaluationJobStore;
  /** Ends early when the signal says so; then its answer is thrown away. */
  readonly run: (job: ClaimedJob, signal: AbortSignal) => Promise<JobOutcome>;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** Resolves at once when the signal says so. */
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
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
/** Until a result is offered again to a store that could not take it. */
const END_RETRY_MS = 1000;
/** Of all that is claimed ahead, for one project. */
const AHEAD_SHARE = 3 / 4;
/** Projects whose last run is remembered. */
const KNOWN_MAX = 1000;

type Held = {
  readonly job: ClaimedJob;
  leasedUntilMs: number;
  /** Null: it waits for its place. */
  running: { readonly stop: AbortController; readonly startedAtMs: number } | null;
};

/** What is held of one project. */
type Work = { readonly waiting: Set<Held>; readonly running: Set<Held> };

export function createJobWorker(deps: JobWorkerDeps): JobWorker {
  const { store, nowMs, concurrency } = deps;
  const heldMax = concurrency * AHEAD_TIMES;
  const heldOfProjectMax = Math.max(1, Math.floor(heldMax * AHEAD_SHARE));
  const runningOfProjectMax = placesOfOwner(concurrency);
  // In the order in which the projects come next; only those of which something is held.
  const works = new Map<number, Work>();
  const lastRunMs = new Map<number, number>();
  let running = 0;
  let lastProject = 0;
  let isStopped = false;
  let drained: (() => void) | null = null;

  function held(): readonly Held[] {
    return [...works.values()].flatMap(({ waiting, running }) => [...waiting, ...running]);
  }

  function heldOf(projectNumber: number): number {
    const work = works.get(projectNumber);
    return work === undefined ? 0 : work.waiting.size + work.running.size;
  }

  function hold(each: Held): void {
    const work = works.get(each.job.projectNumber) ?? { waiting: new Set(), running: new Set() };
    works.set(each.job.projectNumber, work);
    work.waiting.add(each);
  }

  function forget(each: Held): void {
    const { projectNumber } = each.job;
    const work = works.get(projectNumber);
    work?.waiting.delete(each);
    work?.running.delete(each);
    if (heldOf(projectNumber) === 0) works.delete(projectNumber);
  }

  /** The next to begin, of the projects that have not all the places they may have. */
  function next(): Held | null {
    for (const [projectNumber, work] of works) {
      const [each] = work.waiting;
      if (each === undefined || work.running.size >= runningOfProjectMax) continue;
      // Whoever had a turn stands behind the others.
      works.delete(projectNumber);
      works.set(projectNumber, work);
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
      const work = works.get(each.job.projectNumber);
      work?.waiting.delete(each);
      work?.running.add(each);
      running += 1;
      void runOne(each, stop.signal, each.running.startedAtMs);
    }
  }

  async function runOne(each: Held, signal: AbortSignal, startedAtMs: number): Promise<void> {
    const { projectNumber } = each.job;
    try {
      const outcome = await deps.run(each.job, signal);
      noteRun(projectNumber, deps.monotonicMs() - startedAtMs);
      if (signal.aborted) await putBack([each.job]);
      else await end(each.job, outcome, signal);
    } catch (error) {
      // Whoever finds the lease over takes the job.
      if (!signal.aborted) deps.onError(error, 'an evaluation could not be made');
    }
    const wasFull = held().length >= heldMax;
    forget(each);
    running -= 1;
    if (running === 0) drained?.();
    begin();
    if (!isStopped && (wasFull || heldOf(projectNumber) <= runningOfProjectMax)) deps.onRoom();
  }

  /** A store that is full or away for a while costs no result: the lease is kept until the store has it. */
  async function end(job: ClaimedJob, outcome: JobOutcome, signal: AbortSignal): Promise<void> {
    while (true) {
      try {
        await store.end({ ...job, kind: 'evaluation', outcome });
        return;
      } catch (error) {
        if (!(error instanceof Fault && error.kind === 'unavailable') || signal.aborted) throw error;
        deps.onError(error, 'the result of an evaluation could not be stored yet');
      }
      await deps.wait(END_RETRY_MS, signal);
    }
  }

  function noteRun(projectNumber: number, durationMs: number): void {
    if (lastRunMs.size >= KNOWN_MAX) lastRunMs.clear();
    lastRunMs.set(projectNumber, durationMs);
  }

  function isSlow(projectNumber: number): boolean {
    if ((lastRunMs.get(projectNumber) ?? 0) >= SHORT_RUN_MS) return true;
    const startedBeforeMs = deps.monotonicMs() - SHORT_RUN_MS;
    for (const { running } of works.get(projectNumber)?.running ?? []) {
      if (running !== null && running.startedAtMs <= startedBeforeMs) return true;
    }
    return false;
  }

  async function putBack(jobs: readonly ClaimedJob[]): Promise<void> {
    if (jobs.length > 0) await store.release(jobs, nowMs());
  }

  /** What was claimed ahead for runs that turn out to be long is left to others. */
  async function putBackSlow(): Promise<void> {
    const slow = [...works].filter(([projectNumber]) => isSlow(projectNumber));
    const waiting = slow.flatMap(([, work]) => [...work.waiting]);
    for (const each of waiting) forget(each);
    await putBack(waiting.map(({ job }) => job));
  }

  /** What is not ours any more is given up. */
  async function renew(): Promise<void> {
    const ending = held().filter(({ leasedUntilMs }) => leasedUntilMs - nowMs() < RENEWED_BELOW_MS);
    if (ending.length === 0) return;
    const leasedUntilMs = nowMs() + JOB_LEASE_MS;
    const renewed = await store.renew(
      ending.map(({ job }) => job),
      leasedUntilMs,
    );
    for (const [index, each] of ending.entries()) {
      if (renewed[index] === true) each.leasedUntilMs = leasedUntilMs;
      else if (each.running === null) forget(each);
      else each.running.stop.abort();
    }
  }

  /** How much more may be claimed of a project. */
  function roomOf(projectNumber: number): number {
    const own = heldOf(projectNumber);
    if (isSlow(projectNumber)) return Math.min(runningOfProjectMax - own, concurrency - running);
    return Math.min(heldOfProjectMax - own, heldMax - held().length);
  }

  /** The projects whose turn it is, each with its share of the room. */
  function shareOut(due: readonly number[]): readonly { readonly projectNumber: number; readonly limit: number }[] {
    const free = heldMax - held().length;
    const next = due.findIndex((projectNumber) => projectNumber > lastProject);
    const inTurn = next <= 0 ? due : [...due.slice(next), ...due.slice(0, next)];
    const served = inTurn.filter((projectNumber) => roomOf(projectNumber) > 0).slice(0, Math.max(0, free));
    lastProject = served.at(-1) ?? lastProject;
    const share = Math.max(1, Math.floor(free / Math.max(1, served.length)));
    return served.map((projectNumber) => ({ projectNumber, limit: Math.min(share, roomOf(projectNumber)) }));
  }

  return {
    async look() {
      if (isStopped) return null;
      await renew();
      await putBackSlow();
      const queues = await store.queues();
      const now = nowMs();
      const due = queues.filter(({ dueAtMs }) => dueAtMs <= now).map(({ projectNumber }) => projectNumber);
      const shares = shareOut(due);
      if (shares.length > 0) {
        const jobs = await store.claim({ shares, nowMs: now, leaseMs: JOB_LEASE_MS, fence: deps.newFence() });
        for (const job of jobs) hold({ job, leasedUntilMs: now + JOB_LEASE_MS, running: null });
        begin();
      }
      if (due.some((projectNumber) => roomOf(projectNumber) > 0)) return now;
      const later = queues.filter(({ dueAtMs }) => dueAtMs > now).map(({ dueAtMs }) => dueAtMs);
      return later.length === 0 ? null : later.reduce((least, dueAtMs) => Math.min(least, dueAtMs));
    },
    async stop(drainMs) {
      isStopped = true;
      const waiting = held().filter((each) => each.running === null);
      for (const each of waiting) forget(each);
      await putBack(waiting.map(({ job }) => job)).catch((error) => deps.onError(error, 'jobs could not be put back'));
      if (running === 0) return;
      const ended = new Promise<void>((resolve) => {
        drained = resolve;
      });
      const timer = setTimeout(() => {
        for (const each of held()) each.running?.stop.abort();
      }, drainMs);
      await ended;
      clearTimeout(timer);
    },
  };
}
