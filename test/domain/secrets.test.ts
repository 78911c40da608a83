import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checksumOf,
  decrypt,
  deriveRootKeys,
  encrypt,
  hashSecret,
  hasValidChecksum,
  mintApiKey,
  mintProjectKey,
  mintSecretPart,
  parseToken,
  secretsEqual,
} from '../../src/domain/secrets.ts';
import { runsOf } from '../support/scenario.ts';

const prefixes = ['sk-lw-', 'sk-'];
const rootSecret = '0123456789abcdef0123456789abcdef';
const { pepper } = deriveRootKeys(rootSecret);
const secretA = `${'A'.repeat(42)}2fwxgK`;
const keyId = '0123456789abcDEF';
const base62 = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
const base62Of = (length: number) =>
  fc.string({ unit: fc.constantFrom(...base62), minLength: length, maxLength: length });

describe('published test vectors', () => {
  it.each([
    ['0'.repeat(42), '1CtB1C'],
    ['A'.repeat(42), '2fwxgK'],
    ['0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef', '2P40Ol'],
  ])('the checksum of %s is %s', (first42, checksum) => {
    expect(checksumOf(first42)).toBe(checksum);
    expect(hasValidChecksum(first42 + checksum)).toBe(true);
  });

  it('the pepper of the example root secret', () => {
    expect(pepper.toString('hex')).toBe('654f3e46e3c496b513179e849a607e86b7cbbd1b1d3c432782b9383a33af1790');
  });

  it('the stored form of an API key secret and of a project key', () => {
    expect(hashSecret(pepper, secretA).toString('hex')).toBe(
      '266b4a93b9ff231c9f7642bc3a862f4d9f45998d6a2e2d923f6922c1ac9834bd',
    );
    expect(hashSecret(pepper, `sk-lw-${secretA}`).toString('hex')).toBe(
      'd828f760fb5f1e9e0100bd35e1acacc170d7fea88f2cc54ebf494a6e8ec21036',
    );
  });
});

describe('deriveRootKeys', () => {
  it('gives four different 32-byte keys, the same ones every time', () => {
    const keys = deriveRootKeys(rootSecret);
    expect(keys).toEqual(deriveRootKeys(rootSecret));
    const distinct = new Set(
      Object.values(keys)
        .flat()
        .map((key) => key.toString('hex')),
    );
    expect(distinct.size).toBe(4);
    expect([...distinct].every((hex) => hex.length === 64)).toBe(true);
  });

  it('reads the root secret as UTF-8 and derives by HKDF with an empty salt', () => {
    const secret = 'pässword-pässword-pässword-päss!';
    const extracted = createHmac('sha256', Buffer.alloc(32)).update(secret, 'utf8').digest();
    for (const [name, purpose] of [
      ['pepper', 'pepper'],
      ['cursorKey', 'cursor'],
      ['encryptionKeys', 'encryption'],
      ['verifier', 'verifier'],
    ] as const) {
      const expected = createHmac('sha256', extracted).update(`spandrel/${purpose}/v1\x01`).digest();
      expect([deriveRootKeys(secret)[name]].flat()).toEqual([expected]);
    }
  });

  it('gives unrelated keys for another root secret', () => {
    expect(deriveRootKeys(`${rootSecret}!`).pepper).not.toEqual(pepper);
  });
});

describe('the checksum', () => {
  it('detects every single changed character', () => {
    fc.assert(
      fc.property(base62Of(42), fc.nat(47), fc.constantFrom(...base62), (first42, at, other) => {
        const part = first42 + checksumOf(first42);
        const changed = part.slice(0, at) + other + part.slice(at + 1);
        expect(hasValidChecksum(changed)).toBe(changed === part);
      }),
    );
  });

  it('is never valid for a part of another shape', () => {
    for (const part of [
      '',
      secretA.slice(1),
      `${secretA}0`,
      `${secretA}\n`,
      `${'-'.repeat(42)}${checksumOf('-'.repeat(42))}`,
    ]) {
      expect(hasValidChecksum(part)).toBe(false);
    }
  });

  it('is left-padded to six characters', () => {
    fc.assert(
      fc.property(base62Of(42), (first42) => {
        expect(checksumOf(first42)).toMatch(/^[0-9A-Za-z]{6}$/);
      }),
    );
  });
});

