/** An API key as answers show it: without its secret, with its effective permissions. */

import type { ApiKeyRecord, ManagementStore, MemberRecord } from '../management/management.ts';
import { isExpired, listedPermissions } from './key-grants.ts';
import { PERMISSIONS } from './permission-catalogue.ts';
import {
  type Directory,
  type Grants,
  grantsWrites,
  may,
  type Principal,
  principalAt,
  principalOf,
  type Scope,
} from './permissions.ts';

const SORTED = PERMISSIONS.toSorted();

type Secrets = 'secretHash' | 'imported' | 'previousSecretHash' | 'previousSecretUntilMs';

export type KeyView = Omit<ApiKeyRecord, Secrets> & {
  /** The permissions of CUSTOM grants, sorted, as requested. */
  readonly permissions: readonly string[];
  /** Projects that a service key administers. */
  readonly projectIds: readonly string[];
  /** Sorted; empty when the key is revoked, expired or its owner disabled. */
  readonly effectivePermissions: readonly string[];
  /** Sentences about what the label hides. */
  readonly warnings: readonly string[];
};

/** The owner of a key: what determines the key's permissions. */
export type KeyOwner = { readonly active: boolean; readonly grants: Grants };

type ViewFacts = {
  /** Null for service keys, and for removed owners. */
  readonly owner: KeyOwner | null;
  readonly directory: Directory & { readonly teams: readonly { readonly id: string }[] };
  readonly nowMs: number;
};

export function viewKey(key: ApiKeyRecord, facts: ViewFacts): KeyView {
  const { secretHash: _, imported: _i, previousSecretHash: _h, previousSecretUntilMs: _u, ...shown } = key;
  return {
    ...shown,
    permissions: listedPermissions(key.bindings),
    projectIds: projectIdsOf(key.keyType, key.bindings),
    effectivePermissions: effectivePermissions(key, facts),
    warnings: warningsOf(key),
  };
}

/** The label readonly restricts nothing, which its name does not say. */
function warningsOf({ permissionMode, bindings }: ApiKeyRecord): readonly string[] {
  if (permissionMode !== 'readonly') return [];
  const writing = new Set(bindings.filter(grantsWrites).map(({ role, scopeType }) => `${role} at ${scopeType}`));
  if (writing.size === 0) return [];
  return [
    `permissionMode readonly does not restrict this key; its bindings grant what ${[...writing].join(', ')} may do`,
  ];
}

/** Projects that a service key administers by an ADMIN grant at the project. */
export function projectIdsOf(keyType: ApiKeyRecord['keyType'], grants: Grants): readonly string[] {
  if (keyType === 'personal') return [];
  return grants.filter(isAdminAtProject).map(({ scopeId }) => scopeId);
}

export function isAdminAtProject({ role, scopeType }: Grants[number]): boolean {
  return role === 'ADMIN' && scopeType === 'PROJECT';
}

function effectivePermissions(key: ApiKeyRecord, { owner, directory, nowMs }: ViewFacts): readonly string[] {
  const isOwned = key.keyType === 'service' || owner?.active === true;
  if (!isOwned || key.revokedAtMs !== null || isExpired(key, nowMs)) return [];
  const grants = [...key.bindings, ...(owner?.grants ?? [])];
  const scopes = representativeScopes(key.organizationId, grants, directory);
  return permissionsAt(principalOf(key, owner?.grants ?? []), scopes);
}

/** The permissions that a principal holds at any of the scopes, sorted. */
export function permissionsAt(principal: Principal, scopes: readonly Scope[]): readonly string[] {
  // Members may have hundreds of grants and a list shows a thousand keys, so each permission is checked until one scope
  // grants it.
  let missing: readonly string[] = SORTED;
  for (const scope of scopes) {
    const local = principalAt(principal, scope);
    missing = missing.filter((permission) => !may(local, permission, scope));
  }
  const withheld = new Set(missing);
  return SORTED.filter((permission) => !withheld.has(permission));
}

/**
 * Scopes that together represent all scopes: the organization, the scopes that grants name, and one team for all
 * others, where only grants at the organization apply.
 */
export function representativeScopes(
  organizationId: string,
  grants: Grants,
  directory: ViewFacts['directory'],
): readonly Scope[] {
  const named = new Map<string, Scope | null>(
    grants.map(({ scopeType, scopeId }) => [`${scopeType} ${scopeId}`, directory.locate(scopeType, scopeId)]),
  );
  const [team] = directory.teams;
  const unnamed: Scope[] = team === undefined ? [] : [{ type: 'TEAM', organizationId, teamId: team.id }];
  const located = [...named.values()].filter((scope) => scope !== null);
  return [{ type: 'ORGANIZATION', organizationId }, ...unnamed, ...located];
}

/** Null for no owner, and for one who is gone. */
export async function readOwner(
  store: ManagementStore,
  organizationId: string,
  userId: string | null,
): Promise<KeyOwner | null> {
  if (userId === null) return null;
  const [member, grants] = await Promise.all([
    store.member(organizationId, userId),
    store.roleBindings(organizationId, userId),
  ]);
  return member === null ? null : toOwner(member, grants);
}

/** The owners of many keys, by user id. */
export async function readOwners(
  store: ManagementStore,
  organizationId: string,
  keys: readonly ApiKeyRecord[],
): Promise<ReadonlyMap<string, KeyOwner>> {
  const userIds = new Set(keys.flatMap(({ userId }) => (userId === null ? [] : [userId])));
  const [first] = userIds;
  if (first === undefined) return new Map();
  if (userIds.size === 1) {
    const owner = await readOwner(store, organizationId, first);
    return new Map(owner === null ? [] : [[first, owner]]);
  }
  const [members, bindings] = await Promise.all([
    store.members(organizationId),
    store.roleBindings(organizationId, null),
  ]);
  const grants = Map.groupBy(bindings, ({ userId }) => userId);
  return new Map(
    members
      .filter(({ userId }) => userIds.has(userId))
      .map((member) => [member.userId, toOwner(member, grants.get(member.userId) ?? [])]),
  );
}

function toOwner(member: MemberRecord, grants: Grants): KeyOwner {
  return { active: member.disabledAtMs === null, grants };
}
