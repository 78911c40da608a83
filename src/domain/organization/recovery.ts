/** Recovery when all administrator keys are lost: mints a key from the command line. */

import { newId } from '../ids.ts';
import type { ApiKeyRecord, ManagementStore, MemberRecord } from '../management/management.ts';
import { type AuditedProposal, type CommitDeps, commitAudited } from '../management/optimistic-commit.ts';
import { hashSecret, mintApiKey, type RootKeys } from '../secrets.ts';
import { grantsOfRole } from './member-grants.ts';
import { NEW_ADMIN_KEY } from './new-organization.ts';

type RecoveryDeps = CommitDeps & { readonly rootKeys: Pick<RootKeys, 'pepper'>; readonly keyPrefix: string };

/** The command line has no request. */
const NO_REQUEST = { ip: null, userAgent: null, requestId: null, traceId: null };

type Recovery =
  | { readonly kind: 'minted'; readonly token: string }
  /** No active member with the role ADMIN has the e-mail. */
  | { readonly kind: 'none' }
  /** Several organizations have such a member. */
  | { readonly kind: 'several'; readonly organizationIds: readonly string[] };

/** The member to mint a key for; the organization is needed when the e-mail is ambiguous. */
type LostAdministrator = { readonly email: string; readonly organizationId: string | null };

/**
 * Mints a personal key with the role ADMIN for an active member with that role. No permission is checked: whoever has
 * the database and the secret controls everything.
 */
export async function recoverAdministrator(
  deps: RecoveryDeps,
  lost: LostAdministrator,
  nowMs: number,
): Promise<Recovery> {
  const { store } = deps;
  const [found, ...others] = await findLost(store, lost);
  if (found === undefined) return { kind: 'none' };
  if (others.length > 0) {
    return { kind: 'several', organizationIds: [found, ...others].map((each) => each.organizationId) };
  }
  const { organizationId } = found;
  const actor = { organizationId, actorKind: 'cli', actorUserId: null, actorKeyId: null, ...NO_REQUEST } as const;
  return await commitAudited(deps, { actor, nowMs }, async (): Promise<AuditedProposal<Recovery>> => {
    // The member may have been disabled or demoted since.
    const [owner] = await findLost(store, { ...lost, organizationId });
    if (owner === undefined) return { result: { kind: 'none' }, change: null };
    const { token, record } = drawKey(deps, { organizationId, userId: owner.userId }, nowMs);
    const audited = { action: 'apiKey.create', targetId: record.id, status: 201 };
    return { result: { kind: 'minted', token }, change: { apiKeys: [record] }, audited };
  });
}

async function findLost(
  store: ManagementStore,
  { email, organizationId }: LostAdministrator,
): Promise<readonly MemberRecord[]> {
  const found = await store.findAdministrators(email.toLowerCase());
  return found.filter((each) => organizationId === null || each.organizationId === organizationId);
}

function drawKey(
  { rootKeys, keyPrefix, random }: RecoveryDeps,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  nowMs: number,
): { readonly token: string; readonly record: ApiKeyRecord } {
  const { keyId, secret, token } = mintApiKey(keyPrefix, random);
  const record: ApiKeyRecord = {
    ...NEW_ADMIN_KEY,
    organizationId,
    id: keyId,
    name: 'Recovery admin key',
    userId,
    secretHash: hashSecret(rootKeys.pepper, secret),
    imported: false,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    bindings: grantsOfRole('ADMIN', organizationId).map((grant) => ({ ...grant, id: newId('rolebinding', random) })),
  };
  return { token, record };
}
