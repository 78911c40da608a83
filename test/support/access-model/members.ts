/** Rules for members and their role bindings. */

import { liveGrants, requireCovered } from './ceiling.ts';
import { revoked } from './key-changes.ts';
import { grantsOfMember } from './power.ts';
import { bindingsOf, type Grant, type Member, type MemberRole, type RoleBinding } from './state.ts';
import { type Allowed, allow, type Call, conflictWhen, instant, refuse, requireAdministrator } from './verdict.ts';

const CODE = { code: 'role_binding_scope_violation' } as const;

type MemberBody = {
  readonly email?: string;
  readonly name?: string;
  readonly role?: MemberRole;
  readonly disabled?: boolean;
};

export function viewMember({ userId, email, name, role, disabledAtMs, createdAtMs, updatedAtMs }: Member) {
  return {
    userId,
    email,
    name,
    role,
    disabled: disabledAtMs !== null,
    disabledAt: instant(disabledAtMs),
    createdAt: instant(createdAtMs),
    updatedAt: instant(updatedAtMs),
  };
}

function grantsOfRole({ organization }: Call, role: MemberRole): readonly Grant[] {
  if (role === 'EXTERNAL') return [];
  return [{ role, scopeType: 'ORGANIZATION', scopeId: organization.id, permissions: [] }];
}

function requireMember({ organization }: Call, userId: string | undefined): Member {
  const member = organization.members.get(userId ?? '');
  if (member === undefined) refuse(404, 'member_not_found');
  return member;
}

function isLastAdministrator({ organization }: Call, { userId }: Member): boolean {
  const active = [...organization.members.values()].filter(
    ({ role, disabledAtMs }) => role === 'ADMIN' && disabledAtMs === null,
  );
  return active.length === 1 && active[0]?.userId === userId;
}

export function judgeMemberList({ organization, ask }: Call): Allowed {
  const { limit = '50' } = ask.query ?? {};
  const members = [...organization.members.values()].map(viewMember);
  return members.length > Number(limit) ? allow(200) : allow(200, { holds: members });
}

export function judgeMemberCreation(call: Call): Allowed {
  const { organization, state, ask } = call;
  const { email = '', name = '', role = 'MEMBER' } = (ask.body ?? {}) as MemberBody;
  if (role === 'ADMIN') requireAdministrator(call);
  requireCovered(call, grantsOfRole(call, role), CODE);
  const isKnown = [...organization.members.values()].some((member) => member.email === email.toLowerCase());
  conflictWhen(isKnown, call, [409, 'member_already_exists']);
  const times = { createdAtMs: state.nowMs, updatedAtMs: state.nowMs, disabledAtMs: null };
  const made = { email: email.toLowerCase(), name, role, ...times };
  const { userId: _, ...shown } = viewMember({ ...made, userId: '' });
  return allow(201, {
    shows: shown,
    commit: ({ userId }) => void organization.members.set(String(userId), { ...made, userId: String(userId) }),
  });
}

export function judgeMemberUpdate(call: Call): Allowed {
  const { organization, state, ask } = call;
  const member = requireMember(call, ask.id);
  const body = (ask.body ?? {}) as MemberBody;
  const { role = member.role, name = member.name } = body;
  const disabled = body.disabled ?? member.disabledAtMs !== null;
  if (body.role !== undefined || body.disabled !== undefined) {
    if (member.role === 'ADMIN' || role === 'ADMIN') requireAdministrator(call);
    const held = liveGrants(organization, grantsOfMember(organization, member.userId));
    requireCovered(call, [...grantsOfRole(call, role), ...held], { ...CODE, isUnordered: true });
    const isLast = isLastAdministrator(call, member);
    conflictWhen(isLast && role !== 'ADMIN', call, [409, 'cannot_demote_last_admin']);
    conflictWhen(isLast && disabled, call, [409, 'cannot_disable_last_admin']);
  }
  const disabledAtMs = disabled ? (member.disabledAtMs ?? state.nowMs) : null;
  const differs = role !== member.role || name !== member.name || disabledAtMs !== member.disabledAtMs;
  const next = { ...member, role, name, disabledAtMs, ...(differs ? { updatedAtMs: state.nowMs } : {}) };
  return allow(200, {
    shows: viewMember(next),
    facts: [
      ...(member.role === 'ADMIN' && role !== 'ADMIN' ? ['an administrator demoted'] : []),
      ...(disabled && member.disabledAtMs === null ? ['a member disabled'] : []),
    ],
    commit() {
      if (role !== member.role) forgetRole(call, member.userId);
      Object.assign(member, next);
    },
  });
}

