/** Creates, changes, rotates, stops and revokes virtual keys, each with its event. */

import type { UnscopedDraft } from '../budgets/budget-draft.ts';
import { MANAGE as MANAGE_BUDGETS } from '../budgets/budget-scope.ts';
import type { BudgetView } from '../budgets/budget-view.ts';
import { prepareBudget } from '../budgets/new-budget.ts';
import type { EvaluatorStore } from '../evaluators/evaluator.ts';
import type { GovernanceEventType } from '../events/event-type.ts';
import { Fault } from '../fault.ts';
import { virtualKeyEvent } from '../gateway/governance-event.ts';
import { newId } from '../ids.ts';
import { requireMayLast } from '../keys/key-grants.ts';
import { type AuditedAction, changedFields } from '../management/audit.ts';
import { refreshRights } from '../management/fresh-caller.ts';
import { type IdempotentCall, requirePermission, type Target } from '../management/management-call.ts';
import {
  type AuditedProposal,
  type CommitDeps,
  commitAudited,
  commitIdempotently,
} from '../management/optimistic-commit.ts';
import { refuseProblems } from '../reasons.ts';
import { nextUpdateMs } from '../resources.ts';
import { expiryOf, newVirtualKey } from './new-virtual-key.ts';
import type { VirtualKeyRecord } from './virtual-key.ts';
import { requireMayCreateAt, requireReachable, requireVirtualKey } from './virtual-key-access.ts';
import {
  creationProblems,
  draftProblems,
  mergeConfig,
  type NewVirtualKey,
  readMetadata,
  type VirtualKeyDraft,
} from './virtual-key-draft.ts';
import { mintVirtualKeySecret } from './virtual-key-secret.ts';

export type VirtualKeyDeps = CommitDeps & {
  readonly evaluators: Pick<EvaluatorStore, 'find'>;
  readonly pepper: Buffer;
  /** The beginning of new secrets. */
  readonly prefix: string;
};

/** A key with its whole secret, which is shown only once. */
export type SecretVirtualKey = { readonly key: VirtualKeyRecord; readonly secret: string };

export type NewSecretVirtualKey = SecretVirtualKey & { readonly budget: BudgetView | null };

const KEYS_MAX = 10_000;

export async function createVirtualKey(
  deps: VirtualKeyDeps,
  call: IdempotentCall<NewSecretVirtualKey>,
  draft: NewVirtualKey,
): Promise<NewSecretVirtualKey> {
  const { store, random } = deps;
  const { nowMs } = call;
  refuseProblems(creationProblems(draft, call.replay === undefined ? nowMs : null));
  const { organization } = call.caller;
  const { secret, ...minted } = mintVirtualKeySecret(deps.prefix, deps);
  const record = newVirtualKey({ organizationId: organization.id, id: newId('vk', random), nowMs }, draft, minted);
  return await commitIdempotently(deps, call, {
    async checkCaller() {
      const fresh = await refreshRights(store, call);
      const place = await requireMayCreateAt(store, fresh, draft.traceProjectId);
      if (draft.budget !== null) requirePermission(fresh, MANAGE_BUDGETS, place);
      requireMayLast(fresh, expiryOf(draft, fresh));
      return fresh;
    },
    async attempt(fresh) {
      const key = { ...record, expiresAtMs: expiryOf(draft, fresh) };
      await requireReachable(deps, fresh, key, null);
      await refuseTakenId(deps, key);
      if ((await store.countVirtualKeys(key.organizationId)) >= KEYS_MAX) {
        throw new Fault('virtual_key_limit_reached', `An organization has at most ${KEYS_MAX} virtual keys.`);
      }
      const budget = draft.budget && (await prepareBudget(deps, { ...budgetOf(key, draft.budget), nowMs }));
      const result = { key, secret, budget: budget?.view ?? null };
      const change = { virtualKeys: [key], events: [eventOf('created', key, null)] };
      const audited = { ...actionOn('create', key), status: 201 };
      if (budget === null) return { result, change, audited };
      return { result, change: { ...change, budgets: [budget.view.budget] }, audited: [audited, budget.audited] };
    },
  });
}

