/** The members of an organization: lists, adds, changes and removes them. */

import type { CursorCodec } from '../cursor.ts';
import { Fault } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { revoke } from '../keys/key-changes.ts';
import type { Grants } from '../keys/permissions.ts';
import { readDirectory } from '../management/directory.ts';
import { refreshCall } from '../management/fresh-caller.ts';
import { type CursorPage, type CursorPageRequest, slicePageAfter } from '../management/listing.ts';
import type { ManagementStore, MemberRecord, RoleBindingRecord } from '../management/management.ts';
import { administratorRequired, type IdempotentCall, type ManagementCall } from '../management/management-call.ts';
import {
  type AuditedProposal,
  type CommitDeps,
  commitAudited,
  commitIdempotently,
} from '../management/optimistic-commit.ts';
import { isAdministrator } from './administrators.ts';
import { grantsOfRole, liveGrants, type MemberRole, memberRole, requireCovered } from './member-grants.ts';
import { giveRole, isLastAdministrator, replaceRole } from './member-roles.ts';
import { requireRoom, type SizeLimits } from './size-limits.ts';

type MemberDeps = CommitDeps & { readonly cursors: CursorCodec; readonly limits: SizeLimits };

export type Member = MemberRecord & { readonly role: MemberRole };

type MemberDraft = { readonly email: string; readonly name: string; readonly role: MemberRole };

/** Undefined: not sent. */
export type MemberChanges = { readonly role?: MemberRole; readonly disabled?: boolean; readonly name?: string };

export type Members = ReturnType<typeof createMembers>;

/** Refusals in this order: not found, administrator_required, role_binding_scope_violation, conflicts. */
export function createMembers(deps: MemberDeps) {
  const { store, cursors } = deps;
  return {
    /** Disabled ones included, oldest first. Throws invalid_cursor. */
    async list({ caller }: ManagementCall, request: CursorPageRequest): Promise<CursorPage<Member>> {
      const organizationId = caller.organization.id;
      const page = slicePageAfter(await store.members(organizationId), request, {
        cursors,
        binding: ['members', organizationId],
        positionOf: ({ createdAtMs, userId }) => ({ createdAtMs, id: userId }),
      });
      const bindings = Map.groupBy(await store.roleBindings(organizationId, null), ({ userId }) => userId);
      return {
        ...page,
        items: page.items.map((member) => ({
          ...member,
          role: memberRole(bindings.get(member.userId) ?? [], organizationId),
        })),
      };
    },
    /** Also throws member_already_exists and member_limit_reached. */
    create: (call: IdempotentCall<Member>, draft: MemberDraft) => createMember(deps, call, draft),
    /** Also throws member_not_found, cannot_demote_last_admin and cannot_disable_last_admin. */
    update: (call: ManagementCall, userId: string, changes: MemberChanges) =>
      commitAudited(deps, call, async () => updateMember(deps, { call: await refresh(store, call), userId, changes })),
    /** Revokes the member's personal keys. Also throws member_not_found and cannot_remove_last_admin. */
    remove: (call: ManagementCall, userId: string): Promise<void> =>
      commitAudited(deps, call, async () => removeMember(store, await refresh(store, call), userId)),
  };
}

function refresh(store: ManagementStore, call: ManagementCall): Promise<ManagementCall> {
  return refreshCall(store, call, 'organization:manage');
}

function createMember(deps: MemberDeps, call: IdempotentCall<Member>, draft: MemberDraft): Promise<Member> {
  const { store, random, limits } = deps;
  const { nowMs } = call;
  const organizationId = call.caller.organization.id;
  const { name, role } = draft;
  return commitIdempotently(deps, call, {
    checkCaller: async () =>
      requireMayManage(store, await refresh(store, call), { role, grants: grantsOfRole(role, organizationId) }),
    async attempt() {
      const email = draft.email.toLowerCase();
      const members = await store.members(organizationId);
      if (members.some((member) => member.email === email)) {
        throw new Fault('member_already_exists', 'A member with this e-mail address already exists.');
      }
      requireRoom(limits, 'member', members.length);
      const userId = newId('user', random);
      const times = { createdAtMs: nowMs, updatedAtMs: nowMs, disabledAtMs: null };
      const member: MemberRecord = { organizationId, userId, email, name, ...times };
      const result = { ...member, role };
      const audited = { action: 'member.create', targetId: userId, status: 201 };
      const roleBindings = giveRole({ member, role, held: [] }, { nowMs, random });
      return { result, change: { members: [member], roleBindings }, audited };
    },
  });
}

