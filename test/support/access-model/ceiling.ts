/** Nobody hands out more than they hold, nor for longer. */

import { ALL_PERMISSIONS } from './catalogue.ts';
import { covers, type Holders, holdersOf, type Place, placeOf, union } from './power.ts';
import type { Grant, Organization } from './state.ts';
import { type Call, may, Refusal, refuse } from './verdict.ts';

export type Ceiling = {
  readonly code: CeilingCode;
  /** Those behind the call by default. */
  readonly holders?: Holders;
  /** Whether the grants are in no order, so that nobody can say which of them is the first that offends. */
  readonly isUnordered?: boolean;
  /** Whether the caller names the scopes, among which those that are hidden are like those that are not there. */
  readonly isNamed?: boolean;
};

type CeilingCode = 'api_key_scope_violation' | 'role_binding_scope_violation';

const VIEW_OF = { ORGANIZATION: 'organization:view', TEAM: 'team:view', PROJECT: 'project:view' } as const;

/** Refuses unless each of the holders has all of every grant. */
export function requireCovered(call: Call, grants: readonly Grant[], ceiling: Ceiling): void {
  const { organization, key } = call;
  const { code, holders = holdersOf(organization, key), isUnordered = false, isNamed = false } = ceiling;
  for (const grant of grants) {
    const { scopeType, scopeId } = grant;
    const place = placeOf(organization, scopeType, scopeId);
    const isCovered = holders.every((holder) => covers(holder, grant, organization));
    const isSeen = place !== null && may(call, VIEW_OF[scopeType], place);
    if (isCovered && (isSeen || !isNamed)) continue;
    const missingPermissions = isSeen && place !== null ? missingFrom(holders, grant, place) : undefined;
    const fact = isSeen ? 'ceiling at a scope that is seen' : 'ceiling at a scope that is hidden';
    const members = isUnordered ? {} : { scopeType, scopeId, missingPermissions };
    throw new Refusal(403, code, members, [fact]);
  }
}

/** What at least one of the holders lacks. */
function missingFrom(holders: Holders, grant: Grant, place: Place): readonly string[] {
  const below: Place = { kind: 'PROJECT', chain: place.chain };
  return ALL_PERMISSIONS.filter((permission) =>
    [place, below].some(
      (asked) =>
        union([grant], asked).has(permission) && !holders.every((holder) => union(holder, asked).has(permission)),
    ),
  ).toSorted();
}

/** What of the grants is bound to something that is there. */
export function liveGrants(organization: Organization, grants: readonly Grant[]): readonly Grant[] {
  return grants.filter(({ scopeType, scopeId }) => placeOf(organization, scopeType, scopeId) !== null);
}

/** A key that ends hands out nothing that lasts longer. */
export function requireEndsInTime({ key }: Call, expiresAtMs: number | null): void {
  if (key.expiresAtMs === null) return;
  if (expiresAtMs === null || expiresAtMs > key.expiresAtMs) {
    throw new Refusal(403, 'api_key_scope_violation', {}, ['expiry beyond that of the caller']);
  }
}

/** The member who is to own a key must be there to own it. */
export function refuseOwner(): never {
  refuse(403, 'api_key_scope_violation');
}
