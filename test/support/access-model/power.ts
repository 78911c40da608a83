/** Effective permissions and the ceiling, as a simple, slow reading of the rules. */

import {
  ADMIN_BAG,
  ALL_PERMISSIONS,
  EVERYTHING,
  expand,
  isAsked,
  isForOrganizations,
  MEMBER_BAG,
  VIEWER_BAG,
} from './catalogue.ts';
import { bindingsOf, type Grant, type Key, liveProjects, type Organization, type ScopeType } from './state.ts';

/** Where a permission is checked: the kind of scope, and all scopes whose grants apply. */
export type ScopeChain = { readonly kind: ScopeType; readonly chain: readonly string[] };

function scopeName(scopeType: ScopeType, scopeId: string): string {
  return `${scopeType} ${scopeId}`;
}

export function organizationScope({ id }: Organization): ScopeChain {
  return { kind: 'ORGANIZATION', chain: [scopeName('ORGANIZATION', id)] };
}

/** For an unknown team only grants at the organization apply. */
export function teamScope(organization: Organization, teamId: string): ScopeChain {
  return { kind: 'TEAM', chain: [...organizationScope(organization).chain, scopeName('TEAM', teamId)] };
}

export function projectScope(
  organization: Organization,
  { id, teamId }: { readonly id: string; readonly teamId: string },
): ScopeChain {
  return { kind: 'PROJECT', chain: [...teamScope(organization, teamId).chain, scopeName('PROJECT', id)] };
}

/** Null: unknown, archived or of another organization. */
export function scopeOf(organization: Organization, scopeType: ScopeType, scopeId: string): ScopeChain | null {
  if (scopeType === 'ORGANIZATION') return scopeId === organization.id ? organizationScope(organization) : null;
  if (scopeType === 'TEAM') return organization.teams.has(scopeId) ? teamScope(organization, scopeId) : null;
  const project = organization.projects.get(scopeId);
  return project === undefined || project.archived ? null : projectScope(organization, project);
}

export function allScopes(organization: Organization): readonly ScopeChain[] {
  return [
    organizationScope(organization),
    ...[...organization.teams.keys()].map((id) => teamScope(organization, id)),
    ...liveProjects(organization).map((project) => projectScope(organization, project)),
  ];
}

const NOTHING: ReadonlySet<string> = new Set();
const LOOK_AT_ORGANIZATION: ReadonlySet<string> = new Set(['organization:view']);

/** A grant's permissions at a place. */
function given({ role, scopeType, scopeId, permissions }: Grant, { kind, chain }: ScopeChain): ReadonlySet<string> {
  if (!chain.includes(scopeName(scopeType, scopeId))) return NOTHING;
  const isBoundAtOrganization = scopeType === 'ORGANIZATION';
  if (role === 'ADMIN') return isBoundAtOrganization ? EVERYTHING : ADMIN_BAG;
  if (role === 'CUSTOM') return listed(permissions, isBoundAtOrganization);
  if (kind === 'ORGANIZATION') return LOOK_AT_ORGANIZATION;
  return role === 'MEMBER' ? MEMBER_BAG : VIEWER_BAG;
}

const expansions = new Map<string, ReadonlySet<string>>();

function listed(permissions: readonly string[], isBoundAtOrganization: boolean): ReadonlySet<string> {
  const name = `${isBoundAtOrganization} ${permissions.join()}`;
  const known = expansions.get(name);
  if (known !== undefined) return known;
  const found = [...expand(permissions)].filter((each) => isBoundAtOrganization || !isForOrganizations(each));
  const expanded = new Set(found);
  expansions.set(name, expanded);
  return expanded;
}

/** All the grants' permissions. */
export function union(grants: readonly Grant[], scope: ScopeChain): ReadonlySet<string> {
  return new Set(grants.flatMap((grant) => [...given(grant, scope)]));
}

/** All grants of a member, that of the role included. */
export function grantsOfMember(organization: Organization, userId: string): readonly Grant[] {
  const role = organization.members.get(userId)?.role ?? 'EXTERNAL';
  const atOrganization = { scopeType: 'ORGANIZATION', scopeId: organization.id, permissions: [] } as const;
  return [...(role === 'EXTERNAL' ? [] : [{ role, ...atOrganization }]), ...bindingsOf(organization, userId)];
}

/** The grants of a key, and those of its owner: each list bounds what the key can do. */
export type Holders = readonly (readonly Grant[])[];

export function holdersOf(organization: Organization, key: Pick<Key, 'grants' | 'userId'>): Holders {
  return key.userId === null ? [key.grants] : [key.grants, grantsOfMember(organization, key.userId)];
}

/** The common permissions. */
export function common(holders: Holders, scope: ScopeChain): ReadonlySet<string> {
  const each = holders.map((grants) => grants.map((grant) => given(grant, scope)));
  return new Set(
    ALL_PERMISSIONS.filter((permission) => each.every((held) => held.some((some) => some.has(permission)))),
  );
}

export function mayDo(
  organization: Organization,
  key: Pick<Key, 'grants' | 'userId'>,
  [permission, scope]: readonly [string, ScopeChain],
): boolean {
  return holdersOf(organization, key).every((grants) => grants.some((grant) => given(grant, scope).has(permission)));
}

export function holdsAdmin(grants: readonly Grant[], { id }: Organization): boolean {
  return grants.some(
    ({ role, scopeType, scopeId }) => role === 'ADMIN' && scopeType === 'ORGANIZATION' && scopeId === id,
  );
}

/** Whether the grants of the holder, at the scope of the wanted one and above, give all of it there and below. */
export function covers(holder: readonly Grant[], wanted: Grant, organization: Organization): boolean {
  const scope = scopeOf(organization, wanted.scopeType, wanted.scopeId);
  if (scope === null) return false;
  // ADMIN at the organization includes rights beyond all permissions.
  if (holdsAdmin([wanted], organization) && !holdsAdmin(holder, organization)) return false;
  // Also checked for a project below the scope that has no grants of its own.
  const below: ScopeChain = { kind: 'PROJECT', chain: scope.chain };
  return [scope, below].every((level) => isSubset(asked(given(wanted, level), level), union(holder, level)));
}

/** Those that some operation asks for at such a scope: the others give no power there. */
export function asked(permissions: ReadonlySet<string>, { kind }: ScopeChain): ReadonlySet<string> {
  return new Set([...permissions].filter((permission) => isAsked(permission, kind)));
}

export function isSubset(few: ReadonlySet<string>, many: ReadonlySet<string>): boolean {
  return [...few].every((each) => many.has(each));
}
