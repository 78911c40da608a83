/** Mints API keys: checks who may have which grants. */

import { Fault } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { type OrganizationDirectory, readDirectory } from '../management/directory.ts';
import { type FreshCall, refreshCall } from '../management/fresh-caller.ts';
import type { ApiKeyRecord, ManagementStore } from '../management/management.ts';
import { administratorRequired, type IdempotentCall } from '../management/management-call.ts';
import { type AuditedProposal, type CommitDeps, commitIdempotently } from '../management/optimistic-commit.ts';
import { isAdministrator } from '../organization/administrators.ts';
import { liveGrants, visibleScopes } from '../organization/member-grants.ts';
import { NEW_KEY } from '../organization/new-organization.ts';
import { refuseProblems, typeReason } from '../reasons.ts';
import { hashSecret, mintApiKey } from '../secrets.ts';
import { creationProblems, type KeyDraft, withoutEmptyGrants } from './key-draft.ts';
import {
  grantsOfPersonalKey,
  grantsOfServiceKey,
  type KeyGrants,
  requireMayGrant,
  requireMayLast,
} from './key-grants.ts';
import { type KeyOwner, type KeyView, readOwner, viewKey } from './key-view.ts';

export type MintDeps = CommitDeps & {
  readonly pepper: Buffer;
  /** The prefix of new tokens. */
  readonly keyPrefix: string;
};

/** A key with its whole token, which is shown only once. */
export type MintedKey = { readonly token: string; readonly key: KeyView };

export function createKey(deps: MintDeps, call: IdempotentCall<MintedKey>, sent: KeyDraft): Promise<MintedKey> {
  const { store } = deps;
  const draft = withoutEmptyGrants(sent);
  refuseProblems(creationProblems(draft, call.replay === undefined ? call.nowMs : null));
  return commitIdempotently(deps, call, {
    checkCaller: async () => checkCreation(store, await refreshCall(store, call, 'organization:manage'), draft),
    attempt: (allowed) => proposeCreation(deps, draft, allowed),
  });
}

type Allowed = Omit<Minting, 'draft'> & {
  readonly owner: KeyOwner | null;
  readonly directory: OrganizationDirectory;
};

async function checkCreation(store: ManagementStore, call: FreshCall, draft: KeyDraft): Promise<Allowed> {
  const organizationId = call.caller.organization.id;
  const userId = chooseOwner(call, draft);
  const owner = userId === null ? null : await findOwner(store, organizationId, userId);
  const holding = chooseGrants(call, draft, owner === null || userId === null ? null : { ...owner, userId });
  const directory = await readDirectory(store, organizationId);
  const answered = await findAnswered(store, call);
  const ownerGrants = owner?.grants ?? null;
  // A copy names no ids, so it cannot reveal hidden ones; its grants at archived scopes permit nothing.
  const isCopy = owner !== null && draft.bindings === undefined;
  const granted = isCopy
    ? { grants: liveGrants(holding.grants, directory), seen: directory }
    : { grants: holding.grants, seen: visibleScopes(call, directory) };
  requireMayGrant(call, granted.grants, { directory: granted.seen, ownerGrants });
  requireMayLast(call, chooseExpiry(call, draft));
  if (answered !== null) {
    requireMayGrant(call, liveGrants(answered.bindings, directory), { directory, ownerGrants });
    requireMayLast(call, answered.expiresAtMs);
  }
  return { call, userId, owner, holding, directory };
}

/**
 * The key in a stored answer that is sent again. A repeated request without explicit grants might make a different key
 * now, but the caller gets the token of this one.
 */
async function findAnswered(store: ManagementStore, { caller, replay }: FreshCall): Promise<ApiKeyRecord | null> {
  const id = replay?.answeredId ?? null;
  return id === null ? null : await store.apiKey(caller.organization.id, id);
}

function proposeCreation(deps: MintDeps, draft: KeyDraft, allowed: Allowed): AuditedProposal<MintedKey> {
  const { owner, directory, ...minting } = allowed;
  const { token, key } = mintKey(deps, { ...minting, draft });
  const result = { token, key: viewKey(key, { owner, directory, nowMs: minting.call.nowMs }) };
  return { result, change: { apiKeys: [key] }, audited: { action: 'apiKey.create', targetId: key.id, status: 201 } };
}

/** The owner of the new key; null: a service key. Throws unless the caller may choose that owner. */
function chooseOwner({ caller }: FreshCall, draft: KeyDraft): string | null {
  const own = caller.key.userId;
  const isService = draft.keyType === 'service';
  const requested = isService ? null : (draft.assignedToUserId ?? own);
  if (requested !== null && requested === own) return own;
  // Only administrators may create keys that are not their own.
  if (!isAdministrator(caller, caller.organization.id)) throw administratorRequired();
  if (requested === null && !isService) refuseProblems([typeReason('assignedToUserId', 'string', 'undefined')]);
  return requested;
}

async function findOwner(store: ManagementStore, organizationId: string, userId: string): Promise<KeyOwner> {
  const owner = isPossibleId(userId) ? await readOwner(store, organizationId, userId) : null;
  if (owner?.active) return owner;
  throw new Fault('api_key_scope_violation', 'The owner of a key must be an active member of the organization.');
}

/** Without an expiry in the request, the key expires with the calling key. */
function chooseExpiry({ callingKey }: FreshCall, { expiresAtMs }: KeyDraft): number | null {
  return expiresAtMs === undefined ? callingKey.expiresAtMs : expiresAtMs;
}

type NamedOwner = KeyOwner & { readonly userId: string };

function chooseGrants({ caller, callingKey, replay }: FreshCall, draft: KeyDraft, owner: NamedOwner | null): KeyGrants {
  const organizationId = caller.organization.id;
  if (owner === null) return grantsOfServiceKey(draft, organizationId);
  // Default grants follow from the owner's grants; a repeated request is checked against the stored key anyway.
  if (replay !== undefined && draft.bindings === undefined) return { permissionMode: 'all', grants: [] };
  const isOneself = owner.userId === caller.key.userId;
  return grantsOfPersonalKey(draft, { ...owner, callingKey: isOneself ? callingKey : null }, organizationId);
}

type Minting = {
  readonly call: FreshCall;
  readonly draft: KeyDraft;
  readonly userId: string | null;
  readonly holding: KeyGrants;
};

function mintKey(deps: MintDeps, { call, draft, userId, holding }: Minting): { token: string; key: ApiKeyRecord } {
  const { random, pepper, keyPrefix } = deps;
  const { caller, nowMs } = call;
  const { keyId, secret, token } = mintApiKey(keyPrefix, random);
  const key: ApiKeyRecord = {
    ...NEW_KEY,
    organizationId: caller.organization.id,
    id: keyId,
    keyType: userId === null ? 'service' : 'personal',
    name: draft.name ?? '',
    description: draft.description ?? null,
    userId,
    createdByUserId: caller.key.userId,
    permissionMode: holding.permissionMode,
    secretHash: hashSecret(pepper, secret),
    imported: false,
    expiresAtMs: chooseExpiry(call, draft),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    bindings: holding.grants.map((grant) => ({ ...grant, id: newId('rolebinding', random) })),
  };
  return { token, key };
}
