/** Complete, plausible records of an organization. */

import { randomBytes } from 'node:crypto';
import type {
  ApiKeyRecord,
  AuditRecord,
  ManagementChange,
  MemberRecord,
  ProjectRecord,
  RoleBindingRecord,
  TeamRecord,
} from '../../../src/domain/management/management.ts';
import type { Bootstrap, Management } from '../../../src/domain/management/management-port.ts';
import { RECEIVED_AT_MS, randomHex, samplePlan } from './samples.ts';
import type { Subject } from './subject.ts';

export const AT_MS = RECEIVED_AT_MS;

/** Bootstraps an organization and returns its plan. */
export async function found(store: Pick<Management, 'installation'>): Promise<Bootstrap> {
  const plan = samplePlan();
  await store.installation.bootstrap(plan);
  return plan;
}

/** Adds an empty organization and returns its id. */
export async function foundAnother({ execute }: Pick<Subject, 'execute'>): Promise<string> {
  const id = `organization_${randomHex(8)}`;
  await execute(
    `INSERT INTO organizations (id, name, slug, created_at, updated_at) VALUES ('${id}', 'Others', 'others', 0, 0)`,
  );
  return id;
}

export type Change = Partial<Omit<ManagementChange, 'organizationId' | 'expectedVersion'>>;

/** Commits on the current version. */
export async function change(
  { management }: Pick<Management, 'management'>,
  organizationId: string,
  changes: Change,
): Promise<void> {
  const expectedVersion = await management.version(organizationId);
  const outcome = await management.commit({ organizationId, expectedVersion, audit: [], ...changes });
  if (outcome !== 'stored') throw new Error(`the change is ${outcome}`);
}

const times = { createdAtMs: AT_MS, updatedAtMs: AT_MS + 1 };

export function sampleTeam(organizationId: string, changes: Partial<TeamRecord> = {}): TeamRecord {
  const id = `team_${randomHex(8)}`;
  return { organizationId, id, name: "The Team's", slug: id, ...times, ...changes };
}

export function sampleProject(team: { organizationId: string; id: string }, changes: Partial<ProjectRecord> = {}) {
  const id = `project_${randomHex(8)}`;
  const project: ProjectRecord = {
    organizationId: team.organizationId,
    teamId: team.id,
    id,
    name: 'Größe',
    slug: id,
    language: 'python',
    framework: 'other',
    keyHash: randomBytes(32),
    keyHint: 'wxyz',
    keyImported: false,
    previousKeyHash: null,
    previousKeyUntilMs: null,
    previousKeyImported: null,
    keyLastUsedAtMs: null,
    archivedAtMs: null,
    ...times,
    ...changes,
  };
  return project;
}

export function sampleMember(organizationId: string, changes: Partial<MemberRecord> = {}): MemberRecord {
  const userId = `user_${randomHex(8)}`;
  return {
    organizationId,
    userId,
    email: `${userId}@example.com`,
    name: 'M',
    disabledAtMs: null,
    ...times,
    ...changes,
  };
}

export function sampleRoleBinding(
  member: { organizationId: string; userId: string },
  changes: Partial<RoleBindingRecord> = {},
): RoleBindingRecord {
  return {
    organizationId: member.organizationId,
    userId: member.userId,
    id: `rolebinding_${randomHex(8)}`,
    role: 'MEMBER',
    scopeType: 'ORGANIZATION',
    scopeId: member.organizationId,
    permissions: [],
    createdAtMs: AT_MS,
    ...changes,
  };
}

export function sampleApiKey(organizationId: string, changes: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    organizationId,
    id: randomHex(16),
    keyType: 'service',
    name: 'a key',
    description: null,
    userId: null,
    createdByUserId: null,
    permissionMode: 'restricted',
    secretHash: randomBytes(32),
    imported: false,
    previousSecretHash: null,
    previousSecretUntilMs: null,
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    ...times,
    bindings: [sampleGrant(organizationId, ['traces:view'])],
    ...changes,
  };
}

export function sampleGrant(organizationId: string, permissions: readonly string[]): ApiKeyRecord['bindings'][number] {
  return {
    id: `rolebinding_${randomHex(8)}`,
    role: 'CUSTOM',
    scopeType: 'ORGANIZATION',
    scopeId: organizationId,
    permissions,
  };
}

export function sampleAudit(organizationId: string, changes: Partial<AuditRecord> = {}): AuditRecord {
  return {
    organizationId,
    id: `audit_${randomHex(16)}`,
    createdAtMs: AT_MS,
    actorKind: 'personal_key',
    actorUserId: 'user_1',
    actorKeyId: 'key1',
    action: 'apiKey.update',
    targetType: 'apiKey',
    targetId: 'key2',
    outcome: 'success',
    status: 200,
    code: null,
    fields: ['name', 'bindings'],
    ip: '::1',
    userAgent: 'curl',
    requestId: 'request_1',
    traceId: null,
    count: 1,
    ...changes,
  };
}
