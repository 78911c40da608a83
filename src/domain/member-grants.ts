/** What members hold, and how much of it a caller may hand out or take away. */

import { holdsAdmin } from './administrators.ts';
import { Fault } from './fault.ts';
import type { ManagementCall } from './management-call.ts';
import { type Binding, covers, type Directory, type Grants, may, type Scope, type ScopeType } from './permissions.ts';

/** What a member is at the organization; EXTERNAL: nothing there, only what further grants give. */
export type MemberRole = 'ADMIN' | 'MEMBER' | 'VIEWER' | 'EXTERNAL';

const BUILT_IN_ROLES = ['ADMIN', 'MEMBER', 'VIEWER'] as const;

/** Whether the binding is the one that a member's role stands for. */
export function isMemberRole(binding: Binding, organizationId: string): boolean {
  return binding.scopeType === 'ORGANIZATION' && binding.scopeId === organizationId && binding.role !== 'CUSTOM';
}

/** The role that a member's bindings make. */
export function memberRole(grants: Grants, organizationId: string): MemberRole {
  const atOrganization = grants.filter((binding) => isMemberRole(binding, organizationId));
  return BUILT_IN_ROLES.find((role) => atOrganization.some((binding) => binding.role === role)) ?? 'EXTERNAL';
}

/** What the role grants; EXTERNAL grants nothing. */
export function grantsOfRole(role: MemberRole, organizationId: string): Grants {
  if (role === 'EXTERNAL') return [];
  return [{ role, scopeType: 'ORGANIZATION', scopeId: organizationId, permissions: [] }];
}

/** Those of the bindings that grant anything: what is bound to an archived scope is nobody's power. */
export function liveGrants<B extends Binding>(bindings: readonly B[], directory: Directory): readonly B[] {
  return bindings.filter(({ scopeType, scopeId }) => directory.locate(scopeType, scopeId) !== null);
}

export type Ceiling = {
  readonly directory: Directory;
  readonly code: 'api_key_scope_violation' | 'role_binding_scope_violation';
  /** Each of whom must hold all of it; those behind the call by default. */
  readonly holders?: readonly Grants[];
};

/** Throws the ceiling's code unless the calling key, and the member who owns it, hold all of the grants themselves. */
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

/** ADMIN at the organization is more than all its permissions: what is reserved for administrators comes with it. */
function mayMakeAdministrator(holder: Grants, { role, scopeType, scopeId }: Binding): boolean {
  return role !== 'ADMIN' || scopeType !== 'ORGANIZATION' || holdsAdmin(holder, scopeId);
}

/** Whose grants bound what a call may hand out: those of the calling key and of the member who owns it. */
export function holdersOf({ caller: { principal } }: ManagementCall): readonly Grants[] {
  switch (principal.kind) {
    case 'personal':
      return [principal.keyGrants, principal.ownerGrants];
    case 'service':
      return [principal.keyGrants];
    default:
      // Whoever has no grants of their own has none to give.
      return [[]];
  }
}

/** A key may also hold no more than the member who will own it, which is easily forgotten when it is for another one. */
const EXCEEDS: { readonly [code in Ceiling['code']]: string } = {
  api_key_scope_violation:
    'The access asked for exceeds what the caller, or the member whom the key is for, holds there.',
  role_binding_scope_violation: 'The access asked for exceeds what the caller holds there.',
};

/** What it takes to see a scope. */
const VIEW: { readonly [type in ScopeType]: string } = {
  ORGANIZATION: 'organization:view',
  TEAM: 'team:view',
  PROJECT: 'project:view',
};

/**
 * The directory as the caller sees it, for ids that the caller names. What is hidden is not there, whatever is asked
 * about it, and takes the same work.
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

/** Tells what is missing only to a caller who sees the scope, so that no id is confirmed to anybody else. */
function violation(
  { caller }: ManagementCall,
  { scopeType, scopeId }: Binding,
  { directory, code, missing }: Ceiling & { readonly missing: readonly string[] },
): Fault {
  const scope = directory.locate(scopeType, scopeId);
  const told = scope !== null && may(caller.principal, VIEW[scopeType], scope);
  return new Fault(code, EXCEEDS[code], {
    meta: { scopeType, scopeId, ...(told ? { missingPermissions: [...missing] } : {}) },
  });
}