function budgetOf({ organizationId, id }: VirtualKeyRecord, draft: UnscopedDraft) {
  return { organizationId, scope: { kind: 'virtual_key', id }, draft } as const;
}

type Update = Target & {
  readonly draft: VirtualKeyDraft;
  /** The revision that the key must have; null: any. */
  readonly expectedRevision: number | null;
};

/** Changes the fields that were sent, all of them or none. */
export async function updateVirtualKey(
  deps: VirtualKeyDeps,
  { draft, expectedRevision, call, id }: Update,
): Promise<VirtualKeyRecord> {
  const { nowMs } = call;
  refuseProblems(draftProblems(draft, nowMs));
  return await commitAudited(deps, call, async () => {
    const fresh = await refreshRights(deps.store, call);
    const stored = await requireVirtualKey(deps.store, { call: fresh, id }, 'virtualKeys:update');
    if (expectedRevision !== null && expectedRevision !== stored.revision) throw revisionMismatch(stored);
    requireNotRevoked(stored);
    const merged = merge(stored, draft);
    const fields = changedFields(FIELDS, stored, merged);
    if (fields.length === 0) return { result: stored, change: null };
    await requireReachable(deps, fresh, merged, stored);
    if (fields.includes('expires_at')) requireMayLast(fresh, merged.expiresAtMs);
    if (fields.includes('external_id')) await refuseTakenId(deps, merged);
    const key = asNext(merged, nowMs);
    return { result: key, change: { virtualKeys: [key] }, audited: { ...actionOn('update', key), fields } };
  });
}

function merge(stored: VirtualKeyRecord, draft: VirtualKeyDraft): VirtualKeyRecord {
  const { description, principalUserId, externalId, expiresAtMs, metadataJson = null } = draft;
  return {
    ...stored,
    name: draft.name ?? stored.name,
    ...(description !== undefined && { description }),
    ...(principalUserId !== undefined && { principalUserId }),
    ...(externalId !== undefined && { externalId }),
    ...(expiresAtMs !== undefined && { expiresAtMs }),
    metadataJson: readMetadata(metadataJson) ?? stored.metadataJson,
    labels: draft.labels ?? stored.labels,
    config: mergeConfig(stored.config, draft.config ?? {}),
  };
}

const FIELDS: { readonly [field: string]: keyof VirtualKeyRecord } = {
  name: 'name',
  description: 'description',
  principal_user_id: 'principalUserId',
  external_id: 'externalId',
  metadata: 'metadataJson',
  labels: 'labels',
  expires_at: 'expiresAtMs',
  config: 'config',
};

export type Rotation = {
  readonly call: IdempotentCall<SecretVirtualKey>;
  readonly id: string;
  /** How long the secret before works on; 0: not at all. */
  readonly overlapSeconds: number;
};

/** Gives the key a new secret. Only the one before works on, and no older one. */
export function rotateVirtualKey(
  deps: VirtualKeyDeps,
  { call, id, overlapSeconds }: Rotation,
): Promise<SecretVirtualKey> {
  const { nowMs } = call;
  return commitIdempotently(deps, call, {
    async checkCaller() {
      const fresh = await refreshRights(deps.store, call);
      return await requireVirtualKey(deps.store, { call: fresh, id }, 'virtualKeys:rotate');
    },
    attempt(stored) {
      requireNotRevoked(stored);
      const { secret, ...minted } = mintVirtualKeySecret(deps.prefix, deps);
      const overlaps = overlapSeconds > 0;
      const key = asNext(
        {
          ...stored,
          ...minted,
          previousSecretHash: overlaps ? stored.secretHash : null,
          previousSecretUntilMs: overlaps ? nowMs + overlapSeconds * 1000 : null,
        },
        nowMs,
      );
      const change = { virtualKeys: [key], events: [eventOf('rotated', key, null)] };
      return { result: { key, secret }, change, audited: actionOn('rotate', key) };
    },
  });
}

export type Reasoned = Target<IdempotentCall<VirtualKeyRecord>> & { readonly reason: string | null };

