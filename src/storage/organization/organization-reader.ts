/** Reads of the installation, of project numbers and of organizations. */

import type { ManagementStore } from '../../domain/management/management.ts';
import type { InstallationStore, RequestStore } from '../../domain/store.ts';
import { unpackGrant } from '../keys/key-records.ts';
import { type QueryRunner, queryInBatches } from '../queries.ts';

export function createInstallationReader({ queries: { organization }, runQuery }: QueryRunner) {
  return {
    readVerifier: async () => (await runQuery(organization.findVerifier, {}))[0]?.verifier ?? null,
    hasOrganization: async () => (await runQuery(organization.findAnyOrganization, {})).length > 0,
  } satisfies Partial<InstallationStore> & { hasOrganization(): Promise<boolean> };
}

/** The numbers of the projects in reports. */
export function createProjectNumbers({
  queries,
  runQuery,
  pointsPerQuery: pointsAtOnce,
}: QueryRunner): RequestStore['projectNumbers'] {
  return async (organizationId, ids) => {
    const find = (some: readonly string[]) =>
      runQuery(queries.organization.findProjectNumbers, { organizationId, ids: some });
    const rows = await queryInBatches(ids, pointsAtOnce, find);
    return new Map(rows.map(({ id, number }) => [id, number]));
  };
}

export function createOrganizationReader({ queries: { organization }, runQuery }: QueryRunner) {
  return {
    version: async (id) => (await runQuery(organization.findVersion, { id }))[0]?.accessVersion ?? 0,
    organization: async (id) => (await runQuery(organization.findOrganization, { id }))[0] ?? null,
    teams: (organizationId) => runQuery(organization.listTeams, { organizationId }),
    projects: (organizationId) => runQuery(organization.listProjects, { organizationId }),
    project: async (organizationId, id) =>
      (await runQuery(organization.findProject, { organizationId, id }))[0] ?? null,
    members: (organizationId) => runQuery(organization.listMembers, { organizationId }),
    member: async (organizationId, userId) =>
      (await runQuery(organization.findMember, { organizationId, userId }))[0] ?? null,
    roleBindings: async (organizationId, userId) =>
      (await runQuery(organization.listRoleBindings, { organizationId, userId })).map(unpackGrant),
    findAdministrators: (email) => runQuery(organization.findAdministrators, { email }),
  } satisfies Partial<ManagementStore>;
}
