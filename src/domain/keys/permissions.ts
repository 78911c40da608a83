import {
  expand,
  isOrganizationOnly,
  isPermission,
  isRead,
  isRequiredAtOrganization,
  isRequiredBelow,
  PERMISSIONS,
  ROLE_PERMISSIONS,
} from './permission-catalogue.ts';

export type Role = 'ADMIN' | 'MEMBER' | 'VIEWER' | 'CUSTOM';
export type ScopeType = 'ORGANIZATION' | 'TEAM' | 'PROJECT';

/**
 * One grant. `permissions` applies only to CUSTOM and must not be mutated after a check: its expansion is cached by the
 * identity of the array.
 */
export type Binding = { role: Role; scopeType: ScopeType; scopeId: string; permissions: readonly string[] };
export type Grants = readonly Binding[];

/** The scope of a permission check, with the ids of its parents. It must exist and not be archived. */
export type Scope =
  | { type: 'ORGANIZATION'; organizationId: string }
  | { type: 'TEAM'; organizationId: string; teamId: string }
  | { type: 'PROJECT'; organizationId: string; teamId: string; projectId: string };

/** The grants behind a request. `ownerGrants` are the role bindings of the owner of a personal key. */
export type Principal =
  | { kind: 'personal'; keyGrants: Grants; ownerGrants: Grants }
  | { kind: 'service'; keyGrants: Grants }
  | { kind: 'project'; projectId: string };

/** The principal of an API key. */
export function principalOf(
  { keyType, bindings }: { readonly keyType: 'personal' | 'service'; readonly bindings: Grants },
  ownerGrants: Grants,
): Exclude<Principal, { kind: 'project' }> {
  return keyType === 'personal'
    ? { kind: 'personal', keyGrants: bindings, ownerGrants }
    : { kind: 'service', keyGrants: bindings };
}

/**
 * Finds a scope of one organization by the type and id of a binding. Null for an id that is unknown, archived or of
 * another organization.
 */
export type Directory = { locate(scopeType: ScopeType, scopeId: string): Scope | null };

/** Whether the principal has the permission at the scope. Every permission check uses this function. */
export function may(principal: Principal, permission: string, scope: Scope): boolean {
  switch (principal.kind) {
    case 'personal':
      return grants(principal.keyGrants, permission, scope) && grants(principal.ownerGrants, permission, scope);
    case 'service':
      return grants(principal.keyGrants, permission, scope);
    case 'project':
      return scope.type === 'PROJECT' && scope.projectId === principal.projectId && isPermission(permission);
    default:
      return false;
  }
}

/** Whether any of the bindings grants the permission at the scope. */
export function grants(bindings: Grants, permission: string, scope: Scope): boolean {
  const atOrganization = scope.type === 'ORGANIZATION';
  for (const binding of bindings) {
    if (reaches(binding, scope) && confers(binding, permission, atOrganization)) return true;
  }
  return false;
}

/** Whether the binding grants more than looking anywhere. */
export function grantsWrites(binding: Binding): boolean {
  return PERMISSIONS.some(
    (permission) =>
      !isRead(permission) && [false, true].some((atOrganization) => confers(binding, permission, atOrganization)),
  );
}

/** Whether the principal has any permission at the scope. */
export function holdsAnything(principal: Principal, scope: Scope): boolean {
  const local = principalAt(principal, scope);
  return PERMISSIONS.some((permission) => may(local, permission, scope));
}

/** The principal with only the grants that apply at the scope, for checking many permissions there. */
export function principalAt(principal: Principal, scope: Scope): Principal {
  const reaching = (bindings: Grants) => bindings.filter((binding) => reaches(binding, scope));
  switch (principal.kind) {
    case 'personal':
      return { ...principal, keyGrants: reaching(principal.keyGrants), ownerGrants: reaching(principal.ownerGrants) };
    case 'service':
      return { ...principal, keyGrants: reaching(principal.keyGrants) };
    default:
      return principal;
  }
}

/** The scope of a project. */
export function projectScope({ organizationId, teamId, id }: ProjectPath): Scope {
  return { type: 'PROJECT', organizationId, teamId, projectId: id };
}

/** The scope of a team. */
export function teamScope({ organizationId, id }: Pick<ProjectPath, 'organizationId' | 'id'>): Scope {
  return { type: 'TEAM', organizationId, teamId: id };
}

type ProjectPath = { readonly organizationId: string; readonly teamId: string; readonly id: string };

/**
 * Whether the holder's bindings at the scope or above grant everything that the requested binding would grant there and
 * below. Each permission is compared only where operations require it: what a binding would grant elsewhere has no
 * effect. `missing` is sorted, and empty when the scope cannot be located.
 */
export function covers(
  holder: Grants,
  requested: Binding,
  where: Directory,
): { covered: true } | { covered: false; missing: readonly string[] } {
  const scope = where.locate(requested.scopeType, requested.scopeId);
  if (scope === null) return { covered: false, missing: [] };
  // Bindings above a scope apply equally to everything below it, so one check below covers every team and project,
  // future ones included. Only the organization itself may differ.
  const held = holder.filter((binding) => reaches(binding, scope));
  const exceeds = (permission: string, atOrganization: boolean): boolean =>
    confers(requested, permission, atOrganization) &&
    !held.some((binding) => confers(binding, permission, atOrganization));
  const isOrganization = scope.type === 'ORGANIZATION';
  const missing = PERMISSIONS.filter(
    (permission) =>
      (isRequiredBelow(permission) && exceeds(permission, false)) ||
      (isOrganization && isRequiredAtOrganization(permission) && exceeds(permission, true)),
  );
  return missing.length === 0 ? { covered: true } : { covered: false, missing: missing.toSorted() };
}

function reaches(binding: Binding, scope: Scope): boolean {
  switch (binding.scopeType) {
    case 'ORGANIZATION':
      return binding.scopeId === scope.organizationId;
    case 'TEAM':
      return scope.type !== 'ORGANIZATION' && binding.scopeId === scope.teamId;
    case 'PROJECT':
      return scope.type === 'PROJECT' && binding.scopeId === scope.projectId;
    default:
      return false;
  }
}

/**
 * Whether a binding grants the permission where it applies. `atOrganization`: at the organization, else at a team or
 * project.
 */
function confers(binding: Binding, permission: string, atOrganization: boolean): boolean {
  const boundAtOrganization = binding.scopeType === 'ORGANIZATION';
  switch (binding.role) {
    case 'ADMIN':
      return (boundAtOrganization ? ROLE_PERMISSIONS.everything : ROLE_PERMISSIONS.ADMIN).has(permission);
    case 'MEMBER':
    case 'VIEWER':
      // Outside teams and projects, plain members may only view the organization.
      return atOrganization ? permission === 'organization:view' : ROLE_PERMISSIONS[binding.role].has(permission);
    case 'CUSTOM':
      return (boundAtOrganization || !isOrganizationOnly(permission)) && listed(binding.permissions).has(permission);
    default:
      // An unknown stored role must grant nothing.
      return false;
  }
}

const nothing: ReadonlySet<string> = new Set();
const expansions = new WeakMap<readonly string[], ReadonlySet<string>>();

function listed(permissions: readonly string[]): ReadonlySet<string> {
  // The store reads lists from JSON; a damaged list must grant nothing.
  if (!Array.isArray(permissions)) return nothing;
  const known = expansions.get(permissions);
  if (known !== undefined) return known;
  const expanded = expand(permissions);
  expansions.set(permissions, expanded);
  return expanded;
}
