/** Changing, ending and renewing an API key that exists. */

import { auditRecord } from './audit.ts';
import { type Decision, decide } from './decide.ts';
import { decideOnce } from './decide-once.ts';
import { type OrganizationDirectory, readDirectory } from './directory.ts';
import { Fault } from './fault.ts';
import { type FreshCall, refreshCall } from './fresh-caller.ts';
import type { MintDeps } from './key-creation.ts';
import { fieldProblems, type KeyDraft } from './key-draft.ts';
import { isExpired, requireMayChangeTo, requireMayRotate } from './key-grants.ts';
import { readOwner } from './key-owners.ts';
import { mergeChange } from './key-update.ts';
import { type KeyOwner, type KeyView, viewKey } from './key-view.ts';
import { requireMayChange, requireOwn, requireVisible } from './key-visibility.ts';
import type { ApiKeyRecord, ManagementStore } from './management.ts';
import { isNameable, type ManagementCall, type ReceiptOf } from './management-call.ts';
import { refuseProblems } from './reasons.ts';
import { hashSecret, mintSecretPart } from './secrets.ts';

/** The key with this id, whoever may see it. */
export function findKey(store: ManagementStore, organizationId: string, id: string): Promise<ApiKeyRecord | null> {
  return isNameable(id) ? store.apiKey(organizationId, id) : Promise.resolve(null);
}

export type KeyUpdate = { readonly call: ManagementCall; readonly id: string; readonly draft: KeyDraft };

/** Changes what was sent. The answer is the key as it is now. */
export function updateKey(deps: MintDeps, { call, id, draft }: KeyUpdate): Promise<KeyView> {
  const { store, random } = deps;
  const { actor, nowMs } = call;
  refuseProblems(fieldProblems(draft));
  return decideOn(deps, { call, id }, async (fresh, stored): Promise<Decision<KeyView>> => {
    requireMayChange(fresh.caller, stored);
    requireNotRevoked(stored);
    const { key, fields, changesGrants } = mergeChange(stored, draft, { nowMs, random });
    const { directory, owner } = await readSurroundings(store, stored);
    const ownerGrants = stored.userId === null ? null : (owner?.grants ?? []);
    requireMayChangeTo(fresh, { stored, key, changesGrants }, { directory, ownerGrants });
    const result = viewKey(key, { directory, owner, nowMs });
    if (fields.length === 0) return { result, change: null };
    const deed = { action: 'apiKey.update', targetType: 'apiKey', targetId: id, fields };
    return { result, change: { apiKeys: [key], audit: [auditRecord(actor, deed, { nowMs, random })] } };
  });
}

/** Ends the key for good, the secret of a rotation that still overlaps included. */
export function revokeKey(deps: MintDeps, call: ManagementCall, id: string): Promise<void> {
  const { actor, nowMs } = call;
  return decideOn(deps, { call, id }, async (fresh, stored) => {
    requireMayChange(fresh.caller, stored);
    requireNotRevoked(stored);
    const key = { ...stored, revokedAtMs: nowMs, previousSecretHash: null, previousSecretUntilMs: null };
    const deed = { action: 'apiKey.revoke', targetType: 'apiKey', targetId: id };
    const audit = [auditRecord(actor, deed, { nowMs, random: deps.random })];
    return { result: undefined, change: { apiKeys: [key], audit } };
  });
}

/** A key with its new token, which nothing else ever shows. */
export type RenewedKey = { readonly token: string; readonly key: KeyView };

export type KeyRenewal = {
  readonly call: ManagementCall;
  readonly id: string;
  /** How long the secret before works on; 0: not at all. */
  readonly overlapSeconds: number;
  readonly receipt: ReceiptOf<RenewedKey>;
};

/** Gives the key a new secret. Only the newest of the secrets before it lives on. */
export function rotateKey(deps: MintDeps, { call, id, overlapSeconds, receipt }: KeyRenewal): Promise<RenewedKey> {
  const { store, random } = deps;
  const { actor, nowMs } = call;
  return decideOnce(store, call, {
    receipt,
    async judge() {
      const { fresh, stored } = await findVisible(store, { call, id });
      requireOwn(fresh.caller, stored);
      if (call.replay === undefined) {
        requireNotRevoked(stored);
        requireNotExpired(stored, nowMs);
      }
      const surroundings = await readSurroundings(store, stored);
      requireMayRotate(fresh, stored, surroundings.directory);
      return { stored, surroundings };
    },
    take({ stored, surroundings }) {
      const { token, key } = renewSecret(deps, stored, { nowMs, overlapSeconds });
      const result = { token, key: viewKey(key, { ...surroundings, nowMs }) };
      const deed = { action: 'apiKey.rotate', targetType: 'apiKey', targetId: id };
      const audit = [auditRecord(actor, deed, { nowMs, random })];
      return { result, change: { apiKeys: [key], audit } };
    },
  });
}

type Target = { readonly call: ManagementCall; readonly id: string };
type Take<R> = (fresh: FreshCall, stored: ApiKeyRecord) => Promise<Decision<R>>;

/** Decides about one key that the caller sees, with the rights the caller has now. */
function decideOn<R>({ store }: MintDeps, { call, id }: Target, take: Take<R>): Promise<R> {
  return decide(store, call.caller.organization.id, {
    take: async () => {
      const { fresh, stored } = await findVisible(store, { call, id });
      return take(fresh, stored);
    },
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

type Surroundings = { readonly directory: OrganizationDirectory; readonly owner: KeyOwner | null };

/** What decides, beside the key itself, what it can do. */
export async function readSurroundings(store: ManagementStore, key: ApiKeyRecord): Promise<Surroundings> {
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
    // An older secret without a checksum is looked up only as long as the key is known for it.
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
