/** API keys in answers, and who sees them. */

import { listOf } from './key-draft.ts';
import { allScopes, common, holdersOf, mayDo, organizationScope } from './power.ts';
import { activeMember, type Key, type Organization, type Secret } from './state.ts';
import {
  type Allowed,
  allow,
  type Call,
  instant,
  isAdministratorMember,
  mayAtOrganization,
  refuse,
} from './verdict.ts';

export function works(organization: Organization, key: Key, nowMs: number): boolean {
  if (key.revokedAtMs !== null) return false;
  if (key.expiresAtMs !== null && nowMs >= key.expiresAtMs) return false;
  return key.userId === null || activeMember(organization, key.userId) !== null;
}

/** Whether the token is the current one, or the one before it within an overlap. */
export function accepts({ current, previous, previousUntilMs }: Secret, token: string, nowMs: number): boolean {
  return current === token || (previous === token && nowMs < previousUntilMs);
}

export function effectivePermissions(organization: Organization, key: Key, nowMs: number): readonly string[] {
  if (!works(organization, key, nowMs)) return [];
  const holders = holdersOf(organization, key);
  return [...new Set(allScopes(organization).flatMap((scope) => [...common(holders, scope)]))].sort();
}

/** All members of an API key but the ids of its grants and its last use. */
export function viewKey({ organization, state }: Pick<Call, 'organization' | 'state'>, key: Key) {
  const bindings = key.grants.map(({ role, scopeType, scopeId }) => ({ role, scopeType, scopeId }));
  const administered = bindings.filter(({ role, scopeType }) => role === 'ADMIN' && scopeType === 'PROJECT');
  return {
    id: key.id,
    keyType: key.keyType,
    name: key.name,
    description: key.description ?? '',
    userId: key.userId,
    assignedToUserId: key.userId,
    createdByUserId: key.createdByUserId,
    permissionMode: key.permissionMode,
    permissions: listOf(key.grants),
    bindings,
    roleBindings: bindings,
    projectIds: key.keyType === 'service' ? administered.map(({ scopeId }) => scopeId) : [],
    effectivePermissions: effectivePermissions(organization, key, state.nowMs),
    createdAt: instant(key.createdAtMs),
    updatedAt: instant(key.updatedAtMs),
    expiresAt: instant(key.expiresAtMs),
    revokedAt: instant(key.revokedAtMs),
    ...(isMislabelled(key) ? { warnings: [warningOf(key)] } : {}),
  };
}

/** Labelled as one that only looks, although a role changes things. */
function isMislabelled({ permissionMode, grants }: Key): boolean {
  return permissionMode === 'readonly' && grants.some(({ role }) => role !== 'VIEWER');
}

function warningOf({ grants }: Key): string {
  const roles = grants.filter(({ role }) => role !== 'VIEWER').map(({ role, scopeType }) => `${role} at ${scopeType}`);
  const granted = [...new Set(roles)].join(', ');
  return `permissionMode readonly does not restrict this key; its bindings grant what ${granted} may do`;
}

/** Whether the caller may see the key at all. */
export function isVisible(call: Call, target: Key): boolean {
  const manages = mayAtOrganization(call, 'organization:manage');
  const seesEveryone = manages && isAdministratorMember(call);
  if (target.id === call.key.id) return true;
  if (call.key.userId === null) return manages && (target.userId === null || seesEveryone);
  return target.userId === null || target.userId === call.key.userId || seesEveryone;
}

/** The requested key; 404 for a hidden key as for a missing one. */
export function requireVisible(call: Call): Key {
  const target = call.organization.keys.get(call.ask.id ?? '');
  if (target === undefined || !isVisible(call, target)) refuse(404, 'api_key_not_found');
  return target;
}

/** Another person's key; service keys belong to nobody. */
export function isOfAnother({ key }: Call, target: Key): boolean {
  return target.userId !== null && target.userId !== key.userId;
}

export function judgeKeyRead(call: Call): Allowed {
  return allow(200, { shows: viewKey(call, requireVisible(call)) });
}

export function judgeKeyList(call: Call): Allowed {
  const { key, ask, organization } = call;
  const { scope = 'own', includeRevoked, limit } = ask.query ?? {};
  const isService = key.userId === null;
  const isWide = isService || scope === 'organization';
  if (isWide && !mayDo(organization, key, ['organization:manage', organizationScope(organization)])) {
    refuse(403, 'insufficient_permissions', { requiredPermission: 'organization:manage' });
  }
  const listed = [...organization.keys.values()]
    .filter((each) => isVisible(call, each))
    .filter((each) => isWide || each.userId === null || each.userId === key.userId)
    .filter(({ revokedAtMs }) => includeRevoked === 'true' || revokedAtMs === null)
    .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1));
  const page = limit === undefined ? listed : listed.slice(0, Number(limit));
  return allow(200, {
    lists: page.map((each) => viewKey(call, each)),
    facts: [...(page.length < listed.length ? ['a page that is not the last'] : []), `list of keys, ${scope}`],
  });
}
