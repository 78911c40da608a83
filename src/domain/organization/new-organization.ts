/** The initial records of a new organization. */

import type { ManagementChange } from '../management/management.ts';
import type { NewOrganization } from '../management/management-port.ts';

/** The fields of a key that was never changed or used. */
export const NEW_KEY = {
  description: null,
  previousSecretHash: null,
  previousSecretUntilMs: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
} as const;

/** The fields of an administrator's key that nobody asked for over the API. */
export const NEW_ADMIN_KEY = {
  ...NEW_KEY,
  keyType: 'personal',
  createdByUserId: null,
  permissionMode: 'all',
  expiresAtMs: null,
} as const;

/** The fields of a project that was never changed or used. */
export const NEW_PROJECT = {
  previousKeyHash: null,
  previousKeyUntilMs: null,
  previousKeyImported: null,
  keyLastUsedAtMs: null,
  archivedAtMs: null,
} as const;

export function recordsOfNew(
  plan: NewOrganization,
  actorKind: 'bootstrap' | 'cli',
): Omit<ManagementChange, 'expectedVersion' | 'organization'> {
  const { team, project, createdAtMs } = plan;
  const organizationId = plan.organization.id;
  const times = { createdAtMs, updatedAtMs: createdAtMs };
  const { bindingId, ...member } = plan.member;
  const { bindingId: keyBindingId, ...apiKey } = plan.apiKey;
  const { userId } = member;
  const grant = { role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: organizationId, permissions: [] } as const;
  return {
    organizationId,
    teams: [{ ...team, organizationId, ...times }],
    projects: [
      {
        ...project,
        organizationId,
        teamId: team.id,
        language: 'other',
        framework: 'other',
        ...NEW_PROJECT,
        ...times,
      },
    ],
    members: [{ ...member, organizationId, disabledAtMs: null, ...times }],
    roleBindings: [{ organizationId, userId, id: bindingId, ...grant, createdAtMs }],
    apiKeys: [
      {
        ...apiKey,
        ...NEW_ADMIN_KEY,
        organizationId,
        userId,
        ...times,
        bindings: [{ id: keyBindingId, ...grant }],
      },
    ],
    audit: [
      {
        organizationId,
        id: plan.auditId,
        createdAtMs,
        actorKind,
        actorUserId: null,
        actorKeyId: null,
        action: 'bootstrap',
        targetType: 'organization',
        targetId: organizationId,
        outcome: 'success',
        status: 201,
        code: null,
        fields: [],
        ip: null,
        userAgent: null,
        requestId: null,
        traceId: null,
        count: 1,
      },
    ],
  };
}
