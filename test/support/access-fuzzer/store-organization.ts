/** Writes an organization of the model into the database, through the store. */

import { randomBytes } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { hashSecret } from '../../../src/domain/secrets.ts';
import type { Foreign } from '../../api/access/foreign.ts';
import type { Key, Organization, Project, RoleBinding } from '../access-model/state.ts';
import type { TestApp } from '../app.ts';

const LONG_AGO = { createdAtMs: 1, updatedAtMs: 1 };
const SECRET_CHARACTERS = 48;

/** Stores all rows but those of `first`. */
export async function storeOrganization(app: TestApp, organization: Organization, first: Foreign): Promise<void> {
  const { id: organizationId, teams, projects, members, keys } = organization;
  const { management } = app.store;
  const without = <R>(rows: ReadonlyMap<string, R>, id: string) =>
    [...rows].filter(([known]) => known !== id).map(([, row]) => row);
  const outcome = await management.commit({
    organizationId,
    expectedVersion: await management.version(organizationId),
    teams: without(teams, first.teamId).map((team) => ({ ...team, organizationId, slug: team.id, ...LONG_AGO })),
    projects: without(projects, first.projectId).map((project) => projectRow(app, organizationId, project)),
    members: without(members, first.userId).map(({ role: _, ...member }) => ({ ...member, organizationId })),
    roleBindings: roleRows(organization, first.bindingId),
    apiKeys: without(keys, first.keyId).map((key) => keyRow(app, organizationId, key)),
    audit: [],
  });
  if (outcome !== 'stored') throw new Error(`the organization is ${outcome}`);
}

function projectRow({ rootKeys }: TestApp, organizationId: string, { secret, archived: _, ...project }: Project) {
  const token = secret.current ?? '';
  return {
    ...project,
    organizationId,
    slug: project.id,
    keyHash: hashSecret(rootKeys.pepper, token),
    keyHint: token.slice(-4),
    keyImported: false,
    previousKeyHash: null,
    previousKeyUntilMs: null,
    previousKeyImported: null,
    keyLastUsedAtMs: null,
    archivedAtMs: null,
  };
}

function roleRows({ id: organizationId, members, roleIds, roleBindings }: Organization, firstId: string) {
  const atOrganization = { scopeType: 'ORGANIZATION', scopeId: organizationId, permissions: [] } as const;
  const roles = [...roleIds].flatMap(([id, userId]): RoleBinding[] => {
    const role = members.get(userId)?.role ?? 'EXTERNAL';
    return role === 'EXTERNAL' || id === firstId ? [] : [{ ...atOrganization, id, userId, role }];
  });
  return [...roles, ...roleBindings].map((binding) => ({ ...binding, organizationId, createdAtMs: 1 }));
}

function keyRow({ rootKeys }: TestApp, organizationId: string, { secret, grants, ...key }: Key) {
  return {
    ...key,
    organizationId,
    secretHash: hashSecret(rootKeys.pepper, (secret.current ?? '').slice(-SECRET_CHARACTERS)),
    imported: false,
    previousSecretHash: null,
    previousSecretUntilMs: null,
    lastUsedAtMs: null,
    bindings: grants.map((grant) => ({ ...grant, id: newId('rolebinding', randomBytes) })),
  };
}
