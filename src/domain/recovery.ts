/** The way back in when every administrator's key is lost: a key from the command line, beside the database. */

import { auditRecord } from './audit.ts';
import type { RandomBytes } from './clock.ts';
import { decide } from './decide.ts';
import { newId } from './ids.ts';
import type { ApiKeyRecord, ManagementStore } from './management.ts';
import { hashSecret, mintApiKey, type RootKeys } from './secrets.ts';

export type RecoveryDeps = {
  readonly store: ManagementStore;
  readonly rootKeys: Pick<RootKeys, 'pepper'>;
  readonly keyPrefix: string;
  readonly random: RandomBytes;
};

/** Where the command line acts there is no request. */
const NO_REQUEST = { ip: null, userAgent: null, requestId: null, traceId: null };

/**
 * Mints a personal key with everything an administrator may do, for an active member with the role ADMIN. Answers its
 * token; null when no such member has the e-mail. No ceiling is asked: whoever holds database and secret holds all.
 */
export async function recoverAdministrator(deps: RecoveryDeps, email: string, nowMs: number): Promise<string | null> {
  const { store, random } = deps;
  const found = await store.findAdministrator(email.toLowerCase());
  if (found === null) return null;
  const { organizationId } = found;
  const actor = { organizationId, actorKind: 'cli', actorUserId: null, actorKeyId: null, ...NO_REQUEST } as const;
  return await decide(store, organizationId, {
    async take() {
      // Somebody may have disabled or demoted the member since.
      const owner = await store.findAdministrator(email.toLowerCase());
      if (owner?.organizationId !== organizationId) return { result: null, change: null };
      const { token, record } = drawKey(deps, { organizationId, userId: owner.userId }, nowMs);
      const deed = { action: 'apiKey.create', targetType: 'apiKey', targetId: record.id, status: 201 };
      return { result: token, change: { apiKeys: [record], audit: [auditRecord(actor, deed, { nowMs, random })] } };
    },
  });
}

function drawKey(
  { rootKeys, keyPrefix, random }: RecoveryDeps,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  nowMs: number,
): { readonly token: string; readonly record: ApiKeyRecord } {
  const { keyId, secret, token } = mintApiKey(keyPrefix, random);
  const record: ApiKeyRecord = {
    organizationId,
    id: keyId,
    keyType: 'personal',
    name: 'Recovery admin key',
    description: null,
    userId,
    createdByUserId: null,
    permissionMode: 'all',
    secretHash: hashSecret(rootKeys.pepper, secret),
    imported: false,
    previousSecretHash: null,
    previousSecretUntilMs: null,
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    bindings: [
      {
        id: newId('rolebinding', random),
        role: 'ADMIN',
        scopeType: 'ORGANIZATION',
        scopeId: organizationId,
        permissions: [],
      },
    ],
  };
  return { token, record };
}
