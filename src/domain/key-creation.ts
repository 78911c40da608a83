/** Minting API keys: who may have which, and what it holds. */

import { isAdministrator } from './administrators.ts';
import { auditRecord } from './audit.ts';
import type { RandomBytes } from './clock.ts';
import type { Decision } from './decide.ts';
import { decideOnce } from './decide-once.ts';
import { type OrganizationDirectory, readDirectory } from './directory.ts';
import { Fault } from './fault.ts';
import { type FreshCall, refreshCall } from './fresh-caller.ts';
import { newId } from './ids.ts';
import { creationProblems, type KeyDraft, withoutEmptyGrants } from './key-draft.ts';
import {
  grantsOfPersonalKey,
  grantsOfServiceKey,
  type KeyGrants,
  requireMayGrant,
  requireMayLast,
} from './key-grants.ts';
import { readOwner } from './key-owners.ts';
import { type KeyOwner, type KeyView, viewKey } from './key-view.ts';
import type { ApiKeyRecord, ManagementStore } from './management.ts';
import { administratorRequired, isNameable, type ManagementCall, type ReceiptOf } from './management-call.ts';
import { liveGrants, visibleScopes } from './member-grants.ts';
import { refuseProblems, typeReason } from './reasons.ts';
import { hashSecret, mintApiKey } from './secrets.ts';

export type MintDeps = {
  readonly store: ManagementStore;
  readonly random: RandomBytes;
  readonly pepper: Buffer;
  /** What new tokens begin with. */
  readonly keyPrefix: string;
};

/** A key with its whole token, which nothing else ever shows. */
export type MintedKey = { readonly token: string; readonly key: KeyView };

export type KeyCreation = {
  readonly call: ManagementCall;
  readonly draft: KeyDraft;
  readonly receipt: ReceiptOf<MintedKey>;
};

export function createKey(deps: MintDeps, { call, draft: sent, receipt }: KeyCreation): Promise<MintedKey> {
  const { store } = deps;
  const draft = withoutEmptyGrants(sent);
  refuseProblems(creationProblems(draft, call.nowMs));
  return decideOnce(store, call, {
    receipt,
    judge: async () => judgeCreation(store, await refreshCall(store, call, 'organization:manage'), draft),
    take: (allowed) => decideCreation(deps, draft, allowed),
  });
}

type Allowed = Omit<Minting, 'draft'> & {
  readonly owner: KeyOwner | null;
  readonly directory: OrganizationDirectory;
};

async function judgeCreation(store: ManagementStore, call: FreshCall, draft: KeyDraft): Promise<Allowed> {
  const organizationId = call.caller.organization.id;
  const userId = ownerWished(call, draft);
  const owner = userId === null ? null : await findOwner(store, organizationId, userId);
  const holding = grantsWished(call, draft, owner === null || userId === null ? null : { ...owner, userId });
  const directory = await readDirectory(store, organizationId);
  const answered = await findAnswered(store, call);
  const ownerGrants = owner?.grants ?? null;
  // A copy names no ids that could turn out to be hidden, and what it holds of scopes that have ended is nobody's power.
  const isCopy = owner !== null && draft.bindings === undefined;
  const handedOut = isCopy
    ? { grants: liveGrants(holding.grants, directory), seen: directory }
    : { grants: holding.grants, seen: visibleScopes(call, directory) };
  requireMayGrant(call, handedOut.grants, { directory: handedOut.seen, ownerGrants });
  requireMayLast(call, expiryWished(call, draft));
  if (answered !== null) {
    requireMayGrant(call, liveGrants(answered.bindings, directory), { directory, ownerGrants });
    requireMayLast(call, answered.expiresAtMs);
  }
  return { call, userId, owner, holding, directory };
}

/**
 * The key of an answer that is to be given again. Where no grants were asked for, the same words would make another
 * key now, but it is the token of this one that the caller gets.
 */
async function findAnswered(store: ManagementStore, { caller, replay }: FreshCall): Promise<ApiKeyRecord | null> {
  const id = replay?.answeredId ?? null;
  return id === null ? null : await store.apiKey(caller.organization.id, id);
}

function decideCreation(deps: MintDeps, draft: KeyDraft, allowed: Allowed): Decision<MintedKey> {
  const { random } = deps;
  const { owner, directory, ...minting } = allowed;
  const { actor, nowMs } = minting.call;
  const { token, key } = mintKey(deps, { ...minting, draft });
  const result = { token, key: viewKey(key, { owner, directory, nowMs }) };
  const deed = { action: 'apiKey.create', targetType: 'apiKey', targetId: key.id, status: 201 };
  const audit = [auditRecord(actor, deed, { nowMs, random })];
  return { result, change: { apiKeys: [key], audit } };
}

/** Whose the key is to be; null: nobody's. Throws unless the caller may ask for that. */
function ownerWished({ caller }: FreshCall, draft: KeyDraft): string | null {
  const own = caller.key.userId;
  const isService = draft.keyType === 'service';
  const wished = isService ? null : (draft.assignedToUserId ?? own);
  if (wished !== null && wished === own) return own;
  // Everything but a key of one's own is reserved.
  if (!isAdministrator(caller, caller.organization.id)) throw administratorRequired();
  if (wished === null && !isService) refuseProblems([typeReason('assignedToUserId', 'string', 'undefined')]);
  return wished;
}

async function findOwner(store: ManagementStore, organizationId: string, userId: string): Promise<KeyOwner> {
  const owner = isNameable(userId) ? await readOwner(store, organizationId, userId) : null;
  if (owner?.active) return owner;
  throw new Fault('api_key_scope_violation', 'The owner of a key must be an active member of the organization.');
}

/** A key ends with the one that made it, unless an end is asked for. */
function expiryWished({ callingKey }: FreshCall, { expiresAtMs }: KeyDraft): number | null {
  return expiresAtMs === undefined ? callingKey.expiresAtMs : expiresAtMs;
}

type NamedOwner = KeyOwner & { readonly userId: string };

function grantsWished({ caller, callingKey, replay }: FreshCall, draft: KeyDraft, owner: NamedOwner | null): KeyGrants {
  const organizationId = caller.organization.id;
  if (owner === null) return grantsOfServiceKey(draft, organizationId);
  // What stands in for grants follows from what others hold, and that of the answered key is judged anyway.
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
    previousSecretHash: null,
    previousSecretUntilMs: null,
    expiresAtMs: expiryWished(call, draft),
    revokedAtMs: null,
    lastUsedAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    bindings: holding.grants.map(({ role, scopeType, scopeId, permissions }) => ({
      id: newId('rolebinding', random),
      role,
      scopeType,
      scopeId,
      permissions,
    })),
  };
  return { token, key };
}