type Update = { readonly call: ManagementCall; readonly userId: string; readonly changes: MemberChanges };

async function updateMember(deps: MemberDeps, { call, userId, changes }: Update): Promise<AuditedProposal<Member>> {
  const { store, random } = deps;
  const { nowMs } = call;
  const found = await findMember(store, call, userId);
  const { member, held } = found;
  const { organizationId } = member;
  const current = { role: memberRole(held, organizationId), disabled: member.disabledAtMs !== null, name: member.name };
  const next = { ...current, ...changes };
  if (changes.role !== undefined || changes.disabled !== undefined) {
    const role = next.role === 'ADMIN' ? next.role : current.role;
    await requireMayManage(store, call, { role, grants: [...grantsOfRole(next.role, organizationId), ...held] });
    if (await isLastAdministrator(store, member)) refuseStepDown(next);
  }
  const fields = (['role', 'disabled', 'name'] as const).filter((field) => next[field] !== current[field]);
  if (fields.length === 0) return { result: { ...member, role: current.role }, change: null };
  const disabledAtMs = next.disabled ? (member.disabledAtMs ?? nowMs) : null;
  const changed: MemberRecord = { ...member, name: next.name, disabledAtMs, updatedAtMs: nowMs };
  const audited = { action: 'member.update', targetId: userId, fields };
  return {
    result: { ...changed, role: next.role },
    change: {
      members: [changed],
      ...(disabledAtMs === null ? {} : { endedSessions: [{ userId }] }),
      ...(fields.includes('role') ? replaceRole({ ...found, role: next.role }, { nowMs, random }) : {}),
    },
    audited,
  };
}

function refuseStepDown({ role, disabled }: Pick<Required<MemberChanges>, 'role' | 'disabled'>): void {
  if (role !== 'ADMIN') {
    throw new Fault('cannot_demote_last_admin', 'The last active administrator must keep the role ADMIN.');
  }
  if (disabled) throw new Fault('cannot_disable_last_admin', 'The last active administrator cannot be disabled.');
}

/**
 * Removes the member with all bindings. The keys stay stored as revoked, so that they stay invalid if the member is
 * added again with the same e-mail address.
 */
async function removeMember(store: ManagementStore, call: ManagementCall, userId: string) {
  const { member, held } = await findMember(store, call, userId);
  await requireMayManage(store, call, { role: memberRole(held, member.organizationId), grants: held });
  if (await isLastAdministrator(store, member)) {
    throw new Fault('cannot_remove_last_admin', 'The last active administrator cannot be removed.');
  }
  const keys = await store.apiKeysOf(member.organizationId, userId);
  const working = keys.filter(({ revokedAtMs }) => revokedAtMs === null);
  return {
    result: undefined,
    change: {
      removedMembers: [{ userId }],
      removedRoleBindings: held.map(({ id }) => ({ userId, id })),
      apiKeys: working.map((key) => revoke(key, call.nowMs)),
      endedSessions: [{ userId }],
    },
    audited: [
      { action: 'member.remove', targetId: userId },
      ...working.map(({ id }) => ({ action: 'apiKey.revoke', targetId: id })),
    ],
  };
}

type Found = { readonly member: MemberRecord; readonly held: readonly RoleBindingRecord[] };

async function findMember(store: ManagementStore, { caller }: ManagementCall, userId: string): Promise<Found> {
  const organizationId = caller.organization.id;
  const member = isPossibleId(userId) ? await store.member(organizationId, userId) : null;
  if (!member) throw memberNotFound();
  return { member, held: await store.roleBindings(organizationId, userId) };
}

export function memberNotFound(): Fault {
  return new Fault('member_not_found', 'Member not found.');
}

/** Only administrators may manage administrators; other members' grants must be within the caller's own. */
async function requireMayManage(
  store: ManagementStore,
  call: ManagementCall,
  { role, grants }: { readonly role: MemberRole; readonly grants: Grants },
): Promise<void> {
  const organizationId = call.caller.organization.id;
  if (role === 'ADMIN' && !isAdministrator(call.caller, organizationId)) throw administratorRequired();
  const directory = await readDirectory(store, organizationId);
  requireCovered(call, liveGrants(grants, directory), { directory, code: 'role_binding_scope_violation' });
}
