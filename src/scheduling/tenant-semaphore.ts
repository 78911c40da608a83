/**
 * A semaphore whose permits are shared by organizations, and then by the projects of each. Of those that wait, urgent
 * requests come first; organizations take turns, and so do the projects of each.
 */

import type { Tenant } from '../domain/caller.ts';
import { createOwnerQueue, type OwnerQueue } from './owner-queue.ts';
import { allButOne, createCounts, createSemaphoreOf } from './semaphore.ts';

/** Who asks for a permit, and whether before others. */
export type PermitRequest = { readonly tenant: Tenant; readonly isUrgent: boolean };

export type TenantSemaphoreOptions = {
  readonly permitsMax: number;
  /** How many urgent requests may wait, and how many others. */
  readonly waitingMax: number;
};

export type TenantSemaphore = ReturnType<typeof createTenantSemaphore>;

/** An organization may hold all permits but one, and a project all of these but one. */
export function createTenantSemaphore({ permitsMax, waitingMax }: TenantSemaphoreOptions) {
  const ofOrganizationMax = allButOne(permitsMax);
  const ofProjectMax = allButOne(ofOrganizationMax);
  const organizations = createCounts<string>();
  const projects = createCounts<string>();
  const urgent = createTenantQueue<() => void>(waitingMax);
  const other = createTenantQueue<() => void>(waitingMax);
  const queueOf = ({ isUrgent }: PermitRequest) => (isUrgent ? urgent : other);
  const mayAcquire = ({ organizationId, projectId }: Tenant) =>
    organizations.total() < permitsMax &&
    organizations.of(organizationId) < ofOrganizationMax &&
    projects.of(projectId) < ofProjectMax;
  return createSemaphoreOf<PermitRequest>({
    canAcquire: ({ tenant }) => mayAcquire(tenant),
    count({ tenant: { organizationId, projectId } }, change) {
      organizations.add(organizationId, change);
      projects.add(projectId, change);
    },
    waiting: {
      add: (request, grant) => queueOf(request).add(request.tenant, grant),
      remove: (request, grant) => queueOf(request).remove(request.tenant, grant),
      next: () => urgent.next(mayAcquire) ?? other.next(mayAcquire),
    },
  });
}

/** A queue of queues: an organization may fill half of it, and a project half of that. */
function createTenantQueue<T>(lengthMax: number): Pick<OwnerQueue<Tenant, T>, 'add' | 'remove' | 'next'> {
  const ofOrganizationMax = Math.ceil(lengthMax / 2);
  // Organizations in the order of their turns; the queue of each lets its projects take turns.
  const queues = new Map<string, OwnerQueue<Tenant['projectId'], T>>();
  let length = 0;

  return {
    add({ organizationId, projectId }, item) {
      if (length >= lengthMax) return 'full';
      const queue = queues.get(organizationId) ?? createOwnerQueue<string, T>(ofOrganizationMax);
      if (queue.add(projectId, item) !== 'added') return 'owner_full';
      queues.set(organizationId, queue);
      length += 1;
      return 'added';
    },
    remove({ organizationId, projectId }, item) {
      const queue = queues.get(organizationId);
      if (!queue?.remove(projectId, item)) return false;
      length -= 1;
      if (queue.length() === 0) queues.delete(organizationId);
      return true;
    },
    next(isAllowed = () => true) {
      for (const [organizationId, queue] of queues) {
        const item = queue.next((projectId) => isAllowed({ organizationId, projectId }));
        if (item === undefined) continue;
        length -= 1;
        // Moves the organization behind all others.
        queues.delete(organizationId);
        if (queue.length() > 0) queues.set(organizationId, queue);
        return item;
      }
      return undefined;
    },
  };
}
