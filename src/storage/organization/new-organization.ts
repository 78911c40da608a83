/** New organizations, with everything in them. */

import type { Bootstrap, InstallationStore, NewOrganization } from '../../domain/store.ts';
import { NEW_KEY } from '../keys/key-records.ts';
import type { Managing } from '../management.ts';
import type { Changing } from '../questions.ts';
import { storeRecords } from './commit.ts';

const INSTALLATION_ID = 1;

export function createNewOrganizations({
  transact,
}: Managing): Pick<InstallationStore, 'bootstrap' | 'addOrganization'> {
  return {
    bootstrap: (plan) =>
      transact(async (tx) => {
        // Of two processes one waits here for the other, and finds it done.
        const installation = { id: INSTALLATION_ID, verifier: plan.verifier };
        if ((await tx.change(tx.questions.organization.insertInstallation, installation)) === 0) return false;
        await storeNew(tx, { plan, actorKind: 'bootstrap' });
        return true;
      }),
    addOrganization: (plan) => transact((tx) => storeNew(tx, { plan, actorKind: 'cli' })),
  };
}

type New = { readonly plan: NewOrganization | Bootstrap; readonly actorKind: 'bootstrap' | 'cli' };

async function storeNew(tx: Changing, { plan, actorKind }: New): Promise<void> {
  const { organization, team, project, createdAtMs } = plan;
  const organizationId = organization.id;
  const times = { createdAtMs, updatedAtMs: createdAtMs };
  const { bindingId, ...member } = plan.member;
  const { bindingId: keyBindingId, ...apiKey } = plan.apiKey;
  const { userId } = member;
  const grant = { role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: organizationId, permissions: [] } as const;
  await tx.change(tx.questions.organization.insertOrganization, { ...organization, ...times });
  await storeRecords(tx, {
    organizationId,
    teams: [{ ...team, organizationId, ...times }],
    projects: [
      {
        ...project,
        organizationId,
        teamId: team.id,
        language: 'other',
        framework: 'other',
        previousKeyHash: null,
        previousKeyUntilMs: null,
        previousKeyImported: null,
        keyLastUsedAtMs: null,
        archivedAtMs: null,
        ...times,
      },
    ],
    members: [{ ...member, organizationId, disabledAtMs: null, ...times }],
    roleBindings: [{ organizationId, userId, id: bindingId, ...grant, createdAtMs }],
    apiKeys: [
      {
        ...apiKey,
        ...NEW_KEY,
        organizationId,
        keyType: 'personal',
        userId,
        createdByUserId: null,
        permissionMode: 'all',
        expiresAtMs: null,
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
  });
}