export function judgeMemberRemoval(call: Call): Allowed {
  const { organization, state, ask } = call;
  const member = requireMember(call, ask.id);
  const { userId } = member;
  if (member.role === 'ADMIN') requireAdministrator(call);
  const held = liveGrants(organization, grantsOfMember(organization, userId));
  requireCovered(call, held, { ...CODE, isUnordered: true });
  conflictWhen(isLastAdministrator(call, member), call, [409, 'cannot_remove_last_admin']);
  return allow(200, {
    shows: { success: true },
    commit() {
      forgetRole(call, userId);
      organization.members.delete(userId);
      for (const binding of bindingsOf(organization, userId)) organization.roleBindings.delete(binding);
      for (const key of organization.keys.values()) {
        if (key.userId === userId) organization.keys.set(key.id, revoked(key, state.nowMs));
      }
    },
  });
}

type BindingBody = Grant & { readonly userId: string };

/** Bindings that stand for member roles have unpredictable ids. */
type Shown = Omit<RoleBinding, 'id'> & { readonly id?: string };

export function judgeBindingList(call: Call): Allowed {
  const { organization, ask } = call;
  const { userId, scopeType, scopeId, limit = '50' } = ask.query ?? {};
  const roles = [...organization.members.values()].flatMap((member) =>
    grantsOfRole(call, member.role).map((grant): Shown => ({ ...grant, userId: member.userId })),
  );
  const listed = [...roles, ...organization.roleBindings].filter(
    (each) =>
      (userId === undefined || each.userId === userId) &&
      (scopeType === undefined || each.scopeType === scopeType) &&
      (scopeId === undefined || each.scopeId === scopeId),
  );
  if (listed.length > Number(limit)) return allow(200);
  const commit = ({ data }: { readonly [name: string]: unknown }) => adoptRoles(call, data as readonly RoleBinding[]);
  return allow(200, { holds: listed, commit });
}

function adoptRoles({ organization }: Call, bindings: readonly RoleBinding[]): void {
  for (const { id, userId, scopeType, role } of bindings) {
    if (scopeType === 'ORGANIZATION' && role !== 'CUSTOM') organization.roleIds.set(id, userId);
  }
}

function forgetRole({ organization }: Call, userId: string): void {
  for (const [id, owner] of organization.roleIds) if (owner === userId) organization.roleIds.delete(id);
}

export function admitBindingCreation({ ask }: Call): void {
  const problems = bindingProblems(ask.body as unknown as BindingBody);
  if (problems.length > 0) refuse(422, 'validation_error', { fields: problems });
}

export function judgeBindingCreation(call: Call): Allowed {
  const { organization, ask } = call;
  const body = ask.body as unknown as BindingBody;
  const { userId, role, scopeType, scopeId } = body;
  conflictWhen(!organization.members.has(userId), call, [404, 'member_not_found']);
  const permissions = [...new Set(body.permissions ?? [])].sort();
  const grant = { role, scopeType, scopeId, permissions };
  requireCovered(call, [grant], { ...CODE, isNamed: true });
  const isHeld = bindingsOf(organization, userId).some((held) => isSame(held, grant));
  conflictWhen(isHeld, call, [409, 'role_binding_already_exists']);
  return allow(201, {
    shows: { ...grant, userId },
    commit: ({ id }) => void organization.roleBindings.add({ ...grant, userId, id: String(id) }),
  });
}

function bindingProblems({ role, scopeType, permissions = [] }: BindingBody): readonly string[] {
  if (role === 'CUSTOM') return permissions.length === 0 ? ['permissions'] : [];
  return [...(permissions.length > 0 ? ['permissions'] : []), ...(scopeType === 'ORGANIZATION' ? ['role'] : [])];
}

function isSame(one: Grant, other: Grant): boolean {
  const name = ({ role, scopeType, scopeId, permissions }: Grant) =>
    [role, scopeType, scopeId, ...[...permissions].sort()].join();
  return name(one) === name(other);
}

export function judgeBindingRemoval(call: Call): Allowed {
  const { organization, ask } = call;
  const ofRole = organization.members.get(organization.roleIds.get(ask.id ?? '') ?? '');
  if (ofRole !== undefined) {
    requireCovered(call, grantsOfRole(call, ofRole.role), CODE);
    refuse(409, 'role_binding_is_member_role');
  }
  const binding = [...organization.roleBindings].find(({ id }) => id === ask.id);
  if (binding === undefined) refuse(404, 'role_binding_not_found');
  requireCovered(call, liveGrants(organization, [binding]), CODE);
  return allow(200, {
    shows: { success: true },
    commit: () => void organization.roleBindings.delete(binding),
  });
}
