/** What every start asks of the database, what reports ask of their organization, and what management sees of it. */

import type { ManagementStore } from '../../domain/management.ts';
import type { InstallationStore, RequestStore } from '../../domain/store.ts';
import { unpackGrant } from '../keys/key-records.ts';
import { type Asking, askInTurns, type CompiledOf } from '../questions.ts';
import type * as source from './questions.ts';

type OrganizationQuestions = CompiledOf<typeof source>;

export type InstallationReader = Pick<InstallationStore, 'readVerifier'> & { hasOrganization(): Promise<boolean> };

export function createInstallationReader({ questions, ask }: Asking<OrganizationQuestions>): InstallationReader {
  return {
    readVerifier: async () => (await ask(questions.findVerifier, {}))[0]?.verifier ?? null,
    hasOrganization: async () => (await ask(questions.findAnyOrganization, {})).length > 0,
  };
}

/** The numbers of projects that reports name. */
export function createProjectNumbers(asking: Asking<OrganizationQuestions>): RequestStore['projectNumbers'] {
  const { questions, ask, pointsAtOnce } = asking;
  return async (organizationId, ids) => {
    const find = (some: readonly string[]) => ask(questions.findProjectNumbers, { organizationId, ids: some });
    const rows = await askInTurns(ids, pointsAtOnce, find);
    return new Map(rows.map(({ id, number }) => [id, number]));
  };
}

export type OrganizationReader = Pick<
  ManagementStore,
  | 'version'
  | 'organization'
  | 'teams'
  | 'projects'
  | 'project'
  | 'members'
  | 'member'
  | 'roleBindings'
  | 'findAdministrators'
>;

export function createOrganizationReader({ questions, ask }: Asking<OrganizationQuestions>): OrganizationReader {
  return {
    version: async (id) => (await ask(questions.findVersion, { id }))[0]?.accessVersion ?? 0,
    organization: async (id) => (await ask(questions.findOrganization, { id }))[0] ?? null,
    teams: (organizationId) => ask(questions.listTeams, { organizationId }),
    projects: (organizationId) => ask(questions.listProjects, { organizationId }),
    project: async (organizationId, id) => (await ask(questions.findProject, { organizationId, id }))[0] ?? null,
    members: (organizationId) => ask(questions.listMembers, { organizationId }),
    member: async (organizationId, userId) => (await ask(questions.findMember, { organizationId, userId }))[0] ?? null,
    roleBindings: async (organizationId, userId) =>
      (await ask(questions.listRoleBindings, { organizationId, userId })).map(unpackGrant),
    findAdministrators: (email) => ask(questions.findAdministrators, { email }),
  };
}
