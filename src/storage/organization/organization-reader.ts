/** What every start asks of the database, what reports ask of their organization, and what management sees of it. */

import type { ManagementStore } from '../../domain/management.ts';
import type { InstallationStore, RequestStore } from '../../domain/store.ts';
import { unpackGrant } from '../keys/key-records.ts';
import { type Asking, askInTurns } from '../questions.ts';

export function createInstallationReader({ questions: { organization }, ask }: Asking) {
  return {
    readVerifier: async () => (await ask(organization.findVerifier, {}))[0]?.verifier ?? null,
    hasOrganization: async () => (await ask(organization.findAnyOrganization, {})).length > 0,
  } satisfies Partial<InstallationStore> & { hasOrganization(): Promise<boolean> };
}

/** The numbers of projects that reports name. */
export function createProjectNumbers({ questions, ask, pointsAtOnce }: Asking): RequestStore['projectNumbers'] {
  return async (organizationId, ids) => {
    const find = (some: readonly string[]) =>
      ask(questions.organization.findProjectNumbers, { organizationId, ids: some });
    const rows = await askInTurns(ids, pointsAtOnce, find);
    return new Map(rows.map(({ id, number }) => [id, number]));
  };
}

export function createOrganizationReader({ questions: { organization }, ask }: Asking) {
  return {
    version: async (id) => (await ask(organization.findVersion, { id }))[0]?.accessVersion ?? 0,
    organization: async (id) => (await ask(organization.findOrganization, { id }))[0] ?? null,
    teams: (organizationId) => ask(organization.listTeams, { organizationId }),
    projects: (organizationId) => ask(organization.listProjects, { organizationId }),
    project: async (organizationId, id) => (await ask(organization.findProject, { organizationId, id }))[0] ?? null,
    members: (organizationId) => ask(organization.listMembers, { organizationId }),
    member: async (organizationId, userId) =>
      (await ask(organization.findMember, { organizationId, userId }))[0] ?? null,
    roleBindings: async (organizationId, userId) =>
      (await ask(organization.listRoleBindings, { organizationId, userId })).map(unpackGrant),
    findAdministrators: (email) => ask(organization.findAdministrators, { email }),
  } satisfies Partial<ManagementStore>;
}