/** Stops an active key, or lets a disabled one work again; a key that is so already stays as it is. */
export function switchVirtualKey(
  deps: VirtualKeyDeps,
  { reason, ...target }: Reasoned,
  status: 'active' | 'disabled',
): Promise<VirtualKeyRecord> {
  return commitManaged(deps, target, (stored) => {
    requireNotRevoked(stored);
    if (stored.status === status) return { result: stored, change: null };
    const key = asNext({ ...stored, status }, target.call.nowMs);
    const [verb, happened] =
      status === 'active' ? (['enable', 'enabled'] as const) : (['disable', 'disabled'] as const);
    const change = { virtualKeys: [key], events: [eventOf(happened, key, reason)] };
    return { result: key, change, audited: { ...actionOn(verb, key), fields: ['status'] } };
  });
}

/** Revokes the key for good, with the secret before its last rotation. */
export function revokeVirtualKey(deps: VirtualKeyDeps, { reason, ...target }: Reasoned): Promise<VirtualKeyRecord> {
  return commitManaged(deps, target, (stored) => {
    requireNotRevoked(stored);
    const revoked = asNext({ ...stored, status: 'revoked' }, target.call.nowMs);
    const key = {
      ...revoked,
      previousSecretHash: null,
      previousSecretUntilMs: null,
      revokedAtMs: revoked.updatedAtMs,
    };
    const change = { virtualKeys: [key], events: [eventOf('revoked', key, reason)] };
    return { result: key, change, audited: actionOn('revoke', key) };
  });
}

/** Commits a change of one key, once for each idempotency key, with the caller's current rights. */
function commitManaged(
  deps: CommitDeps,
  { call, id }: Target<IdempotentCall<VirtualKeyRecord>>,
  attempt: (stored: VirtualKeyRecord) => AuditedProposal<VirtualKeyRecord>,
): Promise<VirtualKeyRecord> {
  return commitIdempotently(deps, call, {
    async checkCaller() {
      const fresh = await refreshRights(deps.store, call);
      return await requireVirtualKey(deps.store, { call: fresh, id }, 'virtualKeys:manage');
    },
    attempt,
  });
}

/** The instants of the changes of a key never repeat, so that each of its events has an id of its own. */
function asNext(key: VirtualKeyRecord, nowMs: number): VirtualKeyRecord {
  return { ...key, revision: key.revision + 1, updatedAtMs: nextUpdateMs(key, nowMs) };
}

type Happened = 'created' | 'rotated' | 'disabled' | 'enabled' | 'revoked';

function eventOf(happened: Happened, key: VirtualKeyRecord, reason: string | null) {
  const { organizationId, id: virtualKeyId, name, displayPrefix, updatedAtMs: occurredAtMs } = key;
  const type = `gateway.virtual_key.${happened}` as const satisfies GovernanceEventType;
  return virtualKeyEvent({ type, organizationId, occurredAtMs }, { virtualKeyId, name, displayPrefix, reason });
}

function actionOn(verb: string, { id }: VirtualKeyRecord): AuditedAction {
  return { action: `virtualKey.${verb}`, targetId: id };
}

async function refuseTakenId({ store }: CommitDeps, { organizationId, id, externalId }: VirtualKeyRecord) {
  if (externalId === null) return;
  const listing = { projectIds: 'all', externalId, after: null, limit: 1 } as const;
  const [other] = await store.virtualKeys(organizationId, listing);
  if (other === undefined || other.id === id) return;
  throw new Fault('virtual_key_external_id_taken', 'The organization already has a virtual key with this external_id.');
}

function requireNotRevoked({ revokedAtMs }: VirtualKeyRecord): void {
  if (revokedAtMs === null) return;
  const revokedAt = new Date(revokedAtMs).toISOString();
  throw new Fault('virtual_key_already_revoked', `The virtual key is revoked, since ${revokedAt}.`, {
    meta: { revokedAt },
  });
}

function revisionMismatch({ revision }: VirtualKeyRecord): Fault {
  return new Fault('revision_mismatch', `The virtual key has changed: its revision is ${revision} now.`, {
    meta: { revision },
  });
}
