/** Whose API keys a caller sees, and whose they may change. What is hidden answers like what does not exist. */

import { isAdministrator, isAdministratorMember, type KeyCaller } from './administrators.ts';
import { Fault } from './fault.ts';
import type { ApiKeyRecord, KeyListing, ManagementStore } from './management.ts';
import { insufficientPermissions } from './management-call.ts';
import { may } from './permissions.ts';

const MANAGE = 'organization:manage';

/** `own`: the caller's and all service keys; `organization`: everything the caller sees. */
export const KEY_SCOPES = ['own', 'organization'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Whether the caller sees the key. Null, for no such key, is not seen. */
export function isVisible(caller: KeyCaller, key: ApiKeyRecord | null): key is ApiKeyRecord {
  if (key === null) return false;
  const manages = mayManage(caller);
  const seesEverybody = manages && isInCharge(caller);
  if (caller.key.keyType === 'service') return manages && (key.keyType === 'service' || seesEverybody);
  return key.keyType === 'service' || key.userId === caller.key.userId || seesEverybody;
}

/** Throws insufficient_permissions where a service key may list nothing. */
export function requireMayList(caller: KeyCaller): void {
  if (caller.key.keyType === 'service' && !mayManage(caller)) throw insufficientPermissions(MANAGE);
}

/** The personal keys that a listing holds. Throws insufficient_permissions. */
export function listedOwners(caller: KeyCaller, scope: KeyScope): KeyListing['personalOf'] {
  requireMayList(caller);
  if (caller.key.keyType === 'service') return isInCharge(caller) ? 'all' : null;
  if (scope === 'own') return caller.key.userId;
  if (!mayManage(caller)) throw insufficientPermissions(MANAGE);
  return isInCharge(caller) ? 'all' : caller.key.userId;
}

// No key has it.
const NO_ID = '';

/**
 * The key, when the caller sees it; else throws api_key_not_found. What is hidden and what does not exist cost the
 * same: one read that finds a key, and one that does not.
 */
export async function requireVisible(
  store: Pick<ManagementStore, 'apiKey'>,
  caller: KeyCaller,
  key: ApiKeyRecord | null,
): Promise<ApiKeyRecord> {
  if (isVisible(caller, key)) return key;
  await store.apiKey(caller.organization.id, key === null ? caller.key.id : NO_ID);
  throw new Fault('api_key_not_found', 'API key not found.');
}

/** Throws api_key_not_owned for another person's key, unless the caller is an administrator. */
export function requireMayChange(caller: KeyCaller, key: ApiKeyRecord): void {
  if (isOfAnother(caller, key) && !isAdministrator(caller, caller.organization.id)) {
    throw notOwnedFault('Only its owner or an administrator can change this API key.');
  }
}

/** Throws api_key_not_owned for another person's key: its token would act as that person. */
export function requireOwn(caller: KeyCaller, key: ApiKeyRecord): void {
  if (isOfAnother(caller, key)) throw notOwnedFault('Only its owner can rotate a personal API key.');
}

/** Service keys belong to nobody, so they are nobody else's either. */
function isOfAnother(caller: KeyCaller, key: ApiKeyRecord): boolean {
  return key.userId !== null && key.userId !== caller.key.userId;
}

function mayManage({ principal, organization }: KeyCaller): boolean {
  return may(principal, MANAGE, { type: 'ORGANIZATION', organizationId: organization.id });
}

function isInCharge(caller: KeyCaller): boolean {
  return isAdministratorMember(caller, caller.organization.id);
}

function notOwnedFault(message: string): Fault {
  return new Fault('api_key_not_owned', message);
}
