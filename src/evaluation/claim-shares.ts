/** Divides the free capacity of a worker among the projects whose jobs are due. */

import type { ClaimedJob, ClaimShare } from '../domain/evaluations/jobs.ts';

/** Of all projects together, and of each. */
type CapacityOfKind = { readonly free: () => number; readonly of: (projectNumber: number) => number };
export type Capacity = { readonly evaluations: CapacityOfKind; readonly triggers: CapacityOfKind };

/** Projects that one claim serves. */
const PROJECTS_AT_ONCE = 256;

/** The projects in the order of their turns: first those after the one that was served last. */
export function startAfter(due: readonly number[], lastProject: number): readonly number[] {
  const next = due.findIndex((projectNumber) => projectNumber > lastProject);
  return next <= 0 ? due : [...due.slice(next), ...due.slice(0, next)];
}

/** The shares of the projects with any capacity, in the order of `due`. */
export function divideCapacity({ evaluations, triggers }: Capacity, due: readonly number[]): readonly ClaimShare[] {
  const served = due
    .map((projectNumber) => ({
      projectNumber,
      limit: evaluations.of(projectNumber),
      quick: triggers.of(projectNumber),
    }))
    .filter(({ limit, quick }) => limit > 0 || quick > 0)
    .slice(0, PROJECTS_AT_ONCE);
  const limits = divide(
    evaluations.free(),
    served.map(({ limit }) => limit),
  );
  const triggersLimits = divide(
    triggers.free(),
    served.map(({ quick }) => quick),
  );
  return served
    .map(({ projectNumber }, index) => ({
      projectNumber,
      limit: limits[index] ?? 0,
      triggersLimit: triggersLimits[index] ?? 0,
    }))
    .filter(({ limit, triggersLimit }) => limit > 0 || triggersLimit > 0);
}

/** Gives each with a capacity an equal share, or one to the first ones where there are fewer than they. */
function divide(free: number, capacities: readonly number[]): readonly number[] {
  const count = capacities.filter((capacity) => capacity > 0).length;
  const share = Math.max(1, Math.floor(free / Math.max(1, count)));
  let left = free;
  return capacities.map((capacity) => {
    const given = Math.max(0, Math.min(share, capacity, left));
    left -= given;
    return given;
  });
}

type Claimed = {
  readonly shares: readonly ClaimShare[];
  readonly jobs: readonly ClaimedJob[];
  readonly isQuick: (job: ClaimedJob) => boolean;
};

/** Whether due jobs were left for which there is capacity now: a share was too small, or there was none. */
export function leavesSome(
  { evaluations, triggers }: Capacity,
  due: readonly number[],
  { shares, jobs, isQuick }: Claimed,
): boolean {
  const jobsOf = Map.groupBy(jobs, ({ projectNumber }) => projectNumber);
  const shareOf = new Map(shares.map((share) => [share.projectNumber, share]));
  return due.some((projectNumber) => {
    const { limit = 0, triggersLimit = 0 } = shareOf.get(projectNumber) ?? {};
    const ofProject = jobsOf.get(projectNumber) ?? [];
    const quickCount = ofProject.filter(isQuick).length;
    if (quickCount >= triggersLimit && triggers.of(projectNumber) > 0) return true;
    return ofProject.length - quickCount >= limit && evaluations.of(projectNumber) > 0;
  });
}
