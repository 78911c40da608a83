/** Makes the record of a new virtual key. */

import type { FreshCall } from '../management/fresh-caller.ts';
import { DEFAULT_CONFIG, type VirtualKeyRecord } from './virtual-key.ts';
import { mergeConfig, type NewVirtualKey, readMetadata } from './virtual-key-draft.ts';
import type { MintedSecret } from './virtual-key-secret.ts';

type Identity = Pick<VirtualKeyRecord, 'organizationId' | 'id'> & { readonly nowMs: number };

export function newVirtualKey(
  { nowMs, ...identity }: Identity,
  draft: NewVirtualKey,
  minted: Omit<MintedSecret, 'secret'>,
): VirtualKeyRecord {
  return {
    ...identity,
    name: draft.name ?? '',
    description: draft.description ?? null,
    status: 'active',
    ...minted,
    previousSecretHash: null,
    previousSecretUntilMs: null,
    principalUserId: draft.principalUserId ?? null,
    traceProjectId: draft.traceProjectId,
    externalId: draft.externalId ?? null,
    metadataJson: readMetadata(draft.metadataJson ?? '{}') ?? '{}',
    labels: draft.labels ?? [],
    config: mergeConfig(DEFAULT_CONFIG, draft.config ?? {}),
    revision: 1,
    lastUsedAtMs: null,
    expiresAtMs: draft.expiresAtMs ?? null,
    revokedAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** Without an expiry in the request, the key expires with the calling key. */
export function expiryOf({ expiresAtMs }: NewVirtualKey, { callingKey }: FreshCall): number | null {
  return expiresAtMs ?? callingKey.expiresAtMs;
}
