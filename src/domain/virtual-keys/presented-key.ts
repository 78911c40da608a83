/** Verifies the virtual key that a request presents, reading the store each time: a revoked one is refused on the next request. */

import type { KeyStore } from '../management/management-port.ts';
import { hashSecret } from '../secrets.ts';
import type { PresentedKey } from './virtual-key.ts';
import { hasSecretChecksum, isVirtualKeyShape } from './virtual-key-secret.ts';

type KeyCheckDeps = {
  readonly keys: Pick<KeyStore, 'findVirtualKey'>;
  readonly pepper: Buffer;
  readonly prefix: string;
};

export type VerifiedKey =
  /** No key has the secret, or its overlap has ended. */
  | { readonly kind: 'unknown' }
  | ({
      readonly kind: 'refused';
      readonly reason: 'revoked' | 'disabled' | 'expired' | 'principal_inactive';
    } & PresentedKey)
  | ({ readonly kind: 'valid' } & PresentedKey);

const BEARER = /^bearer +(\S+)\s*$/i;

/** The first header that has the shape of a virtual key counts; null: none has. */
export function readVirtualKey(header: (name: string) => string | undefined, prefix: string): string | null {
  const [, bearer = ''] = BEARER.exec(header('authorization')?.trimStart() ?? '') ?? [];
  const presented = [bearer, header('x-api-key')?.trim() ?? '', header('api-key')?.trim() ?? ''];
  return presented.find((text) => isVirtualKeyShape(text, prefix)) ?? null;
}

export function createKeyCheck({ keys, pepper, prefix }: KeyCheckDeps) {
  return async (secret: string, nowMs: number): Promise<VerifiedKey> => {
    const found = hasSecretChecksum(secret, prefix)
      ? await keys.findVirtualKey(hashSecret(pepper, secret), nowMs)
      : null;
    return found === null ? { kind: 'unknown' } : checkState(found, nowMs);
  };
}

/** Whether a key may still be used. */
export function checkState(found: PresentedKey, nowMs: number): Exclude<VerifiedKey, { kind: 'unknown' }> {
  const { status, expiresAtMs } = found.key;
  if (status !== 'active') return { kind: 'refused', reason: status, ...found };
  if (expiresAtMs !== null && nowMs >= expiresAtMs) return { kind: 'refused', reason: 'expired', ...found };
  if (!found.principalActive) return { kind: 'refused', reason: 'principal_inactive', ...found };
  return { kind: 'valid', ...found };
}
