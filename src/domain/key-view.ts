/** An API key as it is shown: without its secret, and with all it can do now. */

import { listedPermissions } from './key-grants.ts';
import type { ApiKeyRecord } from './management.ts';
import { PERMISSIONS } from './permission-catalogue.ts';
import { type Directory, type Grants, may, type Principal, principalAt, type Scope } from './permissions.ts';

const SORTED = PERMISSIONS.toSorted();

type Secrets = 'secretHash' | 'imported' | 'previousSecretHash' | 'previousSecretUntilMs';

export type KeyView = Omit<ApiKeyRecord, Secrets> & {
  /** What CUSTOM grants give, sorted, as it was asked for. */
  readonly permissions: readonly string[];
  /** Projects a service key administers. */
  readonly projectIds: readonly string[];
  /** Sorted; empty when the key is refused. */
  readonly effectivePermissions: readonly string[];
};

/** The member who owns a key, as far as it decides what the key can do. */
export type KeyOwner = { readonly active: boolean; readonly grants: Grants };

export type ViewFacts = {
  /** Null for service keys, and for owners who are gone. */
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
  };
}

/** Projects that a service key administers by a grant of their own. */
export function projectIdsOf(keyType: ApiKeyRecord['keyType'], grants: Grants): readonly string[] {
  if (keyType === 'personal') return [];
  return grants.filter(isAdminAtProject).map(({ scopeId }) => scopeId);
}

export function isAdminAtProject({ role, scopeType }: Grants[number]): boolean {
  return role === 'ADMIN' && scopeType === 'PROJECT';
}

function effectivePermissions(key: ApiKeyRecord, { owner, directory, nowMs }: ViewFacts): readonly string[] {
  if (key.revokedAtMs !== null || (key.expiresAtMs !== null && key.expiresAtMs <= nowMs)) return [];
  const principal = principalOf(key, owner);
  if (principal === null) return [];
  const grants = [...key.bindings, ...(owner?.grants ?? [])];
  const scopes = tellingScopes(key.organizationId, grants, directory);
  // Members may hold hundreds of grants, and a list shows a thousand keys: no question is asked twice.
  let missing: readonly string[] = SORTED;
  for (const scope of scopes) {
    const local = principalAt(principal, scope);
    missing = missing.filter((permission) => !may(local, permission, scope));
  }
  const withheld = new Set(missing);
  return SORTED.filter((permission) => !withheld.has(permission));
}

/** Null: the key is refused. */
function principalOf(key: ApiKeyRecord, owner: KeyOwner | null): Principal | null {
  if (key.keyType === 'service') return { kind: 'service', keyGrants: key.bindings };
  if (owner === null || !owner.active) return null;
  return { kind: 'personal', keyGrants: key.bindings, ownerGrants: owner.grants };
}

/**
 * Scopes whose answers, added up, are those of all scopes: the organization, those that a grant names, and one team
 * for all that no grant names, where only grants at the organization count.
 */
function tellingScopes(organizationId: string, grants: Grants, directory: ViewFacts['directory']): readonly Scope[] {
  const named = new Map<string, Scope | null>(
    grants.map(({ scopeType, scopeId }) => [`${scopeType} ${scopeId}`, directory.locate(scopeType, scopeId)]),
  );
  const [team] = directory.teams;
  const unnamed: Scope[] = team === undefined ? [] : [{ type: 'TEAM', organizationId, teamId: team.id }];
  const located = [...named.values()].filter((scope) => scope !== null);
  return [{ type: 'ORGANIZATION', organizationId }, ...unnamed, ...located];
}
