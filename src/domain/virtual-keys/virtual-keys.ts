/** The operations on the virtual keys of an organization. */

import type { CursorCodec } from '../cursor.ts';
import { requireSomewhere } from '../management/directory.ts';
import { bindFilter, type CursorPage, type CursorPageRequest, readCursorPage } from '../management/listing.ts';
import type { IdempotentCall, ManagementCall, Target } from '../management/management-call.ts';
import type { Spend } from '../spend/spend.ts';
import type { SpendTotals } from '../spend/spend-store.ts';
import type { VirtualKeyRecord } from './virtual-key.ts';
import { CREATE, requireVirtualKey, VIEW, visibleProjects } from './virtual-key-access.ts';
import {
  createVirtualKey,
  type NewSecretVirtualKey,
  type Reasoned,
  type Rotation,
  revokeVirtualKey,
  rotateVirtualKey,
  switchVirtualKey,
  updateVirtualKey,
  type VirtualKeyDeps,
} from './virtual-key-changes.ts';
import { creationProblems, draftProblems, type NewVirtualKey, type VirtualKeyDraft } from './virtual-key-draft.ts';

type Deps = VirtualKeyDeps & { readonly cursors: CursorCodec; readonly spend: Spend };

type ListRequest = CursorPageRequest & {
  /** Null: any. */
  readonly externalId: string | null;
};

type Range = { readonly fromMs: number; readonly toMs: number };

export type VirtualKeys = ReturnType<typeof createVirtualKeys>;

/** Every operation on one key throws virtual_key_not_found, for hidden keys too, and insufficient_permissions. */
export function createVirtualKeys(deps: Deps) {
  const { store, cursors, spend } = deps;
  return {
    /** All problems of a key that show without stored data. */
    draftProblems,
    /** Of a key to create; none where the clock alone refuses it, for a repeated request has its answer. */
    creationProblems: (draft: NewVirtualKey, nowMs: number) =>
      creationProblems(draft, null).length === 0 ? [] : creationProblems(draft, nowMs),
    /** Throws insufficient_permissions unless the caller may create keys somewhere. */
    admitCreation: (call: ManagementCall) => requireSomewhere(store, call, CREATE),
    async admit(target: Target, permission: string): Promise<void> {
      await requireVirtualKey(store, target, permission);
    },
    /** Newest first. Throws invalid_cursor. */
    async list(call: ManagementCall, { externalId, ...page }: ListRequest): Promise<CursorPage<VirtualKeyRecord>> {
      const organizationId = call.caller.organization.id;
      const projectIds = await visibleProjects(store, call);
      const binding = ['virtual-keys', organizationId, bindFilter(externalId)];
      return await readCursorPage({ cursors, binding, positionOf: (key: VirtualKeyRecord) => key }, page, (range) =>
        store.virtualKeys(organizationId, { projectIds, externalId, ...range }),
      );
    },
    get: (target: Target) => requireVirtualKey(store, target, VIEW),
    /**
     * Throws api_key_scope_violation, member_not_found, evaluator_not_found, virtual_key_external_id_taken and
     * virtual_key_limit_reached; with a budget insufficient_permissions and budget_limit_reached.
     */
    create: (call: IdempotentCall<NewSecretVirtualKey>, draft: NewVirtualKey) => createVirtualKey(deps, call, draft),
    /** Throws as `create` does, revision_mismatch and virtual_key_already_revoked. */
    update: (target: Target, draft: VirtualKeyDraft, expectedRevision: number | null) =>
      updateVirtualKey(deps, { ...target, draft, expectedRevision }),
    /** This and the three below throw virtual_key_already_revoked. */
    rotate: (rotation: Rotation) => rotateVirtualKey(deps, rotation),
    disable: (reasoned: Reasoned) => switchVirtualKey(deps, reasoned, 'disabled'),
    enable: (reasoned: Reasoned) => switchVirtualKey(deps, reasoned, 'active'),
    revoke: (reasoned: Reasoned) => revokeVirtualKey(deps, reasoned),
    /** Throws unavailable when the sums take too long. */
    async spend({ call, id }: Target, range: Range): Promise<SpendTotals> {
      await requireVirtualKey(store, { call, id }, VIEW);
      const { organization } = call.caller;
      const query = {
        ...range,
        groupBy: null,
        filters: { virtual_key: id },
        order: 'cost',
        cursor: '',
        limit: 1,
      } as const;
      return (await spend.query(organization, query, call.nowMs)).total;
    },
  };
}
