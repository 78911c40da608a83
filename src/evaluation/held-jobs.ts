/**
 * The jobs of monitors that a worker has claimed: those that run, and those that wait to start. As with permits, an
 * organization may use all of the capacity but a part, and a project all of that but a part.
 */

import type { ClaimedJob } from '../domain/evaluations/jobs.ts';
import { allButOne, createCounts } from '../scheduling/semaphore.ts';
import type { CapacityOfKind, Owner } from './claim-shares.ts';

/** Short jobs are claimed in advance, so that one commit claims many; long ones only when they can start. */
const PREFETCH_FACTOR = 8;
const SHORT_RUN_MS = 50;
/** The share of one organization in the jobs claimed in advance, and of a project in these. */
const PREFETCH_SHARE = 3 / 4;
/** Projects whose last duration is remembered. */
const KNOWN_MAX = 1000;

export type HeldJob = {
  readonly job: ClaimedJob;
  readonly queue: Owner;
  leasedUntilMs: number;
  /** Null: the job waits to start. */
  running: { readonly stop: AbortController; readonly startedAtMs: number } | null;
};

/** The held jobs of one project. */
type Work = { readonly waiting: Set<HeldJob>; readonly running: Set<HeldJob> };

export type HeldJobs = ReturnType<typeof createHeldJobs>;

export function createHeldJobs(concurrency: number, monotonicMs: () => number) {
  const heldMax = concurrency * PREFETCH_FACTOR;
  const heldOfOrganizationMax = shareOf(heldMax, PREFETCH_SHARE);
  const heldOfProjectMax = shareOf(heldOfOrganizationMax, PREFETCH_SHARE);
  const runningOfOrganizationMax = allButOne(concurrency);
  const runningOfProjectMax = allButOne(runningOfOrganizationMax);
  // Projects with held jobs, in the order of their turns.
  const workByProject = new Map<number, Work>();
  const lastRunMs = new Map<number, number>();
  const held = createCounts<string>();
  const running = createCounts<string>();

  function heldOf(projectNumber: number): number {
    const work = workByProject.get(projectNumber);
    return work === undefined ? 0 : work.waiting.size + work.running.size;
  }

  function isSlow(projectNumber: number): boolean {
    if ((lastRunMs.get(projectNumber) ?? 0) >= SHORT_RUN_MS) return true;
    const startedBeforeMs = monotonicMs() - SHORT_RUN_MS;
    for (const each of workByProject.get(projectNumber)?.running ?? []) {
      if (each.running !== null && each.running.startedAtMs <= startedBeforeMs) return true;
    }
    return false;
  }

  /** The next job to start, skipping projects that run as many as they or their organization may. */
  function next(): HeldJob | null {
    if (running.total() >= concurrency) return null;
    for (const [projectNumber, work] of workByProject) {
      const [each] = work.waiting;
      if (each === undefined || work.running.size >= runningOfProjectMax) continue;
      if (running.of(each.queue.organizationId) >= runningOfOrganizationMax) continue;
      // Moves the project behind the others.
      workByProject.delete(projectNumber);
      workByProject.set(projectNumber, work);
      return each;
    }
    return null;
  }

  const ofOrganization = (organizationId: string) => heldOfOrganizationMax - held.of(organizationId);
  const capacity: CapacityOfKind = {
    free: () => heldMax - held.total(),
    ofOrganization,
    of({ projectNumber, organizationId }: Owner) {
      const ofProject = heldOf(projectNumber);
      const free = Math.min(heldMax - held.total(), ofOrganization(organizationId));
      if (!isSlow(projectNumber)) return Math.min(heldOfProjectMax - ofProject, free);
      const startable = Math.min(
        concurrency - running.total(),
        runningOfOrganizationMax - running.of(organizationId),
        runningOfProjectMax - ofProject,
      );
      return Math.min(startable, free);
    },
  };

  return {
    capacity,
    isSlow,
    runningCount: running.total,
    all: (): readonly HeldJob[] => [...workByProject.values()].flatMap((work) => [...work.waiting, ...work.running]),
    waiting: (): readonly HeldJob[] => [...workByProject.values()].flatMap((work) => [...work.waiting]),
    add(each: HeldJob): void {
      const work = workByProject.get(each.job.projectNumber) ?? { waiting: new Set(), running: new Set() };
      workByProject.set(each.job.projectNumber, work);
      work.waiting.add(each);
      held.add(each.queue.organizationId, 1);
    },
    /** Starts the next job; null: none may start now. */
    start(): { readonly each: HeldJob; readonly signal: AbortSignal } | null {
      const each = next();
      if (each === null) return null;
      const stop = new AbortController();
      each.running = { stop, startedAtMs: monotonicMs() };
      const work = workByProject.get(each.job.projectNumber);
      work?.waiting.delete(each);
      work?.running.add(each);
      running.add(each.queue.organizationId, 1);
      return { each, signal: stop.signal };
    },
    /** Whether the project has no more jobs than it may run. */
    isNearlyEmpty: (projectNumber: number) => heldOf(projectNumber) <= runningOfProjectMax,
    recordDuration({ job: { projectNumber }, running }: HeldJob): void {
      if (lastRunMs.size >= KNOWN_MAX) lastRunMs.clear();
      if (running !== null) lastRunMs.set(projectNumber, monotonicMs() - running.startedAtMs);
    },
    drop(each: HeldJob): void {
      const { projectNumber } = each.job;
      const work = workByProject.get(projectNumber);
      const wasRunning = work?.running.delete(each) ?? false;
      if (!wasRunning && !work?.waiting.delete(each)) return;
      held.add(each.queue.organizationId, -1);
      if (wasRunning) running.add(each.queue.organizationId, -1);
      if (heldOf(projectNumber) === 0) workByProject.delete(projectNumber);
    },
  };
}

/** The jobs that only wait for the store, and run beside those of monitors. */
export function createQuickJobs({ jobsMax, ofOrganizationMax }: { jobsMax: number; ofOrganizationMax: number }) {
  const ofProjectMax = shareOf(ofOrganizationMax, PREFETCH_SHARE);
  const jobs = new Set<HeldJob>();
  const organizations = createCounts<string>();
  const projects = createCounts<number>();
  const count = ({ queue: { projectNumber, organizationId } }: HeldJob, change: 1 | -1) => {
    organizations.add(organizationId, change);
    projects.add(projectNumber, change);
  };
  const free = () => jobsMax - jobs.size;
  const ofOrganization = (organizationId: string) => ofOrganizationMax - organizations.of(organizationId);
  const capacity: CapacityOfKind = {
    free,
    ofOrganization,
    of: ({ projectNumber, organizationId }) =>
      Math.min(free(), ofOrganization(organizationId), ofProjectMax - projects.of(projectNumber)),
  };
  return {
    capacity,
    jobs: jobs as ReadonlySet<HeldJob>,
    add(each: HeldJob): void {
      jobs.add(each);
      count(each, 1);
    },
    drop(each: HeldJob): void {
      if (jobs.delete(each)) count(each, -1);
    },
  };
}

function shareOf(count: number, share: number): number {
  return Math.max(1, Math.floor(count * share));
}
