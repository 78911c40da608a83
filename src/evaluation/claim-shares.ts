/** Divides the free capacity of a worker among the projects whose jobs are due, for each kind of job. */

import {
  type ClaimedJob,
  type ClaimShare,
  JOB_KINDS,
  type JobKind,
  type JobQueue,
} from '../domain/evaluations/jobs.ts';

/** A project with jobs. */
export type Owner = Pick<JobQueue, 'projectNumber' | 'organizationId'>;

/** How many more jobs may be claimed: at all, of an organization, and of a project. */
export type CapacityOfKind = {
  readonly free: () => number;
  readonly ofOrganization: (organizationId: string) => number;
  readonly of: (owner: Owner) => number;
};
export type Capacity = Readonly<Record<JobKind, CapacityOfKind>>;

/** Projects that one claim serves. */
const PROJECTS_AT_ONCE = 256;

/** The projects, where each poll begins with another one: the first may get what others of the organization lack. */
export function inTurns(due: readonly JobQueue[], poll: number): readonly JobQueue[] {
  if (due.length === 0) return due;
  const first = (poll * (due.length > PROJECTS_AT_ONCE ? PROJECTS_AT_ONCE : 1)) % due.length;
  return [...due.slice(first), ...due.slice(0, first)];
}

/** The shares of the projects with any capacity, in the order of `due`. */
export function divideCapacity(capacity: Capacity, due: readonly JobQueue[]): readonly ClaimShare[] {
  const served = due.filter((queue) => hasCapacity(capacity, queue)).slice(0, PROJECTS_AT_ONCE);
  const divided = {
    monitors: divide(capacity.monitors, served),
    triggers: divide(capacity.triggers, served),
    calls: divide(capacity.calls, served),
  };
  return served
    .map(({ projectNumber }, index) => {
      const limitOf = (kind: JobKind) => divided[kind][index] ?? 0;
      return {
        projectNumber,
        limits: { monitors: limitOf('monitors'), triggers: limitOf('triggers'), calls: limitOf('calls') },
      };
    })
    .filter(({ limits }) => JOB_KINDS.some((kind) => limits[kind] > 0));
}

/** Whether any job of the project may be claimed. */
export function hasCapacity(capacity: Capacity, queue: Owner): boolean {
  return JOB_KINDS.some((kind) => capacity[kind].of(queue) > 0);
}

/**
 * Gives each with a capacity an equal share, of all that is free and of what its organization has left, or one to the first
 * ones where there are fewer than they.
 */
function divide({ free, ofOrganization, of }: CapacityOfKind, queues: readonly JobQueue[]): readonly number[] {
  const capacities = queues.map(of);
  const able = queues.filter((_, index) => (capacities[index] ?? 0) > 0);
  const ableOf = Map.groupBy(able, ({ organizationId }) => organizationId);
  const shareOf = (available: number, count: number) => Math.max(1, Math.floor(available / Math.max(1, count)));
  const share = shareOf(free(), able.length);
  const leftOf = new Map<string, number>();
  let left = free();
  return queues.map(({ organizationId }, index) => {
    const ofOwner = leftOf.get(organizationId) ?? ofOrganization(organizationId);
    const fair = shareOf(ofOrganization(organizationId), ableOf.get(organizationId)?.length ?? 0);
    const given = Math.max(0, Math.min(share, fair, capacities[index] ?? 0, left, ofOwner));
    left -= given;
    leftOf.set(organizationId, ofOwner - given);
    return given;
  });
}

type Claimed = {
  readonly shares: readonly ClaimShare[];
  readonly jobs: readonly ClaimedJob[];
  readonly kindOf: (job: ClaimedJob) => JobKind;
};

/**
 * Whether due jobs were left for which there is capacity now: a share was too small, or there was none while others had jobs of
 * the kind.
 */
export function leavesSome(capacity: Capacity, due: readonly JobQueue[], { shares, jobs, kindOf }: Claimed): boolean {
  const claimedKinds = new Set(jobs.map(kindOf));
  const jobsOf = Map.groupBy(jobs, ({ projectNumber }) => projectNumber);
  const shareOf = new Map(shares.map((share) => [share.projectNumber, share]));
  return due.some((queue) => {
    const limits = shareOf.get(queue.projectNumber)?.limits;
    const counts = Object.groupBy(jobsOf.get(queue.projectNumber) ?? [], kindOf);
    const isLeft = (kind: JobKind, limit: number) =>
      limit > 0 ? (counts[kind]?.length ?? 0) >= limit : claimedKinds.has(kind);
    return JOB_KINDS.some((kind) => isLeft(kind, limits?.[kind] ?? 0) && capacity[kind].of(queue) > 0);
  });
}
