/** Organizations, teams, projects and members between the rows and what the domain knows. */

import type { EntityManager, InferEntity } from '@mikro-orm/core';
import type {
  MemberRecord,
  OrganizationRecord,
  ProjectRecord,
  RoleBindingRecord,
  TeamRecord,
} from '../../domain/management.ts';
import { toBuffer, toBufferOrNull } from '../rows/bytes.ts';
import { Member, Organization, Project, RoleBinding, Team } from '../tables/organization.ts';
import { toGrant, toGrantRow } from './grants.ts';

const OLDEST_FIRST = { createdAtMs: 'asc', id: 'asc' } as const;

export async function readOrganization(em: EntityManager, id: string): Promise<OrganizationRecord | null> {
  const row = await em.findOne(Organization, { id });
  if (row === null) return null;
  const { number: _, accessVersion: __, ...organization } = row;
  return organization;
}

export async function storeOrganization(tx: EntityManager, organization: OrganizationRecord): Promise<void> {
  const { id, name, slug, updatedAtMs } = organization;
  await tx.nativeUpdate(Organization, { id }, { name, slug, updatedAtMs });
}

export async function listTeams(em: EntityManager, organizationId: string): Promise<readonly TeamRecord[]> {
  const rows = await em.find(Team, { organizationId }, { orderBy: OLDEST_FIRST });
  return rows.map((row) => ({ ...row }));
}

export async function storeTeam(tx: EntityManager, team: TeamRecord): Promise<void> {
  const { organizationId, id } = team;
  if ((await tx.nativeUpdate(Team, { organizationId, id }, team)) === 0) await tx.insert(Team, team);
}

/** Without those that are archived. */
export async function listProjects(em: EntityManager, organizationId: string): Promise<readonly ProjectRecord[]> {
  const rows = await em.find(Project, { organizationId, archivedAtMs: null }, { orderBy: OLDEST_FIRST });
  return rows.map(toProject);
}

export async function readProject(
  em: EntityManager,
  organizationId: string,
  id: string,
): Promise<ProjectRecord | null> {
  const row = await em.findOne(Project, { organizationId, id });
  return row === null ? null : toProject(row);
}

/**
 * Leaves alone the settings of a known project, and when its key was last used. Answers whether the key is one that
 * the project did not have before.
 */
export async function storeProject(tx: EntityManager, project: ProjectRecord): Promise<boolean> {
  const { organizationId, id } = project;
  const row = toProjectRow(project);
  if ((await tx.nativeUpdate(Project, { organizationId, id, keyHash: row.keyHash }, row)) > 0) return false;
  if ((await tx.nativeUpdate(Project, { organizationId, id }, row)) > 0) return true;
  const fresh = { keyLastUsedAtMs: project.keyLastUsedAtMs, emitRequestEvents: true, traceRetentionDays: null };
  await tx.insert(Project, { ...row, ...fresh });
  return true;
}

export async function listMembers(em: EntityManager, organizationId: string): Promise<readonly MemberRecord[]> {
  const rows = await em.find(Member, { organizationId }, { orderBy: { createdAtMs: 'asc', userId: 'asc' } });
  return rows.map((row) => ({ ...row }));
}

export async function readMember(
  em: EntityManager,
  organizationId: string,
  userId: string,
): Promise<MemberRecord | null> {
  const row = await em.findOne(Member, { organizationId, userId });
  return row === null ? null : { ...row };
}

export async function storeMember(tx: EntityManager, member: MemberRecord): Promise<void> {
  const { organizationId, userId } = member;
  if ((await tx.nativeUpdate(Member, { organizationId, userId }, member)) === 0) await tx.insert(Member, member);
}

/** The schema removes the grants together with their member. */
export async function removeMember(tx: EntityManager, organizationId: string, userId: string): Promise<void> {
  await tx.nativeDelete(Member, { organizationId, userId });
}

/** See ManagementStore.findAdministrators. */
export async function findAdministrators(em: EntityManager, email: string): Promise<readonly MemberRecord[]> {
  const members = await em.find(
    Member,
    { email, disabledAtMs: null },
    { orderBy: { createdAtMs: 'asc', userId: 'asc' } },
  );
  const found: MemberRecord[] = [];
  for (const member of members) {
    const { organizationId, userId } = member;
    const grant = { role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: organizationId } as const;
    if ((await em.count(RoleBinding, { organizationId, userId, ...grant })) > 0) found.push({ ...member });
  }
  return found;
}

/** Of one member, or of all when `userId` is null; oldest first. */
export async function listRoleBindings(
  em: EntityManager,
  organizationId: string,
  userId: string | null,
): Promise<readonly RoleBindingRecord[]> {
  const where = { organizationId, ...(userId === null ? {} : { userId }) };
  const rows = await em.find(RoleBinding, where, { orderBy: OLDEST_FIRST });
  return rows.map((row) => ({
    ...toGrant(row),
    organizationId: row.organizationId,
    userId: row.userId,
    createdAtMs: row.createdAtMs,
  }));
}

export async function storeRoleBinding(tx: EntityManager, binding: RoleBindingRecord): Promise<void> {
  const { organizationId, userId, id, createdAtMs } = binding;
  const row = { ...toGrantRow(binding), organizationId, userId, createdAtMs };
  if ((await tx.nativeUpdate(RoleBinding, { organizationId, userId, id }, row)) === 0) {
    await tx.insert(RoleBinding, row);
  }
}

function toProject(row: InferEntity<typeof Project>): ProjectRecord {
  const { number: _, emitRequestEvents: __, traceRetentionDays: ___, ...project } = row;
  return project;
}

function toProjectRow({ keyLastUsedAtMs: _, ...project }: ProjectRecord) {
  return {
    ...project,
    keyHash: toBuffer(project.keyHash),
    previousKeyHash: toBufferOrNull(project.previousKeyHash),
  };
}
