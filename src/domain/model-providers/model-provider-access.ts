/** Who may see and change model providers: those of all projects are asked for at the organization. */

import { Fault } from '../fault.ts';
import { isPossibleId } from '../ids.ts';
import { type Directory, may, type Principal } from '../keys/permissions.ts';
import { readDirectory } from '../management/directory.ts';
import type { ManagementStore } from '../management/management.ts';
import { insufficientPermissions, type ManagementCall, type Target } from '../management/management-call.ts';
import type { ModelProviderRecord } from './model-provider.ts';

export const VIEW = 'gatewayProviders:view';
export const MANAGE = 'gatewayProviders:manage';

type Used = Pick<ModelProviderRecord, 'organizationId' | 'projectIds'>;

/**
 * Whether the principal has the permission at the organization, or at each project that uses the stored provider. Archived
 * projects use it no longer; one that only they used is left to the organization.
 */
export function mayReach(principal: Principal, permission: string, used: Used, directory: Directory): boolean {
  const isLive = (id: string) => directory.locate('PROJECT', id) !== null;
  const projectIds = used.projectIds?.filter(isLive) ?? null;
  return mayAtAll(principal, permission, { ...used, projectIds }, directory);
}

function mayAtAll(
  principal: Principal,
  permission: string,
  { organizationId, projectIds }: Used,
  directory: Directory,
): boolean {
  if (may(principal, permission, { type: 'ORGANIZATION', organizationId })) return true;
  if (projectIds === null || projectIds.length === 0) return false;
  return projectIds.every((id) => {
    const scope = directory.locate('PROJECT', id);
    return scope !== null && may(principal, permission, scope);
  });
}

/** Throws model_provider_not_found for unknown and hidden providers, and insufficient_permissions. */
export async function requireProvider(
  store: ManagementStore,
  { call: { caller }, id }: Target,
  permission: string,
): Promise<ModelProviderRecord> {
  const organizationId = caller.organization.id;
  const [found, directory] = await Promise.all([
    isPossibleId(id) ? store.modelProvider(organizationId, id) : null,
    readDirectory(store, organizationId),
  ]);
  if (found === null || !mayReach(caller.principal, VIEW, found, directory)) {
    throw new Fault('model_provider_not_found', 'Model provider not found.');
  }
  if (!mayReach(caller.principal, permission, found, directory)) throw insufficientPermissions(permission);
  return found;
}

/**
 * Throws insufficient_permissions unless the caller may manage a provider of these projects, and project_not_found for
 * an unknown project only to callers who manage all of them.
 */
export async function requireMayOffer(store: ManagementStore, { caller }: ManagementCall, used: Used): Promise<void> {
  const directory = await readDirectory(store, used.organizationId);
  if (!mayAtAll(caller.principal, MANAGE, used, directory)) throw insufficientPermissions(MANAGE);
  const isUnknown = used.projectIds?.some((id) => directory.locate('PROJECT', id) === null) === true;
  if (isUnknown) throw new Fault('project_not_found', 'A project of project_ids is not found.');
}
