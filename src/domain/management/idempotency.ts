/** Idempotency keys: an operation takes effect once, however often a request is sent. */

import { createHash } from 'node:crypto';
import type { RandomBytes } from '../clock.ts';
import { Fault } from '../fault.ts';
import { decrypt, type EncryptionKeys, encrypt } from '../secrets.ts';
import type { ManagementStore, Receipt, ReceiptName } from './management.ts';

type IdempotencyDeps = {
  readonly store: Pick<ManagementStore, 'claim' | 'release'>;
  /** Stored answers may contain a token, so they are encrypted. */
  readonly encryptionKeys: EncryptionKeys;
  readonly random: RandomBytes;
  /** The present for what may be erased by its age: a clock that is ahead must not let a request take effect again. */
  readonly retentionNowMs: () => number;
  /** Reports a claim that could not be released; it expires later. */
  readonly onReleaseError: (error: unknown) => void;
};

type IdempotentRequest = {
  readonly name: ReceiptName;
  /** Equal for the same request, different for any other. */
  readonly request: Uint8Array;
  readonly nowMs: number;
};

type IdempotencyClaim =
  /** The operation took effect before; `answer` is its stored answer. */
  | { readonly kind: 'replay'; readonly answer: Buffer }
  | {
      readonly kind: 'claimed';
      /** The receipt to store in the same commit as the change. */
      readonly receipt: (answer: Uint8Array) => Receipt;
      /** Lets the next request try again when the operation had no effect. */
      readonly release: () => Promise<void>;
    };

/** How long a receipt is kept. */
export const RECEIPT_KEPT_MS = 24 * 3_600_000;
/** An older claim belongs to a process that died. */
const CLAIM_MAX_MS = 20_000;
const RETRY_AFTER_SECONDS = '1';
const DIGEST_BYTES = 32;

export type Idempotency = ReturnType<typeof createIdempotency>;

export function createIdempotency(deps: IdempotencyDeps) {
  const { store, encryptionKeys, random, retentionNowMs, onReleaseError } = deps;
  return {
    /** Throws idempotency_error while the same request runs, and when the key was used for another request. */
    async begin({ name: sent, request, nowMs }: IdempotentRequest): Promise<IdempotencyClaim> {
      const name = storedName(sent);
      const fingerprint = digest([Buffer.from(name.operation), request]);
      const found = await store.claim(name, fingerprint, {
        nowMs,
        staleBeforeMs: nowMs - CLAIM_MAX_MS,
        expiredBeforeMs: retentionNowMs() - RECEIPT_KEPT_MS,
      });
      if (found === 'running') throw inProgress();
      if (found !== 'claimed') {
        if (!found.fingerprint.equals(fingerprint)) throw mismatch();
        return { kind: 'replay', answer: open(encryptionKeys, found) };
      }
      return {
        kind: 'claimed',
        receipt: (answer) => {
          const plain = Buffer.concat([bindingDigest(name, fingerprint), answer]);
          return { name, fingerprint, answer: encrypt(encryptionKeys, plain, random) };
        },
        release: () => store.release(name).catch(onReleaseError),
      };
    },
  };
}

/** A caller may have sent a token as the key, so only its digest is stored. */
export function storedName(name: ReceiptName): ReceiptName {
  return { ...name, value: digest([Buffer.from(name.value)]).toString('base64url') };
}

/** The sealed answer begins with a digest of its key and request, so that it does not open in another row. */
function open(encryptionKeys: EncryptionKeys, { name, fingerprint, answer }: Receipt): Buffer {
  const plain = decrypt(encryptionKeys, answer);
  if (!plain.subarray(0, DIGEST_BYTES).equals(bindingDigest(name, fingerprint))) {
    throw new Error('a stored answer belongs to another request');
  }
  return plain.subarray(DIGEST_BYTES);
}

function bindingDigest({ organizationId, keyId, operation, value }: ReceiptName, fingerprint: Buffer): Buffer {
  return digest([...[organizationId, keyId, operation, value].map((text) => Buffer.from(text)), fingerprint]);
}

/** Hashes each part after its length, so that different lists of parts never have the same bytes. */
function digest(parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    hash.update(length).update(part);
  }
  return hash.digest();
}

function inProgress(): Fault {
  return new Fault('idempotency_error', 'A request with this Idempotency-Key is still in progress; try again.', {
    meta: { reason: 'in_progress' },
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
  });
}

function mismatch(): Fault {
  return new Fault('idempotency_error', 'This Idempotency-Key was used for another request; use a new one.', {
    meta: { reason: 'body_mismatch' },
  });
}
