/** The grants of members, and which of them a caller may give or remove. */

import { Fault } from '../fault.ts';
import {
  type Binding,
  covers,
  type Directory,
  type Grants,
  may,
  type Scope,
  type ScopeType,
} from '../keys/permissions.ts';
import type { ManagementCall } from '../management/management-call.ts';
import { holdsAdmin } from './administrators.ts';

/** A member's role at the organization; EXTERNAL: none, only other grants apply. */
export type MemberRole = 'ADMIN' | 'MEMBER' | 'VIEWER' | 'EXTERNAL';

const BUILT_IN_ROLES = ['ADMIN', 'MEMBER', 'VIEWER'] as const;

/** Whether the binding is a member's role. */
export function isMemberRole(binding: Binding, organizationId: string): boolean {
  return binding.scopeType === 'ORGANIZATION' && binding.scopeId === organizationId && binding.role !== 'CUSTOM';
}

/** The role that a member's bindings give. */
export function memberRole(grants: Grants, organizationId: string): MemberRole {
  const atOrganization = grants.filter((binding) => isMemberRole(binding, organizationId));
  return BUILT_IN_ROLES.find((role) => atOrganization.some((binding) => binding.role === role)) ?? 'EXTERNAL';
}

/** The grants of a role; none for EXTERNAL. */
export function grantsOfRole(role: MemberRole, organizationId: string): Grants {
  if (role === 'EXTERNAL') return [];
  return [{ role, scopeType: 'ORGANIZATION', scopeId: organizationId, permissions: [] }];
}

/** Bindings at existing scopes; those at archived scopes grant nothing. */
export function liveGrants<B extends Binding>(bindings: readonly B[], directory: Directory): readonly B[] {
  return bindings.filter(({ scopeType, scopeId }) => directory.locate(scopeType, scopeId) !== null);
}

type Ceiling = {
  readonly directory: Directory;
  readonly code: 'api_key_scope_violation' | 'role_binding_scope_violation';
  /** Each holder must have all of the grants; default: the calling key and its owner. */
  readonly holders?: readonly Grants[];
};

/** Throws the code of `ceiling` unless each holder has all of the grants. */
export function requireCovered(call: ManagementCall, grants: Grants, ceiling: Ceiling): void {
  const { directory, code, holders = holdersOf(call) } = ceiling;
  for (const grant of grants) {
    const missing = new Set<string>();
    let covered = true;
    for (const holder of holders) {
      const verdict = covers(holder, grant, directory);
      if (verdict.covered && mayMakeAdministrator(holder, grant)) continue;
      covered = false;
      if (!verdict.covered) for (const permission of verdict.missing) missing.add(permission);
    }
    if (!covered) throw violation(call, grant, { directory, code, missing: [...missing].toSorted() });
  }
}

/** ADMIN at the organization includes operations beyond permissions, which only administrators may give. */
function mayMakeAdministrator(holder: Grants, { role, scopeType, scopeId }: Binding): boolean {
  return role !== 'ADMIN' || scopeType !== 'ORGANIZATION' || holdsAdmin(holder, scopeId);
}

/** The grants that limit what a call may give: those of the calling key and of its owner. */
export function holdersOf({ caller: { principal } }: ManagementCall): readonly Grants[] {
  switch (principal.kind) {
    case 'personal':
      return [principal.keyGrants, principal.ownerGrants];
    case 'service':
      return [principal.keyGrants];
    default:
      // A caller without grants can give none.
      return [[]];
  }
}

/**
 * The message mentions the future owner, because a key for another member may not exceed that member's grants either.
 */
const EXCEEDS: { readonly [code in Ceiling['code']]: string } = {
  api_key_scope_violation:
    'The access asked for exceeds what the caller, or the member whom the key is for, holds there.',
  role_binding_scope_violation: 'The access asked for exceeds what the caller holds there.',
};

/** The permission to see a scope, by type. */
const VIEW: { readonly [type in ScopeType]: string } = {
  ORGANIZATION: 'organization:view',
  TEAM: 'team:view',
  PROJECT: 'project:view',
};

/**
 * The directory restricted to scopes that the caller may see, for ids in a request. Hidden scopes look unknown and cost
 * the same time.
 */
export function visibleScopes({ caller }: ManagementCall, directory: Directory): Directory {
  const organizationId = caller.organization.id;
  const nowhere: { readonly [type in ScopeType]: Scope } = {
    ORGANIZATION: { type: 'ORGANIZATION', organizationId: '' },
    TEAM: { type: 'TEAM', organizationId, teamId: '' },
    PROJECT: { type: 'PROJECT', organizationId, teamId: '', projectId: '' },
  };
  return {
    locate(type, id) {
      const scope = directory.locate(type, id);
      return may(caller.principal, VIEW[type], scope ?? nowhere[type]) ? scope : null;
    },
  };
}

/** Lists missing permissions only when the caller may see the scope, so that the answer confirms no hidden id. */
function violation(
  { caller }: ManagementCall,
  { scopeType, scopeId }: Binding,
  { directory, code, missing }: Ceiling & { readonly missing: readonly string[] },
): Fault {
  const scope = directory.locate(scopeType, scopeId);
  const isVisible = scope !== null && may(caller.principal, VIEW[scopeType], scope);
  return new Fault(code, EXCEEDS[code], {
    meta: { scopeType, scopeId, ...(isVisible ? { missingPermissions: [...missing] } : {}) },
  });
}
