/** Callers give no more than they hold, nor longer. */

import { ALL_PERMISSIONS, isAsked } from './catalogue.ts';
import { covers, type Holders, holdersOf, type ScopeChain, scopeOf, union } from './power.ts';
import type { Grant, Organization } from './state.ts';
import { type Call, may, Refusal, refuse } from './verdict.ts';

export type Ceiling = {
  readonly code: CeilingCode;
  /** By default key and owner. */
  readonly holders?: Holders;
  /** True when the grants have no order, so the first one beyond the ceiling is unknown. */
  readonly isUnordered?: boolean;
  /** True when the caller names the scopes: a hidden scope then counts as missing. */
  readonly isNamed?: boolean;
};

type CeilingCode = 'api_key_scope_violation' | 'role_binding_scope_violation';

const VIEW_OF = { ORGANIZATION: 'organization:view', TEAM: 'team:view', PROJECT: 'project:view' } as const;

/** Refuses unless every holder has every grant in full. */
export function requireCovered(call: Call, grants: readonly Grant[], ceiling: Ceiling): void {
  const { organization, key } = call;
  const { code, holders = holdersOf(organization, key), isUnordered = false, isNamed = false } = ceiling;
  for (const grant of grants) {
    const { scopeType, scopeId } = grant;
    const scope = scopeOf(organization, scopeType, scopeId);
    const isCovered = holders.every((holder) => covers(holder, grant, organization));
    const isSeen = scope !== null && may(call, VIEW_OF[scopeType], scope);
    if (isCovered && (isSeen || !isNamed)) continue;
    const missingPermissions = isSeen && scope !== null ? missingFrom(holders, grant, scope) : undefined;
    const fact = isSeen ? 'ceiling at a scope that is seen' : 'ceiling at a scope that is hidden';
    const members = isUnordered ? {} : { scopeType, scopeId, missingPermissions };
    throw new Refusal(403, code, members, [fact]);
  }
}

/** Permissions that a holder lacks. */
function missingFrom(holders: Holders, grant: Grant, scope: ScopeChain): readonly string[] {
  const below: ScopeChain = { kind: 'PROJECT', chain: scope.chain };
  return ALL_PERMISSIONS.filter((permission) =>
    [scope, below].some(
      (level) =>
        isAsked(permission, level.kind) &&
        union([grant], level).has(permission) &&
        !holders.every((holder) => union(holder, level).has(permission)),
    ),
  ).toSorted();
}

/** The grants whose scope exists. */
export function liveGrants(organization: Organization, grants: readonly Grant[]): readonly Grant[] {
  return grants.filter(({ scopeType, scopeId }) => scopeOf(organization, scopeType, scopeId) !== null);
}

/** Refuses an expiry later than that of the calling key. */
export function requireEndsInTime({ key }: Call, expiresAtMs: number | null): void {
  if (key.expiresAtMs === null) return;
  if (expiresAtMs === null || expiresAtMs > key.expiresAtMs) {
    throw new Refusal(403, 'api_key_scope_violation', {}, ['expiry beyond that of the caller']);
  }
}

/** Refuses an owner who is unknown or disabled. */
export function refuseOwner(): never {
  refuse(403, 'api_key_scope_violation');
}
