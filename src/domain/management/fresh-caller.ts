/**
 * Reads the caller's rights again at commit time. A request may take long after its credential was verified; rights
 * revoked meanwhile must not survive in a key that it mints.
 */

import { Fault } from '../fault.ts';
import { principalOf } from '../keys/permissions.ts';
import type { KeyCaller } from '../organization/administrators.ts';
import type { ApiKeyRecord, ManagementStore, MemberRecord } from './management.ts';
import { type ManagementCall, requirePermission } from './management-call.ts';

export type FreshCall = ManagementCall & { readonly callingKey: ApiKeyRecord };

/**
 * Throws invalid_credentials when the calling key is no longer valid, and insufficient_permissions at the organization.
 */
export async function refreshCall(
  store: ManagementStore,
  call: ManagementCall,
  permission: string,
): Promise<FreshCall> {
  const fresh = await refreshRights(store, call);
  requirePermission(fresh, permission, { type: 'ORGANIZATION', organizationId: call.caller.organization.id });
  return fresh;
}

/**
 * Throws invalid_credentials when the calling key is no longer valid. The caller of this function checks permissions.
 */
export async function refreshRights(store: ManagementStore, call: ManagementCall): Promise<FreshCall> {
  const { key, organization } = call.caller;
  const { userId } = key;
  const [callingKey, member, ownerBindings] = await Promise.all([
    store.apiKey(organization.id, key.id),
    userId === null ? null : store.member(organization.id, userId),
    userId === null ? [] : store.roleBindings(organization.id, userId),
  ]);
  if (callingKey === null || !isAlive(callingKey, member, call)) {
    throw new Fault('invalid_credentials', 'The credential is not valid.');
  }
  const { bindings } = callingKey;
  const principal = principalOf(callingKey, ownerBindings);
  const caller = { ...call.caller, principal, key: { ...key, bindings, ownerBindings } };
  return { ...call, caller, callingKey };
}

function isAlive(key: ApiKeyRecord, owner: MemberRecord | null, { caller, nowMs }: ManagementCall): boolean {
  const ended = key.revokedAtMs !== null || (key.expiresAtMs !== null && key.expiresAtMs <= nowMs);
  const ownerActive = key.userId === null || (owner !== null && owner.disabledAtMs === null);
  return !ended && ownerActive && stillAccepts(key, caller, nowMs);
}

/** Whether the secret that was verified is still valid. */
function stillAccepts(key: ApiKeyRecord, { key: proven }: KeyCaller, nowMs: number): boolean {
  if (key.secretHash.equals(proven.secretHash)) return true;
  const { previousSecretHash, previousSecretUntilMs } = key;
  const overlaps = previousSecretUntilMs !== null && nowMs < previousSecretUntilMs;
  return overlaps && previousSecretHash?.equals(proven.secretHash) === true;
}
