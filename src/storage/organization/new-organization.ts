/** The rows of a new organization, the same in every store. Byte values may come from another thread as plain byte arrays. */

import type { Bootstrap, NewOrganization } from '../../domain/store.ts';
import type { Change, Compiled } from '../questions.ts';
import type * as source from './questions.ts';

export type OrganizationChanges = { readonly [Name in keyof typeof source]: Compiled<(typeof source)[Name]> };

/** One statement with what stands in its places. */
export type Step = { readonly name: string; readonly text: string; readonly cells: readonly unknown[] };

const INSTALLATION_ID = 1;

/** First of all, so that of two processes one waits here for the other. */
export function installationStep({ insertInstallation }: OrganizationChanges, { verifier }: Bootstrap): Step {
  return step(insertInstallation, { id: INSTALLATION_ID, verifier: Buffer.from(verifier) });
}

export function organizationSteps(
  changes: OrganizationChanges,
  plan: NewOrganization,
  actorKind: 'bootstrap' | 'cli',
): readonly Step[] {
  const { organization, team, project, createdAtMs } = plan;
  const organizationId = organization.id;
  const times = { createdAtMs, updatedAtMs: createdAtMs };
  const settings = { language: 'other', framework: 'other', emitRequestEvents: true };
  const keyHash = Buffer.from(project.keyHash);
  return [
    step(changes.insertOrganization, { ...organization, accessVersion: 0, ...times }),
    step(changes.insertTeam, { ...team, organizationId, ...times }),
    step(changes.insertProject, { ...project, keyHash, organizationId, teamId: team.id, ...settings, ...times }),
    ...administratorSteps(changes, plan),
    step(changes.insertAuditEntry, {
      organizationId,
      id: plan.auditId,
      createdAtMs,
      actorKind,
      action: 'bootstrap',
      targetType: 'organization',
      targetId: organizationId,
      outcome: 'success',
      status: 201,
      fieldsJson: '[]',
      count: 1,
    }),
  ];
}

function administratorSteps(changes: OrganizationChanges, plan: NewOrganization): readonly Step[] {
  const { member, apiKey, createdAtMs } = plan;
  const organizationId = plan.organization.id;
  const { userId } = member;
  const times = { createdAtMs, updatedAtMs: createdAtMs };
  const grant = { role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: organizationId, permissionsJson: '[]' } as const;
  return [
    step(changes.insertMember, { ...member, organizationId, ...times }),
    step(changes.insertRoleBinding, { organizationId, userId, id: member.bindingId, ...grant, createdAtMs }),
    step(changes.insertApiKey, {
      ...apiKey,
      secretHash: Buffer.from(apiKey.secretHash),
      organizationId,
      keyType: 'personal',
      userId,
      permissionMode: 'all',
      ...times,
    }),
    step(changes.insertApiKeyBinding, { apiKeyId: apiKey.id, position: 0, id: apiKey.bindingId, ...grant }),
  ];
}

function step<Params>({ name, text, cells }: Change<Params>, given: Params): Step {
  return { name, text, cells: cells(given) };
}
