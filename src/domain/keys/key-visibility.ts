/** Which API keys a caller may see and change. Hidden keys look like unknown ones. */

import { Fault } from '../fault.ts';
import type { ApiKeyRecord, KeyListing, ManagementStore } from '../management/management.ts';
import { insufficientPermissions } from '../management/management-call.ts';
import { isAdministratorMember, type KeyCaller } from '../organization/administrators.ts';
import { may } from './permissions.ts';

const MANAGE = 'organization:manage';

/** `own`: the caller's keys and all service keys; `organization`: all keys the caller may see. */
export const KEY_SCOPES = ['own', 'organization'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Whether the caller may see the key; false for null (no such key). */
function isVisible(caller: KeyCaller, key: ApiKeyRecord | null): key is ApiKeyRecord {
  if (key === null) return false;
  const manages = mayManage(caller);
  const seesEverybody = manages && isInCharge(caller);
  if (key.id === caller.key.id) return true;
  if (caller.key.keyType === 'service') return manages && (key.keyType === 'service' || seesEverybody);
  return key.keyType === 'service' || key.userId === caller.key.userId || seesEverybody;
}

/** Throws insufficient_permissions for a service key that may not list keys. */
export function requireMayList(caller: KeyCaller): void {
  if (caller.key.keyType === 'service' && !mayManage(caller)) throw insufficientPermissions(MANAGE);
}

/** The owners whose personal keys a list includes. Throws insufficient_permissions. */
export function listedOwners(caller: KeyCaller, scope: KeyScope): KeyListing['personalOf'] {
  requireMayList(caller);
  if (caller.key.keyType === 'service') return isInCharge(caller) ? 'all' : null;
  if (scope === 'own') return caller.key.userId;
  if (!mayManage(caller)) throw insufficientPermissions(MANAGE);
  return isInCharge(caller) ? 'all' : caller.key.userId;
}

// No key has this id.
const NO_ID = '';

/**
 * The key, when the caller may see it; else throws api_key_not_found. Hidden and unknown keys cost the same: one read
 * that finds a key, and one that does not.
 */
export async function requireVisible(
  store: Pick<ManagementStore, 'apiKey'>,
  caller: KeyCaller,
  key: ApiKeyRecord | null,
): Promise<ApiKeyRecord> {
  if (isVisible(caller, key)) return key;
  await store.apiKey(caller.organization.id, (key === null ? caller.key.id : null) ?? NO_ID);
  throw new Fault('api_key_not_found', 'API key not found.');
}

/**
 * Throws api_key_not_owned for another person's key, unless the member behind the call is an administrator. The key may be
 * narrow: the operation requires organization:manage, and the ceiling bounds what the key is changed to.
 */
export function requireMayChange(caller: KeyCaller, key: ApiKeyRecord): void {
  if (isOfAnother(caller, key) && !isInCharge(caller)) {
    throw notOwnedFault('Only its owner or an administrator can change this API key.');
  }
}

/** Throws api_key_not_owned for another person's key: its token would act as that person. */
export function requireOwn(caller: KeyCaller, key: ApiKeyRecord): void {
  if (isOfAnother(caller, key)) throw notOwnedFault('Only its owner can rotate a personal API key.');
}

/** False for service keys, which have no owner. */
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
