/** The service for the API keys of an organization. */

import type { Clock } from '../clock.ts';
import type { CursorCodec } from '../cursor.ts';
import { readDirectory } from '../management/directory.ts';
import { bindFilter, type CursorPageRequest, readCursorPage } from '../management/listing.ts';
import type { ApiKeyRecord, ManagementStore } from '../management/management.ts';
import type { IdempotentCall, ManagementCall } from '../management/management-call.ts';
import {
  findKey,
  type KeyRenewal,
  type RenewedKey,
  readKeyContext,
  revokeKey,
  rotateKey,
  updateKey,
} from './key-changes.ts';
import { createKey, type MintDeps, type MintedKey } from './key-creation.ts';
import { creationProblems, fieldProblems, type KeyDraft } from './key-draft.ts';
import { type KeyView, readOwners, viewKey } from './key-view.ts';
import { type KeyScope, listedOwners, requireMayList, requireVisible } from './key-visibility.ts';

export type { RenewedKey } from './key-changes.ts';
export type { MintedKey } from './key-creation.ts';
export type { BindingDraft, KeyDraft } from './key-draft.ts';
export type { KeyView } from './key-view.ts';
export { KEY_SCOPES } from './key-visibility.ts';

type ApiKeysDeps = MintDeps & { readonly cursors: CursorCodec; readonly clock: Clock };

export type KeyListRequest = CursorPageRequest & { readonly scope: KeyScope; readonly includeRevoked: boolean };

/** `nextCursor`: null when nothing remains, undefined when no page was requested and all keys are included. */
type KeyPage = { readonly keys: readonly KeyView[]; readonly nextCursor: string | null | undefined };

/** Keys in an answer when no page is requested. */
const UNPAGED_MAX = 1_000;
const PAGE_SIZE = 50;

export type ApiKeys = ReturnType<typeof createApiKeys>;

export function createApiKeys(deps: ApiKeysDeps) {
  const { store, clock } = deps;
  return {
    /** All problems of a key to create; none where the clock alone refuses it, for a repeated request has its answer. */
    creationProblems: (draft: KeyDraft) =>
      creationProblems(draft, null).length === 0 ? [] : creationProblems(draft, clock()),
    /** Problems of a change that can be found without the stored key. */
    changeProblems: fieldProblems,
    /** Throws insufficient_permissions for a caller who may not list keys. */
    admitList: ({ caller }: ManagementCall) => requireMayList(caller),
    /** Newest first. Throws insufficient_permissions and invalid_cursor. */
    list: (call: ManagementCall, question: KeyListRequest) => listKeys(deps, call, question),
    /** Throws validation_error, administrator_required and api_key_scope_violation. */
    create: (call: IdempotentCall<MintedKey>, draft: KeyDraft) => createKey(deps, call, draft),
    /** Throws api_key_not_found, for hidden keys too. */
    get: (call: ManagementCall, id: string) => getKey(store, call, id),
    /** Throws api_key_not_found, api_key_not_owned, api_key_already_revoked, validation_error, api_key_scope_violation. */
    update: (call: ManagementCall, id: string, draft: KeyDraft) => updateKey(deps, { call, id, draft }),
    /** Revokes permanently. Throws api_key_not_found, api_key_not_owned and api_key_already_revoked. */
    revoke: (call: ManagementCall, id: string) => revokeKey(deps, call, id),
    /** Throws as `revoke` does, and api_key_expired and api_key_scope_violation. */
    rotate: (call: IdempotentCall<RenewedKey>, renewal: KeyRenewal) => rotateKey(deps, call, renewal),
  };
}

async function getKey(store: ManagementStore, { caller, nowMs }: ManagementCall, id: string): Promise<KeyView> {
  const key = await requireVisible(store, caller, await findKey(store, caller.organization.id, id));
  return viewKey(key, { ...(await readKeyContext(store, key)), nowMs });
}

async function listKeys(deps: ApiKeysDeps, call: ManagementCall, question: KeyListRequest): Promise<KeyPage> {
  const { store, cursors } = deps;
  const { caller, nowMs } = call;
  const { scope, includeRevoked, cursor, limit } = question;
  const organizationId = caller.organization.id;
  const personalOf = listedOwners(caller, scope);
  const binding = ['keys', organizationId, bindFilter(personalOf), String(includeRevoked)];
  const isPaged = cursor !== '' || limit !== null;
  const request = { cursor, limit: limit ?? (isPaged ? PAGE_SIZE : UNPAGED_MAX) };
  const page = await readCursorPage({ cursors, binding, positionOf: (key: ApiKeyRecord) => key }, request, (range) =>
    store.apiKeys(organizationId, { personalOf, includeRevoked, ...range }),
  );
  const [directory, owners] = await Promise.all([
    readDirectory(store, organizationId),
    readOwners(store, organizationId, page.items),
  ]);
  const keys = page.items.map((key) => viewKey(key, { directory, owner: owners.get(key.userId ?? '') ?? null, nowMs }));
  return { keys, nextCursor: isPaged ? page.nextCursor : (page.nextCursor ?? undefined) };
}
