/** Effective permissions and the ceiling, as a simple, slow reading of the rules. */

import {
  ADMIN_BAG,
  ALL_PERMISSIONS,
  EVERYTHING,
  expand,
  isForOrganizations,
  MEMBER_BAG,
  VIEWER_BAG,
} from './catalogue.ts';
import { bindingsOf, type Grant, type Key, liveProjects, type Organization, type ScopeType } from './state.ts';

/** Where a permission is checked: the kind of scope, and all scopes whose grants apply. */
export type Place = { readonly kind: ScopeType; readonly chain: readonly string[] };

function scopeName(scopeType: ScopeType, scopeId: string): string {
  return `${scopeType} ${scopeId}`;
}

export function organizationPlace({ id }: Organization): Place {
  return { kind: 'ORGANIZATION', chain: [scopeName('ORGANIZATION', id)] };
}

/** For an unknown team only grants at the organization apply. */
export function teamPlace(organization: Organization, teamId: string): Place {
  return { kind: 'TEAM', chain: [...organizationPlace(organization).chain, scopeName('TEAM', teamId)] };
}

export function projectPlace(
  organization: Organization,
  { id, teamId }: { readonly id: string; readonly teamId: string },
): Place {
  return { kind: 'PROJECT', chain: [...teamPlace(organization, teamId).chain, scopeName('PROJECT', id)] };
}

/** Null: unknown, archived or of another organization. */
export function placeOf(organization: Organization, scopeType: ScopeType, scopeId: string): Place | null {
  if (scopeType === 'ORGANIZATION') return scopeId === organization.id ? organizationPlace(organization) : null;
  if (scopeType === 'TEAM') return organization.teams.has(scopeId) ? teamPlace(organization, scopeId) : null;
  const project = organization.projects.get(scopeId);
  return project === undefined || project.archived ? null : projectPlace(organization, project);
}

export function allPlaces(organization: Organization): readonly Place[] {
  return [
    organizationPlace(organization),
    ...[...organization.teams.keys()].map((id) => teamPlace(organization, id)),
    ...liveProjects(organization).map((project) => projectPlace(organization, project)),
  ];
}

const NOTHING: ReadonlySet<string> = new Set();
const LOOK_AT_ORGANIZATION: ReadonlySet<string> = new Set(['organization:view']);

/** A grant's permissions at a place. */
function given({ role, scopeType, scopeId, permissions }: Grant, { kind, chain }: Place): ReadonlySet<string> {
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
export function union(grants: readonly Grant[], place: Place): ReadonlySet<string> {
  return new Set(grants.flatMap((grant) => [...given(grant, place)]));
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
export function common(holders: Holders, place: Place): ReadonlySet<string> {
  const each = holders.map((grants) => grants.map((grant) => given(grant, place)));
  return new Set(
    ALL_PERMISSIONS.filter((permission) => each.every((held) => held.some((some) => some.has(permission)))),
  );
}

export function mayDo(
  organization: Organization,
  key: Pick<Key, 'grants' | 'userId'>,
  [permission, place]: readonly [string, Place],
): boolean {
  return holdersOf(organization, key).every((grants) => grants.some((grant) => given(grant, place).has(permission)));
}

export function holdsAdmin(grants: readonly Grant[], { id }: Organization): boolean {
  return grants.some(
    ({ role, scopeType, scopeId }) => role === 'ADMIN' && scopeType === 'ORGANIZATION' && scopeId === id,
  );
}

/** Whether the grants of the holder, at the scope of the wanted one and above, give all of it there and below. */
export function covers(holder: readonly Grant[], wanted: Grant, organization: Organization): boolean {
  const place = placeOf(organization, wanted.scopeType, wanted.scopeId);
  if (place === null) return false;
  // ADMIN at the organization includes rights beyond all permissions.
  if (holdsAdmin([wanted], organization) && !holdsAdmin(holder, organization)) return false;
  // Also checked for a project below the scope that has no grants of its own.
  const below: Place = { kind: 'PROJECT', chain: place.chain };
  return [place, below].every((asked) => isSubset(given(wanted, asked), union(holder, asked)));
}

export function isSubset(few: ReadonlySet<string>, many: ReadonlySet<string>): boolean {
  return [...few].every((each) => many.has(each));
}
