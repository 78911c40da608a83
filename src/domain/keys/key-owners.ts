/** Reads the members who own API keys. */

import type { ApiKeyRecord, ManagementStore, MemberRecord } from '../management/management.ts';
import type { KeyOwner } from './key-view.ts';
import type { Grants } from './permissions.ts';

/** Null for no owner, and for one who is gone. */
export async function readOwner(
  store: ManagementStore,
  organizationId: string,
  userId: string | null,
): Promise<KeyOwner | null> {
  if (userId === null) return null;
  const [member, grants] = await Promise.all([
    store.member(organizationId, userId),
    store.roleBindings(organizationId, userId),
  ]);
  return member === null ? null : toOwner(member, grants);
}

/** The owners of many keys, by user id. */
export async function readOwners(
  store: ManagementStore,
  organizationId: string,
  keys: readonly ApiKeyRecord[],
): Promise<ReadonlyMap<string, KeyOwner>> {
  const userIds = new Set(keys.flatMap(({ userId }) => (userId === null ? [] : [userId])));
  const [first] = userIds;
  if (first === undefined) return new Map();
  if (userIds.size === 1) {
    const owner = await readOwner(store, organizationId, first);
    return new Map(owner === null ? [] : [[first, owner]]);
  }
  const [members, bindings] = await Promise.all([
    store.members(organizationId),
    store.roleBindings(organizationId, null),
  ]);
  const grants = Map.groupBy(bindings, ({ userId }) => userId);
  return new Map(
    members
      .filter(({ userId }) => userIds.has(userId))
      .map((member) => [member.userId, toOwner(member, grants.get(member.userId) ?? [])]),
  );
}

function toOwner(member: MemberRecord, grants: Grants): KeyOwner {
  return { active: member.disabledAtMs === null, grants };
}
