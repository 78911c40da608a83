/** Changes, revokes and rotates existing API keys. */

import { Fault } from '../fault.ts';
import { isPossibleId } from '../ids.ts';
import { type OrganizationDirectory, readDirectory } from '../management/directory.ts';
import { type FreshCall, refreshCall } from '../management/fresh-caller.ts';
import type { ApiKeyRecord, ManagementStore } from '../management/management.ts';
import type { IdempotentCall, ManagementCall, Target } from '../management/management-call.ts';
import { type AuditedProposal, commitAudited, commitIdempotently } from '../management/optimistic-commit.ts';
import { refuseProblems } from '../reasons.ts';
import { hashSecret, mintSecretPart } from '../secrets.ts';
import { endSessions } from '../sessions/session.ts';
import type { MintDeps } from './key-creation.ts';
import { fieldProblems, type KeyDraft } from './key-draft.ts';
import { isExpired, requireMayChangeTo, requireMayRotate } from './key-grants.ts';
import { mergeChange } from './key-update.ts';
import { type KeyOwner, type KeyView, readOwner, viewKey } from './key-view.ts';
import { requireMayChange, requireOwn, requireVisible } from './key-visibility.ts';

/** The key with this id, without checking whether the caller may see it. */
export function findKey(store: ManagementStore, organizationId: string, id: string): Promise<ApiKeyRecord | null> {
  return isPossibleId(id) ? store.apiKey(organizationId, id) : Promise.resolve(null);
}

type KeyUpdate = Target & { readonly draft: KeyDraft };

/** Changes the fields that were sent. Returns the changed key. */
export function updateKey(deps: MintDeps, { call, id, draft }: KeyUpdate): Promise<KeyView> {
  const { store, random } = deps;
  const { nowMs } = call;
  refuseProblems(fieldProblems(draft));
  return commitOnKey(deps, { call, id }, async (fresh, stored) => {
    requireMayChange(fresh.caller, stored);
    requireNotRevoked(stored);
    const { key, fields, changesGrants } = mergeChange(stored, draft, { nowMs, random });
    const { directory, owner } = await readKeyContext(store, stored);
    const ownerGrants = stored.userId === null ? null : (owner?.grants ?? []);
    requireMayChangeTo(fresh, { stored, key, changesGrants }, { directory, ownerGrants });
    const result = viewKey(key, { directory, owner, nowMs });
    if (fields.length === 0) return { result, change: null };
    return { result, change: { apiKeys: [key] }, audited: { action: 'apiKey.update', targetId: id, fields } };
  });
}

/** Revokes the key permanently, with the previous secret of a rotation. */
export function revokeKey(deps: MintDeps, call: ManagementCall, id: string): Promise<void> {
  return commitOnKey(deps, { call, id }, async (fresh, stored) => {
    requireMayChange(fresh.caller, stored);
    requireNotRevoked(stored);
    const audited = { action: 'apiKey.revoke', targetId: id };
    const change = { apiKeys: [revoke(stored, call.nowMs)], endedSessions: [{ apiKeyId: id }] };
    return { result: undefined, change, audited };
  });
}

export function revoke(key: ApiKeyRecord, nowMs: number): ApiKeyRecord {
  return { ...key, revokedAtMs: nowMs, previousSecretHash: null, previousSecretUntilMs: null };
}

/** A key with its new token, which is shown only once. */
export type RenewedKey = { readonly token: string; readonly key: KeyView };

export type KeyRenewal = {
  readonly id: string;
  /** How long the previous secret stays valid; 0: not at all. */
  readonly overlapSeconds: number;
};

/** Gives the key a new secret. Only the latest previous secret stays valid. */
export function rotateKey(
  deps: MintDeps,
  call: IdempotentCall<RenewedKey>,
  { id, overlapSeconds }: KeyRenewal,
): Promise<RenewedKey> {
  const { store } = deps;
  const { nowMs } = call;
  return commitIdempotently(deps, call, {
    async checkCaller() {
      const { fresh, stored } = await findVisible(store, { call, id });
      requireOwn(fresh.caller, stored);
      if (call.replay === undefined) {
        requireNotRevoked(stored);
        requireNotExpired(stored, nowMs);
      }
      const context = await readKeyContext(store, stored);
      requireMayRotate(fresh, stored, context.directory);
      return { stored, context };
    },
    attempt({ stored, context }) {
      const { token, key } = renewSecret(deps, stored, { nowMs, overlapSeconds });
      const result = { token, key: viewKey(key, { ...context, nowMs }) };
      const change = { apiKeys: [key], ...endSessions({ apiKeyId: id }, key.previousSecretUntilMs) };
      return { result, change, audited: { action: 'apiKey.rotate', targetId: id } };
    },
  });
}

type KeyAttempt<R> = (fresh: FreshCall, stored: ApiKeyRecord) => Promise<AuditedProposal<R>>;

/** Commits a change of one key that the caller may see, with the caller's current rights. */
function commitOnKey<R>(deps: MintDeps, { call, id }: Target, attempt: KeyAttempt<R>): Promise<R> {
  return commitAudited(deps, call, async () => {
    const { fresh, stored } = await findVisible(deps.store, { call, id });
    return attempt(fresh, stored);
  });
}

type Found = { readonly fresh: FreshCall; readonly stored: ApiKeyRecord };

async function findVisible(store: ManagementStore, { call, id }: Target): Promise<Found> {
  const [fresh, stored] = await Promise.all([
    refreshCall(store, call, 'organization:manage'),
    findKey(store, call.caller.organization.id, id),
  ]);
  return { fresh, stored: await requireVisible(store, fresh.caller, stored) };
}

type KeyContext = { readonly directory: OrganizationDirectory; readonly owner: KeyOwner | null };

/** What determines, beside the key itself, what the key permits. */
export async function readKeyContext(store: ManagementStore, key: ApiKeyRecord): Promise<KeyContext> {
  const [directory, owner] = await Promise.all([
    readDirectory(store, key.organizationId),
    readOwner(store, key.organizationId, key.userId),
  ]);
  return { directory, owner };
}

type Renewing = { readonly nowMs: number; readonly overlapSeconds: number };

function renewSecret(
  { random, pepper, keyPrefix }: MintDeps,
  stored: ApiKeyRecord,
  { nowMs, overlapSeconds }: Renewing,
): { token: string; key: ApiKeyRecord } {
  const secret = mintSecretPart(random);
  const overlaps = overlapSeconds > 0;
  const key = {
    ...stored,
    secretHash: hashSecret(pepper, secret),
    // The store looks up an old secret without a checksum only while the key is marked as imported.
    imported: overlaps && stored.imported,
    previousSecretHash: overlaps ? stored.secretHash : null,
    previousSecretUntilMs: overlaps ? nowMs + overlapSeconds * 1000 : null,
    updatedAtMs: nowMs,
  };
  return { token: `${keyPrefix}${stored.id}_${secret}`, key };
}

function requireNotRevoked({ revokedAtMs }: ApiKeyRecord): void {
  if (revokedAtMs === null) return;
  const revokedAt = new Date(revokedAtMs).toISOString();
  throw new Fault('api_key_already_revoked', `The API key is revoked already, since ${revokedAt}.`, {
    meta: { revokedAt },
  });
}

function requireNotExpired(key: ApiKeyRecord, nowMs: number): void {
  if (isExpired(key, nowMs)) {
    throw new Fault('api_key_expired', 'The API key has expired; give it a later expiry first.');
  }
}
