/** The fields a request sends for an API key, and their contradictions. */

import { ALL_PERMISSIONS, isForOrganizations } from './catalogue.ts';
import type { Grant, Key, Role, ScopeType } from './state.ts';
import { type Ask, refuse } from './verdict.ts';

export type Mode = Key['permissionMode'];
type Scope = { readonly role: Role; readonly scopeType: ScopeType; readonly scopeId: string };

/** Undefined: not sent. */
export type Draft = {
  readonly keyType?: Key['keyType'];
  readonly name?: string;
  readonly description?: string | null;
  readonly bindings?: readonly Scope[];
  readonly permissionMode?: Mode;
  readonly permissions?: readonly string[];
  readonly projectIds?: readonly string[];
  readonly assignedToUserId?: string | null;
  readonly expiresAt?: string | null;
};

export function draftOf({ body = {} }: Ask): Draft {
  return body as Draft;
}

export function invalid(...fields: readonly string[]): never {
  refuse(422, 'validation_error', { fields });
}

/** Removes repeated scopes, keeping the first; CUSTOM grants get the key's list. */
export function toGrants(scopes: readonly Scope[], permissions: readonly string[]): readonly Grant[] {
  const listed = [...new Set(permissions)].sort();
  const grants = new Map<string, Grant>();
  for (const { role, scopeType, scopeId } of scopes) {
    const name = `${role} ${scopeType} ${scopeId}`;
    if (grants.has(name)) continue;
    grants.set(name, { role, scopeType, scopeId, permissions: role === 'CUSTOM' ? listed : [] });
  }
  return [...grants.values()];
}

export function administers(projectIds: readonly string[]): readonly Scope[] {
  return projectIds.map((scopeId) => ({ role: 'ADMIN', scopeType: 'PROJECT', scopeId }));
}

/** The permissions of all CUSTOM grants. */
export function listOf(grants: readonly Grant[]): readonly string[] {
  return [...new Set(grants.flatMap(({ role, permissions }) => (role === 'CUSTOM' ? permissions : [])))].sort();
}

type Legs = {
  readonly permissionMode: Mode;
  readonly bindings: readonly Scope[];
  readonly permissions: readonly string[];
};

/** Fields that contradict each other: a mode, a CUSTOM grant and a list go together or not at all. */
export function contradictions({ permissionMode, bindings, permissions }: Legs): readonly string[] {
  const customBindings = bindings.filter(({ role }) => role === 'CUSTOM');
  const legs = {
    permissionMode: permissionMode === 'restricted',
    bindings: customBindings.length > 0,
    permissions: permissions.length > 0,
  };
  const isOneThere = Object.values(legs).some((stands) => stands);
  const found = Object.entries(legs).flatMap(([field, stands]) => (isOneThere && !stands ? [field] : []));
  const needsOrganization = permissions.some(isForOrganizations);
  const hasOrganization = customBindings.some(({ scopeType }) => scopeType === 'ORGANIZATION');
  return needsOrganization && !hasOrganization ? [...found, 'permissions'] : found;
}

/** Paths of permissions that do not exist. */
export function unknownPermissions({ permissions = [] }: Draft): readonly string[] {
  return permissions.flatMap((each, index) => (ALL_PERMISSIONS.includes(each) ? [] : [`permissions.${index}`]));
}

/** Invalid fields of a create request, independent of its caller. */
export function creationProblems(draft: Draft, nowMs: number): readonly string[] {
  const { keyType = 'personal', bindings = [], permissionMode = 'all', permissions = [], projectIds } = draft;
  const isService = keyType === 'service';
  const lateEnough = typeof draft.expiresAt !== 'string' || Date.parse(draft.expiresAt) > nowMs;
  return [
    ...(draft.name === undefined ? ['name'] : []),
    ...unknownPermissions(draft),
    ...(lateEnough ? [] : ['expiresAt']),
    ...(isService && typeof draft.assignedToUserId === 'string' ? ['assignedToUserId'] : []),
    ...(isService && projectIds?.length === 0 && bindings.length === 0 ? ['projectIds'] : []),
    ...(!isService && projectIds !== undefined && projectIds.length > 0 ? ['projectIds'] : []),
    ...contradictions({ permissionMode, bindings, permissions }),
  ];
}
