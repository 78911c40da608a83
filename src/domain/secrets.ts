import { createCipheriv, createDecipheriv, hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { RandomBytes } from './clock.ts';
import { randomBase62, toBase62 } from './ids.ts';

/** Keys of stored secrets, 32 bytes each: the first one seals, all of them open. */
export type EncryptionKeys = readonly [newest: Buffer, ...older: Buffer[]];

/** Keys derived from the root secret, 32 bytes each. Only `verifier` may be stored. */
export type RootKeys = { pepper: Buffer; cursorKey: Buffer; encryptionKeys: EncryptionKeys; verifier: Buffer };

/**
 * What a token can be, judged by its shape alone. `minted` means an accepted prefix and 48 characters of `[0-9A-Za-z]`;
 * other project keys were imported from elsewhere and have no checksum.
 */
export type ParsedToken =
  | { kind: 'apiKey'; prefix: string; keyId: string; secret: string; checksumValid: boolean }
  | { kind: 'projectKey'; token: string; minted: boolean; checksumValid: boolean };

const randomLength = 42;
const checksumLength = 6;
const keyIdLength = 16;

const secretShape = /^[0-9A-Za-z]{48}$/;
const apiKeyShape = /^[0-9A-Za-z]{16}_[0-9A-Za-z]{48}$/;
// The shape of imported project keys; minted tokens match it too.
const tokenShape = /^[\x21-\x7E]{24,256}$/;

/** Derives all keys of an installation from its root secret (HKDF-SHA-256 of the UTF-8 bytes, empty salt). */
export function deriveRootKeys(secret: string): RootKeys {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', Buffer.from(secret, 'utf8'), Buffer.alloc(0), `spandrel/${purpose}/v1`, 32));
  return {
    pepper: derive('pepper'),
    cursorKey: derive('cursor'),
    encryptionKeys: [derive('encryption')],
    verifier: derive('verifier'),
  };
}

/** Classifies a token. Null when it cannot be a credential: outside 24 to 256 characters of `0x21` to `0x7E`. */
export function parseToken(token: string, prefixes: readonly string[]): ParsedToken | null {
  if (!tokenShape.test(token)) return null;
  for (const prefix of prefixes) {
    if (!token.startsWith(prefix)) continue;
    const rest = token.slice(prefix.length);
    if (secretShape.test(rest)) {
      return { kind: 'projectKey', token, minted: true, checksumValid: hasValidChecksum(rest) };
    }
    if (apiKeyShape.test(rest)) {
      const secret = rest.slice(keyIdLength + 1);
      return {
        kind: 'apiKey',
        prefix,
        keyId: rest.slice(0, keyIdLength),
        secret,
        checksumValid: hasValidChecksum(secret),
      };
    }
  }
  return { kind: 'projectKey', token, minted: false, checksumValid: false };
}

/** Whether a 48-character part ends in the checksum of its first 42. False for any other shape. */
export function hasValidChecksum(part48: string): boolean {
  return secretShape.test(part48) && part48.endsWith(checksumOf(part48.slice(0, randomLength)));
}

/** The 6 base-62 characters that end a minted part: CRC-32 of the ASCII characters before them. */
export function checksumOf(first42: string): string {
  return toBase62(crc32(first42), checksumLength);
}

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/** The padded blocks of an HMAC; `outer` has room for the digest of the inner hash. */
type Pads = { readonly inner: Buffer; readonly outer: Buffer };

const pads = new WeakMap<Buffer, Pads>();

/**
 * HMAC-SHA-256 of a token, 32 bytes: the only form in which tokens are stored. `pepper` must not be mutated afterwards.
 * Uses two one-shot hashes (RFC 2104), because setting up an HMAC costs several times the hashing and every request
 * needs one. The digests pass as binary text, because each digest as a Buffer allocates memory outside the heap.
 */
export function hashSecret(pepper: Buffer, value: string): Buffer {
  const { inner, outer } = padsOf(pepper);
  const message = Buffer.allocUnsafe(BLOCK_BYTES + Buffer.byteLength(value));
  inner.copy(message);
  message.write(value, BLOCK_BYTES, 'utf8');
  outer.write(hash('sha256', message, 'binary'), BLOCK_BYTES, 'binary');
  return Buffer.from(hash('sha256', outer, 'binary'), 'binary');
}

function padsOf(pepper: Buffer): Pads {
  let found = pads.get(pepper);
  if (!found) {
    if (pepper.length > BLOCK_BYTES) throw new Error('a pepper is at most one block long');
    found = { inner: Buffer.alloc(BLOCK_BYTES, 0x36), outer: Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c) };
    for (const [index, byte] of pepper.entries()) {
      found.inner[index] = byte ^ 0x36;
      found.outer[index] = byte ^ 0x5c;
    }
    pads.set(pepper, found);
  }
  return found;
}

