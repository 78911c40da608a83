/** Stores a decision about an organization if nothing of the organization has changed since it was made. */

import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { ManagementChange, ManagementStore } from '../../domain/management.ts';
import { toBuffer } from '../rows/bytes.ts';
import { insertAudit } from './audit.ts';
import { storeApiKey } from './keys.ts';
import { Project, RoleBinding } from './organization.ts';
import {
  removeMember,
  storeMember,
  storeOrganization,
  storeProject,
  storeRoleBinding,
  storeTeam,
} from './organization-records.ts';
import { complete, holdClaim } from './receipts.ts';
import { moveOnFrom } from './version.ts';

type Outcome = Awaited<ReturnType<ManagementStore['commit']>>;

/** See ManagementStore.commit. */
export async function commit(fork: () => EntityManager, change: ManagementChange): Promise<Outcome> {
  try {
    return await fork().transactional((tx) => storeAll(tx, change));
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException && (await isKeyTaken(fork(), change))) return 'key_taken';
    throw error;
  }
}

async function storeAll(tx: EntityManager, change: ManagementChange): Promise<Outcome> {
  const { organizationId, expectedVersion, organization, receipt } = change;
  // Whoever has the claim now may have brought about the effect.
  if (receipt !== undefined && !(await holdClaim(tx, receipt))) return 'stale';
  if (!(await moveOnFrom(tx, organizationId, expectedVersion))) return 'stale';
  // Before what is stored: a member who is new may have the e-mail of one who goes.
  for (const { userId } of change.removedMembers ?? []) await removeMember(tx, organizationId, userId);
  for (const { userId, id } of change.removedRoleBindings ?? []) {
    await tx.nativeDelete(RoleBinding, { organizationId, userId, id });
  }
  if (organization !== undefined) await storeOrganization(tx, organization);
  for (const team of change.teams ?? []) await storeTeam(tx, team);
  for (const project of change.projects ?? []) await storeProject(tx, project);
  for (const member of change.members ?? []) await storeMember(tx, member);
  for (const binding of change.roleBindings ?? []) await storeRoleBinding(tx, binding);
  for (const key of change.apiKeys ?? []) await storeApiKey(tx, key);
  await insertAudit(tx, change.audit);
  if (receipt !== undefined) await complete(tx, receipt);
  return 'stored';
}

async function isKeyTaken(em: EntityManager, { projects = [] }: ManagementChange): Promise<boolean> {
  for (const { id, keyHash } of projects) {
    if ((await em.count(Project, { keyHash: toBuffer(keyHash), id: { $ne: id } })) > 0) return true;
  }
  return false;
}
