/** Grants of members in addition to their roles. */

import type { CursorCodec } from '../cursor.ts';
import { Fault, REASONS_MAX, type Reason } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { isPermission, PERMISSIONS } from '../keys/permission-catalogue.ts';
import { permissionReason } from '../keys/permission-list.ts';
import type { Binding, ScopeType } from '../keys/permissions.ts';
import { readDirectory } from '../management/directory.ts';
import { refreshCall } from '../management/fresh-caller.ts';
import { bindFilter, type CursorPageRequest, slicePageAfter } from '../management/listing.ts';
import type { ManagementStore, RoleBindingRecord } from '../management/management.ts';
import type { IdempotentCall, ManagementCall } from '../management/management-call.ts';
import { type CommitDeps, commitAudited, commitIdempotently } from '../management/optimistic-commit.ts';
import { lengthReason } from '../reasons.ts';
import { isMemberRole, liveGrants, requireCovered, visibleScopes } from './member-grants.ts';
import { memberNotFound } from './members.ts';
import { requireRoom, type SizeLimits } from './size-limits.ts';

type RoleBindingDeps = CommitDeps & { readonly cursors: CursorCodec; readonly limits: SizeLimits };

/** Null: any. */
type RoleBindingFilter = {
  readonly userId: string | null;
  readonly scopeType: ScopeType | null;
  readonly scopeId: string | null;
};

type RoleBindingDraft = Readonly<Binding> & { readonly userId: string };

export type RoleBindings = ReturnType<typeof createRoleBindings>;

export function createRoleBindings(deps: RoleBindingDeps) {
  const { store, cursors } = deps;
  return {
    /** Oldest first. Throws invalid_cursor. */
    async list({ caller }: ManagementCall, filter: RoleBindingFilter, request: CursorPageRequest) {
      const { userId, scopeType, scopeId } = filter;
      const organizationId = caller.organization.id;
      const isOfMember = userId === null || isPossibleId(userId);
      const found = isOfMember ? await store.roleBindings(organizationId, userId) : [];
      return slicePageAfter(
        found.filter(
          (binding) =>
            (scopeType === null || binding.scopeType === scopeType) &&
            (scopeId === null || binding.scopeId === scopeId),
        ),
        request,
        {
          cursors,
          binding: ['role-bindings', organizationId, ...[userId, scopeType, scopeId].map(bindFilter)],
          positionOf: (binding) => binding,
        },
      );
    },
    /**
     * Throws member_not_found, role_binding_scope_violation, role_binding_already_exists, role_binding_limit_reached, in
     * this order.
     */
    create: (call: IdempotentCall<RoleBindingRecord>, draft: RoleBindingDraft) => createRoleBinding(deps, call, draft),
    /** Throws role_binding_not_found, role_binding_scope_violation, role_binding_is_member_role, in this order. */
    remove: (call: ManagementCall, id: string) => removeRoleBinding(deps, call, id),
  };
}

/** Null: an unknown scope type, which is reported elsewhere. */
type CheckedGrant = Pick<Binding, 'role' | 'permissions'> & { readonly scopeType: ScopeType | null };

/** Problems of a grant beyond its single fields. */
export function roleBindingProblems({ role, scopeType, permissions }: CheckedGrant): readonly Reason[] {
  if (role !== 'CUSTOM') {
    const found: Reason[] = [];
    if (permissions.length > 0) {
      found.push({ field: 'permissions', type: 'custom', message: 'permissions are for the role CUSTOM only' });
    }
    if (scopeType === 'ORGANIZATION') {
      const message = 'a built-in role at ORGANIZATION is the role of the member; change that instead';
      found.push({ field: 'role', type: 'custom', message });
    }
    return found;
  }
  if (permissions.length === 0 || permissions.length > PERMISSIONS.length) {
    return [lengthReason('permissions', `1 to ${PERMISSIONS.length} items`)];
  }
  const unknown = [...permissions.entries()].filter(([, permission]) => !isPermission(permission));
  // No answer lists more.
  return unknown
    .slice(0, REASONS_MAX)
    .map(([index, permission]) => permissionReason(`permissions.${index}`, permission));
}

function createRoleBinding(deps: RoleBindingDeps, call: IdempotentCall<RoleBindingRecord>, draft: RoleBindingDraft) {
  const { store, random, limits } = deps;
  const { caller, nowMs } = call;
  const organizationId = caller.organization.id;
  const { userId, role, scopeType, scopeId } = draft;
  const grant = { role, scopeType, scopeId, permissions: [...new Set(draft.permissions)].toSorted() };
  return commitIdempotently(deps, call, {
    async checkCaller() {
      const fresh = await refreshCall(store, call, 'organization:manage');
      if (call.replay === undefined) await requireMember(store, organizationId, userId);
      const directory = visibleScopes(fresh, await readDirectory(store, organizationId));
      requireCovered(fresh, [grant], { directory, code: 'role_binding_scope_violation' });
    },
    async attempt() {
      if ((await store.roleBindings(organizationId, userId)).some((held) => isSame(held, grant))) {
        throw new Fault('role_binding_already_exists', 'The member already has this role binding.');
      }
      requireRoom(limits, 'role_binding', (await store.roleBindings(organizationId, null)).length);
      const id = newId('rolebinding', random);
      const binding: RoleBindingRecord = { ...grant, organizationId, userId, id, createdAtMs: nowMs };
      const audited = { action: 'roleBinding.create', targetId: id, status: 201 };
      return { result: binding, change: { roleBindings: [binding] }, audited };
    },
  });
}

async function requireMember(store: ManagementStore, organizationId: string, userId: string): Promise<void> {
  if (!isPossibleId(userId) || !(await store.member(organizationId, userId))) throw memberNotFound();
}

function isSame(held: Binding, grant: Binding): boolean {
  return (
    held.role === grant.role &&
    held.scopeType === grant.scopeType &&
    held.scopeId === grant.scopeId &&
    held.permissions.toSorted().join() === grant.permissions.join()
  );
}

function removeRoleBinding(deps: RoleBindingDeps, call: ManagementCall, id: string): Promise<void> {
  const { store } = deps;
  const organizationId = call.caller.organization.id;
  return commitAudited(deps, call, async () => {
    const fresh = await refreshCall(store, call, 'organization:manage');
    const binding = (await store.roleBindings(organizationId, null)).find((each) => each.id === id);
    if (!binding) throw new Fault('role_binding_not_found', 'Role binding not found.');
    const directory = await readDirectory(store, organizationId);
    requireCovered(fresh, liveGrants([binding], directory), { directory, code: 'role_binding_scope_violation' });
    if (isMemberRole(binding, organizationId)) {
      const message = 'This role binding is the role of the member; change the role instead.';
      throw new Fault('role_binding_is_member_role', message);
    }
    const audited = { action: 'roleBinding.delete', targetId: id };
    return { result: undefined, change: { removedRoleBindings: [{ userId: binding.userId, id }] }, audited };
  });
}
