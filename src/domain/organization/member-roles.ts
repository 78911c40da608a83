/** Gives members their roles, and says who is the last administrator. */

import type { RandomBytes } from '../clock.ts';
import { newId } from '../ids.ts';
import type { ManagementChange, ManagementStore, MemberRecord, RoleBindingRecord } from '../management/management.ts';
import { grantsOfRole, isMemberRole, type MemberRole, memberRole } from './member-grants.ts';

/** Whether the member is the only active administrator. */
export async function isLastAdministrator(
  store: ManagementStore,
  { organizationId, userId }: MemberRecord,
): Promise<boolean> {
  const members = await store.members(organizationId);
  const bindings = Map.groupBy(await store.roleBindings(organizationId, null), (binding) => binding.userId);
  const active = members.filter(
    (member) =>
      member.disabledAtMs === null && memberRole(bindings.get(member.userId) ?? [], organizationId) === 'ADMIN',
  );
  return active.length === 1 && active[0]?.userId === userId;
}

type GivenRole = {
  readonly member: MemberRecord;
  readonly held: readonly RoleBindingRecord[];
  readonly role: MemberRole;
};
type Means = { readonly nowMs: number; readonly random: RandomBytes };

/** Takes the role that the member has, and gives another. */
export function replaceRole(
  given: GivenRole,
  means: Means,
): Pick<ManagementChange, 'roleBindings' | 'removedRoleBindings'> {
  const { organizationId, userId } = given.member;
  const held = given.held.filter((binding) => isMemberRole(binding, organizationId));
  const roleBindings = giveRole({ ...given, held }, means);
  const removed = held.filter(({ id }) => !roleBindings.some((kept) => kept.id === id));
  return { roleBindings, removedRoleBindings: removed.map(({ id }) => ({ userId, id })) };
}

/** The binding of a role; an existing one keeps its id. */
export function giveRole({ member, role, held }: GivenRole, { nowMs, random }: Means): readonly RoleBindingRecord[] {
  const { organizationId, userId } = member;
  const { id, createdAtMs } = held[0] ?? { id: newId('rolebinding', random), createdAtMs: nowMs };
  return grantsOfRole(role, organizationId).map((grant) => ({ ...grant, organizationId, userId, id, createdAtMs }));
}
