import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashSecret } from '../../../src/domain/secrets.ts';
import {
  hasSecretChecksum,
  isVirtualKeyShape,
  mintVirtualKeySecret,
} from '../../../src/domain/virtual-keys/virtual-key-secret.ts';

const pepper = Buffer.alloc(32, 7);
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

describe('the secret of a virtual key', () => {
  it('is the prefix and 26 characters of base 32, of which the last two bits are a checksum', () => {
    for (let round = 0; round < 200; round++) {
      const { secret, secretHash, displayPrefix } = mintVirtualKeySecret('vk-lw-', { pepper, random: randomBytes });
      expect(secret).toMatch(/^vk-lw-[0-9A-HJKMNP-TV-Z]{26}$/);
      expect(secretHash).toEqual(hashSecret(pepper, secret));
      expect(displayPrefix).toBe(secret.slice(0, 10));
      expect([isVirtualKeyShape(secret, 'vk-lw-'), hasSecretChecksum(secret, 'vk-lw-')]).toEqual([true, true]);
    }
  });

  it('holds all random bits', () => {
    const ends = [Buffer.alloc(16), Buffer.alloc(16, 0xff)].map(
      (drawn) => mintVirtualKeySecret('', { pepper, random: () => drawn }).secret,
    );
    expect(ends.map((secret) => secret.slice(0, 25))).toEqual(['0'.repeat(25), 'Z'.repeat(25)]);
    const flipped = new Set<string>();
    for (let bit = 0; bit < 128; bit++) {
      const drawn = Buffer.alloc(16);
      drawn[bit >> 3] = 1 << (bit & 7);
      flipped.add(mintVirtualKeySecret('', { pepper, random: () => drawn }).secret);
    }
    expect(flipped.size).toBe(128);
  });

  it('is told from most secrets with one other character', () => {
    let accepted = 0;
    let tried = 0;
    for (let round = 0; round < 20; round++) {
      const { secret } = mintVirtualKeySecret('', { pepper, random: randomBytes });
      for (let at = 0; at < secret.length; at++) {
        const other = ALPHABET[(ALPHABET.indexOf(secret[at] ?? '') + 1 + (round % 31)) % 32];
        if (hasSecretChecksum(secret.slice(0, at) + other + secret.slice(at + 1), '')) accepted += 1;
        tried += 1;
      }
    }
    expect(accepted / tried).toBeLessThan(0.4);
  });

  it.each([
    '',
    'vk-lw-',
    `vk-lw-${'A'.repeat(25)}`,
    `vk-lw-${'A'.repeat(27)}`,
    `vk-lw-${'a'.repeat(26)}`,
    `sk-lw-${'A'.repeat(26)}`,
  ])('%j has not the shape of one', (text) => {
    expect([isVirtualKeyShape(text, 'vk-lw-'), hasSecretChecksum(text, 'vk-lw-')]).toEqual([false, false]);
  });
});
