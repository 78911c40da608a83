/** Reads and renames an organization. */

import { refreshCall } from '../management/fresh-caller.ts';
import type { ManagementStore, OrganizationRecord } from '../management/management.ts';
import type { ManagementCall } from '../management/management-call.ts';
import { type CommitDeps, commitAudited } from '../management/optimistic-commit.ts';

/** Undefined: not sent. */
type OrganizationChanges = { readonly name?: string };

export type Organizations = ReturnType<typeof createOrganizations>;

export function createOrganizations(deps: CommitDeps) {
  const { store } = deps;
  return {
    get: ({ caller }: ManagementCall) => read(store, caller.organization.id),
    update: (call: ManagementCall, changes: OrganizationChanges) =>
      commitAudited(deps, call, async () => {
        const { id } = call.caller.organization;
        await refreshCall(store, call, 'organization:manage');
        const current = await read(store, id);
        const name = changes.name ?? current.name;
        if (name === current.name) return { result: current, change: null };
        const organization = { ...current, name, updatedAtMs: call.nowMs };
        const audited = { action: 'organization.update', targetId: id, fields: ['name'] };
        return { result: organization, change: { organization }, audited };
      }),
  };
}

async function read(store: ManagementStore, organizationId: string): Promise<OrganizationRecord> {
  const organization = await store.organization(organizationId);
  if (!organization) throw new Error('the organization of the caller is gone');
  return organization;
}
