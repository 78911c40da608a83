/** What exists once per database, and whole organizations in it. */

import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { Bootstrap, NewOrganization } from '../../domain/store.ts';
import { ApiKeyBinding } from '../tables/api-key-bindings.ts';
import { ApiKey } from '../tables/api-keys.ts';
import { AuditEntry } from '../tables/audit-log.ts';
import { Installation } from '../tables/installation.ts';
import { Member } from '../tables/members.ts';
import { Organization } from '../tables/organizations.ts';
import { Project } from '../tables/projects.ts';
import { RoleBinding } from '../tables/role-bindings.ts';
import { Team } from '../tables/teams.ts';

const INSTALLATION_ID = 1;

/** See InstallationStore.bootstrap. Byte values may come from another thread as plain byte arrays. */
export async function bootstrap(em: EntityManager, plan: Bootstrap): Promise<boolean> {
  try {
    return await em.transactional((tx) => insertAll(tx, plan));
  } catch (error) {
    // Another process was in the middle of it.
    if (error instanceof UniqueConstraintViolationException) return false;
    throw error;
  }
}

async function insertAll(tx: EntityManager, plan: Bootstrap): Promise<boolean> {
  if ((await tx.count(Organization)) > 0) return false;
  // First, so that of two processes one waits here for the other.
  await tx.insert(Installation, { id: INSTALLATION_ID, verifier: Buffer.from(plan.verifier) });
  await insertWhole(tx, plan, 'bootstrap');
  return true;
}

/** See InstallationStore.addOrganization. */
export async function addOrganization(em: EntityManager, plan: NewOrganization): Promise<void> {
  await em.transactional((tx) => insertWhole(tx, plan, 'cli'));
}

async function insertWhole(tx: EntityManager, plan: NewOrganization, actorKind: 'bootstrap' | 'cli'): Promise<void> {
  await insertOrganization(tx, plan);
  await insertAdministrator(tx, plan);
  await tx.insert(AuditEntry, {
    organizationId: plan.organization.id,
    id: plan.auditId,
    createdAtMs: plan.createdAtMs,
    actorKind,
    action: 'bootstrap',
    targetType: 'organization',
    targetId: plan.organization.id,
    outcome: 'success',
    status: 201,
    fieldsJson: '[]',
    count: 1,
  });
}

async function insertOrganization(tx: EntityManager, plan: NewOrganization): Promise<void> {
  const { organization, team, project } = plan;
  const times = { createdAtMs: plan.createdAtMs, updatedAtMs: plan.createdAtMs };
  await tx.insert(Organization, { ...organization, accessVersion: 0, ...times });
  await tx.insert(Team, { ...team, organizationId: organization.id, ...times });
  await tx.insert(Project, {
    id: project.id,
    name: project.name,
    slug: project.slug,
    organizationId: organization.id,
    teamId: team.id,
    language: 'other',
    framework: 'other',
    emitRequestEvents: true,
    keyHash: Buffer.from(project.keyHash),
    keyHint: project.keyHint,
    keyImported: project.keyImported,
    ...times,
  });
}

async function insertAdministrator(tx: EntityManager, plan: NewOrganization): Promise<void> {
  const { organization, member, apiKey } = plan;
  const times = { createdAtMs: plan.createdAtMs, updatedAtMs: plan.createdAtMs };
  const grant = { role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: organization.id, permissionsJson: '[]' } as const;
  await tx.insert(Member, {
    organizationId: organization.id,
    userId: member.userId,
    email: member.email,
    name: member.name,
    ...times,
  });
  await tx.insert(RoleBinding, {
    organizationId: organization.id,
    userId: member.userId,
    id: member.bindingId,
    ...grant,
    createdAtMs: plan.createdAtMs,
  });
  await tx.insert(ApiKey, {
    id: apiKey.id,
    organizationId: organization.id,
    keyType: 'personal',
    name: apiKey.name,
    userId: member.userId,
    permissionMode: 'all',
    secretHash: Buffer.from(apiKey.secretHash),
    imported: apiKey.imported,
    ...times,
  });
  await tx.insert(ApiKeyBinding, { apiKeyId: apiKey.id, position: 0, id: apiKey.bindingId, ...grant });
}
