/** The grants of a new or changed API key, with their defaults, and who may hand them out. */

import { Fault } from '../fault.ts';
import type { FreshCall } from '../management/fresh-caller.ts';
import type { ApiKeyRecord } from '../management/management.ts';
import type { ManagementCall } from '../management/management-call.ts';
import {
  grantsOfRole,
  holdersOf,
  liveGrants,
  memberRole,
  requireCovered,
  visibleScopes,
} from '../organization/member-grants.ts';
import { customReason, refuseProblems } from '../reasons.ts';
import type { BindingDraft, KeyDraft, PermissionMode } from './key-draft.ts';
import type { Binding, Directory, Grants } from './permissions.ts';

export type KeyGrants = { readonly permissionMode: PermissionMode; readonly grants: Grants };

/** The member who will own a key. */
type FutureOwner = {
  readonly userId: string;
  readonly grants: Grants;
  /** The calling key, when its owner creates another key for themselves. */
  readonly callingKey: FreshCall['callingKey'] | null;
};

/** Grants of a new service key: without grants and projects, ADMIN at the organization. */
export function grantsOfServiceKey(draft: KeyDraft, organizationId: string): KeyGrants {
  const { bindings = [], projectIds } = draft;
  const everything = projectIds === undefined && bindings.length === 0;
  const grants = everything
    ? grantsOfRole('ADMIN', organizationId)
    : toGrants([...bindings, ...adminAtProjects(projectIds ?? [])], draft.permissions ?? []);
  return { permissionMode: draft.permissionMode ?? 'all', grants };
}

/** Grants of a new personal key: without grants, those of the calling key, or the role of the other member. */
export function grantsOfPersonalKey(draft: KeyDraft, owner: FutureOwner, organizationId: string): KeyGrants {
  const permissionMode = draft.permissionMode ?? 'all';
  if (draft.bindings !== undefined) {
    return { permissionMode, grants: toGrants(draft.bindings, draft.permissions ?? []) };
  }
  if (owner.callingKey === null) {
    const role = memberRole(owner.grants, organizationId);
    if (role === 'EXTERNAL') refuseBindings('bindings are required for a member without a role at the organization');
    return { permissionMode, grants: grantsOfRole(role, organizationId) };
  }
  const { permissionMode: copied, bindings: grants } = owner.callingKey;
  if (!hasOneList(grants)) {
    refuseBindings(
      'bindings are required, because CUSTOM grants of the caller differ in permissions; a key has one list',
    );
  }
  if (draft.permissionMode === undefined) return { permissionMode: copied, grants };
  if (copied === 'restricted') {
    refuseBindings('bindings are required when permissionMode is given and the calling key is restricted');
  }
  return { permissionMode, grants };
}

/** Whether all CUSTOM grants give the same permissions, as those of a key do; a person may have many role bindings. */
function hasOneList(grants: Grants): boolean {
  const lists = grants.filter(({ role }) => role === 'CUSTOM').map((grant) => String(listedPermissions([grant])));
  return new Set(lists).size <= 1;
}

/** Removes duplicate grants and keeps their order; CUSTOM grants get the sorted permissions. */
export function toGrants(drafts: readonly BindingDraft[], permissions: readonly string[]): Grants {
  const listed = sortedOnce(permissions);
  const grants = new Map<string, Binding>();
  for (const { role, scopeType, scopeId } of drafts) {
    if (role === null || scopeType === null) throw new Error('a binding was not judged before');
    const name = JSON.stringify([role, scopeType, scopeId]);
    const grant = { role, scopeType, scopeId, permissions: role === 'CUSTOM' ? listed : [] };
    if (!grants.has(name)) grants.set(name, grant);
  }
  return [...grants.values()];
}

/** The projects of a service key as ADMIN grants. */
export function adminAtProjects(projectIds: readonly string[]): readonly BindingDraft[] {
  return projectIds.map((scopeId) => ({ role: 'ADMIN', scopeType: 'PROJECT', scopeId }));
}

/** The permissions that CUSTOM grants give, sorted. */
export function listedPermissions(grants: Grants): readonly string[] {
  return sortedOnce(grants.flatMap(({ role, permissions }) => (role === 'CUSTOM' ? permissions : [])));
}

type CeilingOver = { readonly directory: Directory; readonly ownerGrants: Grants | null };

/** Throws api_key_scope_violation unless the caller and the future owner hold all of the grants. */
export function requireMayGrant(call: ManagementCall, grants: Grants, { directory, ownerGrants }: CeilingOver): void {
  const holders = [...holdersOf(call), ...(ownerGrants === null ? [] : [ownerGrants])];
  requireCovered(call, grants, { directory, code: 'api_key_scope_violation', holders });
}

/** Throws api_key_scope_violation when the key would outlive the calling key. Null: never expires. */
export function requireMayLast({ callingKey }: FreshCall, expiresAtMs: number | null): void {
  const endsAtMs = callingKey.expiresAtMs;
  if (endsAtMs === null || (expiresAtMs !== null && expiresAtMs <= endsAtMs)) return;
  throw new Fault('api_key_scope_violation', 'The key would work longer than the calling key, which expires.');
}

/** A key before and after an update. */
type ChangedKey = { readonly stored: ApiKeyRecord; readonly key: ApiKeyRecord; readonly changesGrants: boolean };

/** Throws api_key_scope_violation unless the caller may hand out the grants of the updated key until its expiry. */
export function requireMayChangeTo(call: FreshCall, changed: ChangedKey, over: CeilingOver): void {
  const { stored, key, changesGrants } = changed;
  const { directory } = over;
  if (changesGrants) requireMayGrant(call, key.bindings, { ...over, directory: visibleScopes(call, directory) });
  else if (isLater(key.expiresAtMs, stored.expiresAtMs)) {
    // A longer life hands the grants out again.
    requireCovered(call, liveGrants(key.bindings, directory), { directory, code: 'api_key_scope_violation' });
  }
  if (changesGrants || key.expiresAtMs !== stored.expiresAtMs) requireMayLast(call, key.expiresAtMs);
}

/** Null: never expires. */
function isLater(expiresAtMs: number | null, otherMs: number | null): boolean {
  return otherMs !== null && (expiresAtMs === null || expiresAtMs > otherMs);
}

export function isExpired({ expiresAtMs }: ApiKeyRecord, nowMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= nowMs;
}

/**
 * Throws api_key_scope_violation unless the caller holds all grants of the key for as long as the new token is valid.
 */
export function requireMayRotate(call: FreshCall, key: ApiKeyRecord, directory: Directory): void {
  const callingKey = call.caller.key;
  if (key.id === callingKey.id) return;
  // A key of the caller's own never does more than its owner may; what belongs to nobody is bounded by nobody else.
  const holders = key.keyType === 'personal' ? [callingKey.bindings] : holdersOf(call);
  requireCovered(call, liveGrants(key.bindings, directory), { directory, code: 'api_key_scope_violation', holders });
  requireMayLast(call, key.expiresAtMs);
}

function sortedOnce(permissions: readonly string[]): readonly string[] {
  return [...new Set(permissions)].toSorted();
}

function refuseBindings(message: string): void {
  refuseProblems([customReason('bindings', message)]);
}