describe('parseToken', () => {
  it('recognises an API key and splits it', () => {
    expect(parseToken(`sk-lw-${keyId}_${secretA}`, prefixes)).toEqual({
      kind: 'apiKey',
      prefix: 'sk-lw-',
      keyId,
      secret: secretA,
      checksumValid: true,
    });
  });

  it('recognises a minted project key', () => {
    const token = `sk-${secretA}`;
    expect(parseToken(token, prefixes)).toEqual({ kind: 'projectKey', token, minted: true, checksumValid: true });
  });

  it('reports a failing checksum without changing the classification', () => {
    const spoiled = `B${secretA.slice(1)}`;
    expect(parseToken(`sk-lw-${keyId}_${spoiled}`, prefixes)).toMatchObject({ kind: 'apiKey', checksumValid: false });
    expect(parseToken(`sk-lw-${spoiled}`, prefixes)).toMatchObject({
      kind: 'projectKey',
      minted: true,
      checksumValid: false,
    });
  });

  it.each([
    ['an unknown prefix', `other-${keyId}_${secretA}`],
    ['a prefix in another case', `SK-LW-${keyId}_${secretA}`],
    ['no prefix', `${keyId}_${secretA}`],
    ['a key id one character short', `sk-lw-${keyId.slice(1)}_${secretA}`],
    ['a secret one character long', `sk-lw-${keyId}_${secretA}0`],
    ['48 characters and one more', `sk-lw-${secretA}0`],
    ['an underscore inside an imported key', `old_${'x'.repeat(40)}_${'y'.repeat(40)}`],
    ['a second underscore', `sk-lw-${keyId}__${secretA}`],
    ['a dash inside the secret', `sk-lw-${keyId}_-${secretA.slice(1)}`],
    ['24 characters', '!'.repeat(24)],
    ['256 characters', '~'.repeat(256)],
  ])('takes a token with %s for a possible imported project key', (_what, token) => {
    expect(parseToken(token, prefixes)).toEqual({ kind: 'projectKey', token, minted: false, checksumValid: false });
  });

  it.each([
    ['empty', ''],
    ['23 characters', 'x'.repeat(23)],
    ['257 characters', 'x'.repeat(257)],
    ['513 characters', 'x'.repeat(513)],
    ['a million characters', 'x'.repeat(1_000_000)],
    ['a space', `${'x'.repeat(30)} x`],
    ['a trailing line break', `sk-lw-${secretA}\n`],
    ['a leading tab', `\tsk-lw-${secretA}`],
    ['U+0000', `sk-lw-${secretA}\0`],
    ['U+007F', `sk-lw-${secretA}\x7f`],
    ['a letter beyond ASCII', `sk-lw-é${secretA}`],
    ['a lone surrogate', `sk-lw-\ud800${secretA}`],
  ])('refuses a token that is or holds: %s', (_what, token) => {
    expect(parseToken(token, prefixes)).toBeNull();
  });

  it('never throws, and accepts exactly 24 to 256 visible ASCII characters', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 600 }),
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc.string({ unit: 'binary-ascii', maxLength: 300 }),
      fc.string({ unit: fc.constantFrom(...base62, '_', '-'), maxLength: 300 }),
      fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 300 }).map((units) => String.fromCharCode(...units)),
    );
    fc.assert(
      fc.property(anyText, fc.constantFrom('', 'sk-lw-', 'sk-', `sk-lw-${keyId}_`), (text, start) => {
        const token = start + text;
        const visible = [...token].every((character) => character >= '!' && character <= '~');
        const parsed = parseToken(token, prefixes);
        expect(parsed !== null).toBe(visible && token.length >= 24 && token.length <= 256);
      }),
      { numRuns: runsOf(2_000) },
    );
  });
});

