/** Reads and renames an organization. */

import type { RandomBytes } from '../clock.ts';
import { auditRecord } from '../management/audit.ts';
import { refreshCall } from '../management/fresh-caller.ts';
import type { ManagementStore, OrganizationRecord } from '../management/management.ts';
import type { ManagementCall } from '../management/management-call.ts';
import { commitOptimistically, type Proposal } from '../management/optimistic-commit.ts';

type OrganizationDeps = { readonly store: ManagementStore; readonly random: RandomBytes };

/** Undefined: not sent. */
type OrganizationChanges = { readonly name?: string };

export type Organizations = {
  get(call: ManagementCall): Promise<OrganizationRecord>;
  update(call: ManagementCall, changes: OrganizationChanges): Promise<OrganizationRecord>;
};

export function createOrganizations({ store, random }: OrganizationDeps): Organizations {
  return {
    get: ({ caller }) => read(store, caller.organization.id),
    update(call, changes) {
      const organizationId = call.caller.organization.id;
      const { actor, nowMs } = call;
      return commitOptimistically(store, organizationId, {
        attempt: async (): Promise<Proposal<OrganizationRecord>> => {
          await refreshCall(store, call, 'organization:manage');
          const current = await read(store, organizationId);
          const name = changes.name ?? current.name;
          if (name === current.name) return { result: current, change: null };
          const organization = { ...current, name, updatedAtMs: nowMs };
          const audit = auditRecord(
            actor,
            {
              action: 'organization.update',
              targetType: 'organization',
              targetId: organizationId,
              fields: ['name'],
            },
            { nowMs, random },
          );
          return { result: organization, change: { organization, audit: [audit] } };
        },
      });
    },
  };
}

async function read(store: ManagementStore, organizationId: string): Promise<OrganizationRecord> {
  const organization = await store.organization(organizationId);
  if (!organization) throw new Error('the organization of the caller is gone');
  return organization;
}
