/** The scopes of an organization that grants can name. */

import type { Directory, Scope } from '../keys/permissions.ts';
import type { ManagementStore, ProjectRecord, TeamRecord } from './management.ts';

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
