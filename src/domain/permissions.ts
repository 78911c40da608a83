import { BAGS, expand, isOrganizationOnly, isPermission, PERMISSIONS } from './permission-catalogue.ts';

export type Role = 'ADMIN' | 'MEMBER' | 'VIEWER' | 'CUSTOM';
export type ScopeType = 'ORGANIZATION' | 'TEAM' | 'PROJECT';

/**
 * One grant. `permissions` counts only for CUSTOM, and must not be mutated once a question was asked about it:
 * its expansion is remembered by the array's identity.
 */
export type Binding = { role: Role; scopeType: ScopeType; scopeId: string; permissions: readonly string[] };
export type Grants = readonly Binding[];

/** Where a permission is asked for, together with everything above it. It must exist and not be archived. */
export type Scope =
  | { type: 'ORGANIZATION'; organizationId: string }
  | { type: 'TEAM'; organizationId: string; teamId: string }
  | { type: 'PROJECT'; organizationId: string; teamId: string; projectId: string };

/** The power behind a request. `ownerGrants` are the role bindings of the member who owns a personal key. */
export type Principal =
  | { kind: 'personal'; keyGrants: Grants; ownerGrants: Grants }
  | { kind: 'service'; keyGrants: Grants }
  | { kind: 'project'; projectId: string };

/**
 * Finds a scope of one organization by the words a binding uses. Null for an id that is unknown, archived or
 * another organization's.
 */
export type Directory = { locate(scopeType: ScopeType, scopeId: string): Scope | null };

/** Whether the principal holds the permission at the scope. Every route asks this and nothing else. */
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

/** Whether the bindings, added up, grant the permission at the scope. */
export function grants(bindings: Grants, permission: string, scope: Scope): boolean {
  const atOrganization = scope.type === 'ORGANIZATION';
  for (const binding of bindings) {
    if (reaches(binding, scope) && confers(binding, permission, atOrganization)) return true;
  }
  return false;
}

/** Whether the principal holds any permission at all at the scope. */
export function holdsAnything(principal: Principal, scope: Scope): boolean {
  const local = principalAt(principal, scope);
  return PERMISSIONS.some((permission) => may(local, permission, scope));
}

/** The principal without the grants that do not reach the scope, for whoever asks there about many permissions. */
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

/** Where a project is asked about. */
export function projectScope({ organizationId, teamId, id }: ProjectPlace): Scope {
  return { type: 'PROJECT', organizationId, teamId, projectId: id };
}

type ProjectPlace = { readonly organizationId: string; readonly teamId: string; readonly id: string };

/**
 * Whether everything the requested binding would grant, at its scope and below, is already granted there by the
 * holder's bindings at that scope or above. `missing` is sorted, and empty when the scope cannot be located.
 */
export function covers(
  holder: Grants,
  requested: Binding,
  where: Directory,
): { covered: true } | { covered: false; missing: readonly string[] } {
  const scope = where.locate(requested.scopeType, requested.scopeId);
  if (scope === null) return { covered: false, missing: [] };
  // Bindings above a scope act alike on everything below it, so one question below stands for every team and
  // project, those still to be created included. Only the organization itself answers differently.
  const held = holder.filter((binding) => reaches(binding, scope));
  const exceeds = (permission: string, atOrganization: boolean): boolean =>
    confers(requested, permission, atOrganization) &&
    !held.some((binding) => confers(binding, permission, atOrganization));
  const missing = PERMISSIONS.filter(
    (permission) => exceeds(permission, false) || (scope.type === 'ORGANIZATION' && exceeds(permission, true)),
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

/** What a binding grants where it reaches: `atOrganization` asks about the organization, else a team or project. */
function confers(binding: Binding, permission: string, atOrganization: boolean): boolean {
  const boundAtOrganization = binding.scopeType === 'ORGANIZATION';
  switch (binding.role) {
    case 'ADMIN':
      return (boundAtOrganization ? BAGS.everything : BAGS.ADMIN).has(permission);
    case 'MEMBER':
    case 'VIEWER':
      // Reading the organization is the one thing a plain member may do outside teams and projects.
      return atOrganization ? permission === 'organization:view' : BAGS[binding.role].has(permission);
    case 'CUSTOM':
      return (boundAtOrganization || !isOrganizationOnly(permission)) && listed(binding.permissions).has(permission);
    default:
      // A role read back from a store that nobody can interpret must not open anything.
      return false;
  }
}

const nothing: ReadonlySet<string> = new Set();
const expansions = new WeakMap<readonly string[], ReadonlySet<string>>();

function listed(permissions: readonly string[]): ReadonlySet<string> {
  // Lists come back from a store as JSON; one damaged there must read as "grants nothing".
  if (!Array.isArray(permissions)) return nothing;
  const known = expansions.get(permissions);
  if (known !== undefined) return known;
  const expanded = expand(permissions);
  expansions.set(permissions, expanded);
  return expanded;
}
