/** Stores a decision about an organization if nothing of the organization has changed since it was made. */

import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { ManagementChange, ManagementStore, ProjectRecord } from '../../domain/management.ts';
import { toBuffer } from '../rows/bytes.ts';
import { Project, RoleBinding } from '../tables/organization.ts';
import { insertAudit } from './audit.ts';
import { storeApiKey } from './keys.ts';
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
import { storeWebhooks, TOO_OFTEN } from './webhook-commit.ts';

/**
 * `too_often`: an endpoint has changed more often than can be remembered. It is said, not thrown, because between
 * threads errors lose what tells them apart.
 */
export type CommitOutcome = Awaited<ReturnType<ManagementStore['commit']>> | 'too_often';

const KEY_TAKEN = new Error('a project key is still in use in another project');
const NOT_AS_READ = new Error('an endpoint or a delivery is not as it was read');
/** What undoes all of a change, and how that is told. */
const UNDONE: ReadonlyMap<unknown, CommitOutcome> = new Map([
  [KEY_TAKEN, 'key_taken'],
  [NOT_AS_READ, 'stale'],
  [TOO_OFTEN, 'too_often'],
]);

/** See ManagementStore.commit. */
export async function commit(fork: () => EntityManager, change: ManagementChange): Promise<CommitOutcome> {
  try {
    return await fork().transactional((tx) => storeAll(tx, change));
  } catch (error) {
    const outcome = UNDONE.get(error);
    if (outcome !== undefined) return outcome;
    const mayBeKey = error instanceof UniqueConstraintViolationException;
    if (mayBeKey && (await isAnyKeyInUse(fork(), change))) return 'key_taken';
    throw error;
  }
}

async function storeAll(tx: EntityManager, change: ManagementChange): Promise<CommitOutcome> {
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
  for (const project of change.projects ?? []) {
    // Only once it is stored: until then another project may turn the key into its one before, unseen.
    if ((await storeProject(tx, project)) && (await isKeyInUse(tx, project))) throw KEY_TAKEN;
  }
  for (const member of change.members ?? []) await storeMember(tx, member);
  for (const binding of change.roleBindings ?? []) await storeRoleBinding(tx, binding);
  for (const key of change.apiKeys ?? []) await storeApiKey(tx, key);
  await insertAudit(tx, change.audit);
  if (receipt !== undefined) await complete(tx, receipt);
  if (!(await storeWebhooks(tx, change))) throw NOT_AS_READ;
  return 'stored';
}

async function isAnyKeyInUse(em: EntityManager, { projects = [] }: ManagementChange): Promise<boolean> {
  for (const project of projects) if (await isKeyInUse(em, project)) return true;
  return false;
}

/** Whether another project has the key, or had it before and still works with it. */
async function isKeyInUse(em: EntityManager, project: ProjectRecord): Promise<boolean> {
  const keyHash = toBuffer(project.keyHash);
  const before = { previousKeyHash: keyHash, previousKeyUntilMs: { $gt: project.updatedAtMs } };
  return (await em.count(Project, { id: { $ne: project.id }, $or: [{ keyHash }, before] })) > 0;
}