/** Compares in time that depends on the lengths only. */
export function secretsEqual(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A fresh 48-character secret part, checksum included. */
export function mintSecretPart(random: RandomBytes): string {
  const drawn = randomBase62(randomLength, random);
  return drawn + checksumOf(drawn);
}

/** Mints an API key. The client gets `token`; the store gets `keyId` and the hash of `secret`. */
export function mintApiKey(prefix: string, random: RandomBytes): { keyId: string; secret: string; token: string } {
  const keyId = randomBase62(keyIdLength, random);
  const secret = mintSecretPart(random);
  return { keyId, secret, token: `${prefix}${keyId}_${secret}` };
}

/** Mints a project key; the store gets the hash of the whole token. */
export function mintProjectKey(prefix: string, random: RandomBytes): { token: string } {
  return { token: prefix + mintSecretPart(random) };
}

const sealVersion = Buffer.from([1]);
const nonceLength = 12;
const tagLength = 16;
const headerLength = sealVersion.length + nonceLength + tagLength;

/** The encryption keys and the context a sealed value is bound to; the value does not open in another context. */
type SealContext = { readonly keys: EncryptionKeys; readonly belongsTo: string };

/** Seals a stored secret with AES-256-GCM: version byte, 12-byte nonce, 16-byte tag, ciphertext. */
export function encrypt(keys: EncryptionKeys, plain: Buffer, random: RandomBytes): Buffer {
  return sealFor({ keys, belongsTo: '' }, plain, random);
}

/** Opens what `encrypt` sealed. Throws when the version is unknown, no key fits or a single bit was changed. */
export function decrypt(keys: EncryptionKeys, sealed: Buffer): Buffer {
  return openFor({ keys, belongsTo: '' }, sealed);
}

/** As `encrypt`, bound to a context. */
export function sealFor({ keys: [newest], belongsTo }: SealContext, plain: Buffer, random: RandomBytes): Buffer {
  const nonce = random(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', newest, nonce, { authTagLength: tagLength });
  cipher.setAAD(associatedData(belongsTo));
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([sealVersion, nonce, cipher.getAuthTag(), ciphertext]);
}

/** Opens what `sealFor` sealed in the same context. Throws as `decrypt` does, and for another context. */
export function openFor({ keys: [newest, ...older], belongsTo }: SealContext, sealed: Buffer): Buffer {
  if (sealed.length < headerLength || sealed[0] !== sealVersion[0]) {
    throw new Error('The sealed value has no known format.');
  }
  try {
    return openWith(newest, belongsTo, sealed);
  } catch (error) {
    const [next, ...others] = older;
    if (next === undefined) throw error;
    return openFor({ keys: [next, ...others], belongsTo }, sealed);
  }
}

function openWith(key: Buffer, belongsTo: string, sealed: Buffer): Buffer {
  const nonce = sealed.subarray(sealVersion.length, sealVersion.length + nonceLength);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength });
  decipher.setAAD(associatedData(belongsTo));
  decipher.setAuthTag(sealed.subarray(sealVersion.length + nonceLength, headerLength));
  return Buffer.concat([decipher.update(sealed.subarray(headerLength)), decipher.final()]);
}

function associatedData(belongsTo: string): Buffer {
  return Buffer.concat([sealVersion, Buffer.from(belongsTo)]);
}
