/** What an API key is to hold: as asked for, or what stands in where nothing was, and who may hand it out. */

import { Fault } from './fault.ts';
import type { FreshCall } from './fresh-caller.ts';
import { type BindingDraft, custom, type KeyDraft, type PermissionMode } from './key-draft.ts';
import type { ApiKeyRecord } from './management.ts';
import type { ManagementCall } from './management-call.ts';
import { grantsOfRole, holdersOf, liveGrants, memberRole, requireCovered, visibleScopes } from './member-grants.ts';
import type { Binding, Directory, Grants } from './permissions.ts';
import { refuseProblems } from './reasons.ts';

export type KeyGrants = { readonly permissionMode: PermissionMode; readonly grants: Grants };

/** The member who will own a key. */
export type FutureOwner = {
  readonly userId: string;
  readonly grants: Grants;
  /** The calling key, when its owner asks for another key of their own. */
  readonly callingKey: ApiKeyRecord | null;
};

/** What a new service key is to hold: without any grant and project, the whole organization. */
export function grantsOfServiceKey(draft: KeyDraft, organizationId: string): KeyGrants {
  const { bindings = [], projectIds } = draft;
  const everything = projectIds === undefined && bindings.length === 0;
  const grants = everything
    ? grantsOfRole('ADMIN', organizationId)
    : toGrants([...bindings, ...adminAtProjects(projectIds ?? [])], draft.permissions ?? []);
  return { permissionMode: draft.permissionMode ?? 'all', grants };
}

/** What a new personal key is to hold: without any grant, that of the calling key or the role of the other member. */
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
  if (draft.permissionMode === undefined) return { permissionMode: copied, grants };
  if (copied === 'restricted') {
    refuseBindings('bindings are required when permissionMode is given and the calling key is restricted');
  }
  return { permissionMode, grants };
}

/** Identical grants once, in the order they were given; CUSTOM ones with the permissions, sorted. */
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

/** Projects of a service key are grants like any other. */
export function adminAtProjects(projectIds: readonly string[]): readonly BindingDraft[] {
  return projectIds.map((scopeId) => ({ role: 'ADMIN', scopeType: 'PROJECT', scopeId }));
}

/** The permissions that CUSTOM grants give, sorted. */
export function listedPermissions(grants: Grants): readonly string[] {
  return sortedOnce(grants.flatMap(({ role, permissions }) => (role === 'CUSTOM' ? permissions : [])));
}

export type CeilingOver = { readonly directory: Directory; readonly ownerGrants: Grants | null };

/** Throws api_key_scope_violation unless the caller holds all of it, and the member who will own it does too. */
export function requireMayGrant(call: ManagementCall, grants: Grants, { directory, ownerGrants }: CeilingOver): void {
  const holders = [...holdersOf(call), ...(ownerGrants === null ? [] : [ownerGrants])];
  requireCovered(call, grants, { directory, code: 'api_key_scope_violation', holders });
}

/** Throws api_key_scope_violation for power that would outlast the calling key. Null: for ever. */
export function requireMayLast({ callingKey }: FreshCall, expiresAtMs: number | null): void {
  const endsAtMs = callingKey.expiresAtMs;
  if (endsAtMs === null || (expiresAtMs !== null && expiresAtMs <= endsAtMs)) return;
  throw new Fault('api_key_scope_violation', 'The API key would work longer than the calling key, which expires.');
}

/** What an update makes of a key. */
export type ChangedKey = { readonly stored: ApiKeyRecord; readonly key: ApiKeyRecord; readonly changesGrants: boolean };

/** Throws api_key_scope_violation unless the caller may hand out what the key holds, and how long, after an update. */
export function requireMayChangeTo(call: FreshCall, changed: ChangedKey, over: CeilingOver): void {
  const { stored, key, changesGrants } = changed;
  const { directory } = over;
  if (changesGrants) requireMayGrant(call, key.bindings, { ...over, directory: visibleScopes(call, directory) });
  else if (isExpired(stored, call.nowMs) && !isExpired(key, call.nowMs)) {
    // What comes back to life is handed out once more.
    requireCovered(call, liveGrants(key.bindings, directory), { directory, code: 'api_key_scope_violation' });
  }
  if (changesGrants || key.expiresAtMs !== stored.expiresAtMs) requireMayLast(call, key.expiresAtMs);
}

export function isExpired({ expiresAtMs }: ApiKeyRecord, nowMs: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= nowMs;
}

/** Throws api_key_scope_violation unless the caller holds all that a new token of the key would, and as long. */
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
  refuseProblems([custom('bindings', message)]);
}
