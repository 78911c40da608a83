/** The scopes of an organization that grants can name. */

import { type Directory, may, projectScope, type Scope, teamScope } from '../keys/permissions.ts';
import type { ManagementStore, ProjectRecord, TeamRecord } from './management.ts';
import { insufficientPermissions, type ManagementCall } from './management-call.ts';

export type OrganizationDirectory = Directory & {
  readonly teams: readonly TeamRecord[];
  /** Without archived projects. */
  readonly projects: readonly ProjectRecord[];
};

export async function readDirectory(store: ManagementStore, organizationId: string): Promise<OrganizationDirectory> {
  const [teams, projects] = await Promise.all([store.teams(organizationId), store.projects(organizationId)]);
  const scopes = new Map<string, Scope>([[`ORGANIZATION ${organizationId}`, { type: 'ORGANIZATION', organizationId }]]);
  for (const { id } of teams) scopes.set(`TEAM ${id}`, { type: 'TEAM', organizationId, teamId: id });
  for (const { id, teamId } of projects) {
    scopes.set(`PROJECT ${id}`, { type: 'PROJECT', organizationId, teamId, projectId: id });
  }
  return { teams, projects, locate: (type, id) => scopes.get(`${type} ${id}`) ?? null };
}

/** Throws insufficient_permissions unless the caller holds the permission at the organization, or at any team or project. */
export async function requireSomewhere(
  store: ManagementStore,
  { caller }: ManagementCall,
  permission: string,
): Promise<void> {
  const organizationId = caller.organization.id;
  if (may(caller.principal, permission, { type: 'ORGANIZATION', organizationId })) return;
  const { teams, projects } = await readDirectory(store, organizationId);
  const scopes = [...teams.map(teamScope), ...projects.map(projectScope)];
  if (scopes.some((scope) => may(caller.principal, permission, scope))) return;
  throw insufficientPermissions(permission);
}
