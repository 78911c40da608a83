/** Effects that come about once, however often they are asked for under the same idempotency key. */

import { createHash } from 'node:crypto';
import type { RandomBytes } from './clock.ts';
import { Fault } from './fault.ts';
import type { ManagementStore, Receipt, ReceiptName } from './management.ts';
import { decrypt, encrypt } from './secrets.ts';

export type IdempotencyDeps = {
  readonly store: Pick<ManagementStore, 'claim' | 'release'>;
  /** Answers may hold a token, so they are sealed. */
  readonly encryptionKey: Buffer;
  readonly random: RandomBytes;
  /** A claim that could not be let go of; it ends by itself. */
  readonly onReleaseError: (error: unknown) => void;
};

export type Attempt = {
  readonly name: ReceiptName;
  /** The same bytes for the same request, and others for any other. */
  readonly request: Uint8Array;
  readonly nowMs: number;
};

export type Begun =
  /** The effect is there already; `answer` is what it was answered with. */
  | { readonly kind: 'replay'; readonly answer: Buffer }
  | {
      readonly kind: 'claimed';
      /** What is to be stored together with the effect. */
      readonly receipt: (answer: Uint8Array) => Receipt;
      /** Lets the next request try, where no effect came about. */
      readonly release: () => Promise<void>;
    };

export type Idempotency = {
  /** Throws idempotency_error while the same is under way, and where the key stands for another request. */
  begin(attempt: Attempt): Promise<Begun>;
};

const KEPT_MS = 24 * 3_600_000;
/** A claim that old belongs to a process that died. */
const CLAIM_MAX_MS = 20_000;
const RETRY_AFTER_SECONDS = '1';
const DIGEST_BYTES = 32;

export function createIdempotency({ store, encryptionKey, random, onReleaseError }: IdempotencyDeps): Idempotency {
  return {
    async begin({ name: sent, request, nowMs }) {
      const name = storedName(sent);
      const fingerprint = digest([Buffer.from(name.operation), request]);
      const found = await store.claim(name, fingerprint, {
        nowMs,
        staleBeforeMs: nowMs - CLAIM_MAX_MS,
        forgottenBeforeMs: nowMs - KEPT_MS,
      });
      if (found === 'running') throw inProgress();
      if (found !== 'claimed') {
        if (!found.fingerprint.equals(fingerprint)) throw mismatch();
        return { kind: 'replay', answer: open(encryptionKey, found) };
      }
      return {
        kind: 'claimed',
        receipt: (answer) => {
          const plain = Buffer.concat([place(name, fingerprint), answer]);
          return { name, fingerprint, answer: encrypt(encryptionKey, plain, random) };
        },
        release: () => store.release(name).catch(onReleaseError),
      };
    },
  };
}

/** Somebody may have sent a token for the value, so no more than its digest is kept. */
export function storedName(name: ReceiptName): ReceiptName {
  return { ...name, value: digest([Buffer.from(name.value)]).toString('base64url') };
}

/** What an answer belongs to is sealed with it: moved to another row, it does not open. */
function open(encryptionKey: Buffer, { name, fingerprint, answer }: Receipt): Buffer {
  const plain = decrypt(encryptionKey, answer);
  if (!plain.subarray(0, DIGEST_BYTES).equals(place(name, fingerprint))) {
    throw new Error('a stored answer belongs to another request');
  }
  return plain.subarray(DIGEST_BYTES);
}

function place({ organizationId, keyId, operation, value }: ReceiptName, fingerprint: Buffer): Buffer {
  return digest([...[organizationId, keyId, operation, value].map((text) => Buffer.from(text)), fingerprint]);
}

/** Every part is hashed behind its length, so that no two lists of parts look the same. */
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