describe('minting', () => {
  it.each(prefixes)('every minted token under %s parses back with a valid checksum', (prefix) => {
    for (let round = 0; round < 200; round += 1) {
      const { keyId: id, secret, token } = mintApiKey(prefix, randomBytes);
      expect(parseToken(token, prefixes)).toEqual({ kind: 'apiKey', prefix, keyId: id, secret, checksumValid: true });
      const project = mintProjectKey(prefix, randomBytes).token;
      expect(parseToken(project, prefixes)).toEqual({
        kind: 'projectKey',
        token: project,
        minted: true,
        checksumValid: true,
      });
    }
  });

  it('uses all 62 characters about equally often', () => {
    const counts = new Map<string, number>();
    const drawn = Array.from({ length: 4_000 }, () => mintSecretPart(randomBytes).slice(0, 42)).join('');
    for (const character of drawn) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    const expected = drawn.length / 62;
    // Eight standard deviations: a modulo bias (a quarter more for eight digits) fails, chance does not.
    const tolerance = 8 * Math.sqrt(expected);
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(tolerance);
  });
});

describe('secretsEqual', () => {
  it('is equality of the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
        const [left, right] = [Buffer.from(a), Buffer.from(b)];
        expect(secretsEqual(left, right)).toBe(left.equals(right));
        expect(secretsEqual(left, Buffer.from(left))).toBe(true);
      }),
    );
  });

  it('returns false for unequal lengths instead of throwing', () => {
    expect(secretsEqual(Buffer.from('abc'), Buffer.from('ab'))).toBe(false);
    expect(secretsEqual(Buffer.alloc(0), Buffer.alloc(1))).toBe(false);
  });
});

describe('encrypt and decrypt', () => {
  const { encryptionKeys } = deriveRootKeys(rootSecret);

  it('gives back what was sealed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        const plain = Buffer.from(bytes);
        expect(decrypt(encryptionKeys, encrypt(encryptionKeys, plain, randomBytes))).toEqual(plain);
      }),
    );
  });

  it('seals the same value differently each time and shows nothing of it', () => {
    const plain = Buffer.from('whsec_very-secret-value');
    const first = encrypt(encryptionKeys, plain, randomBytes);
    expect(first.equals(encrypt(encryptionKeys, plain, randomBytes))).toBe(false);
    expect(first.includes(plain)).toBe(false);
  });

  it('refuses a sealed value with any bit changed', () => {
    const sealed = encrypt(encryptionKeys, Buffer.from('whsec'), randomBytes);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => decrypt(encryptionKeys, changed)).toThrow();
    }
  });

  it('refuses every shortened value and another key', () => {
    const sealed = encrypt(encryptionKeys, Buffer.from('whsec'), randomBytes);
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => decrypt(encryptionKeys, sealed.subarray(0, length))).toThrow();
    }
    expect(() => decrypt([pepper], sealed)).toThrow();
  });

  it('opens with any of its keys, and seals with the first', () => {
    const [old] = encryptionKeys;
    const sealed = encrypt([old], Buffer.from('whsec'), randomBytes);
    expect(decrypt([pepper, old], sealed).toString()).toBe('whsec');
    expect(() => decrypt([old], encrypt([pepper, old], Buffer.from('whsec'), randomBytes))).toThrow();
  });
});

describe('the stored form of a token', () => {
  it('is HMAC-SHA-256 of any text', () => {
    const pepper = Buffer.from('654f3e46e3c496b513179e849a607e86b7cbbd1b1d3c432782b9383a33af1790', 'hex');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const expected = createHmac('sha256', pepper).update(text, 'utf8').digest('hex');
        expect(hashSecret(pepper, text).toString('hex')).toBe(expected);
      }),
    );
  });
});
