/** Ids: random ones, and whether a text can be one. */

import type { RandomBytes } from './clock.ts';
import { hasMoreCharactersThan } from './text-limits.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BYTE_VALUES = 256;
// Of the alphabets in use, a working source loses one byte in 32 at most; after this many rounds it must be broken.
const ROUNDS_MAX = 64;
const ID_LENGTH = 21;
const ID_CHARACTERS_MAX = 200;

/** `length` characters of the alphabet, each equally likely. Throws when the source keeps yielding unusable bytes. */
export function drawCharacters(alphabet: string, length: number, random: RandomBytes): string {
  // Bytes beyond the largest multiple of the alphabet would favour its first characters, and are dropped.
  const unbiasedBytes = BYTE_VALUES - (BYTE_VALUES % alphabet.length);
  let drawn = '';
  for (let round = 0; round < ROUNDS_MAX && drawn.length < length; round += 1) {
    for (const byte of random(length - drawn.length)) {
      if (byte < unbiasedBytes) drawn += alphabet.charAt(byte % alphabet.length);
    }
  }
  if (drawn.length !== length) throw new Error('The random source did not deliver usable bytes.');
  return drawn;
}

/** `length` characters of `[0-9A-Za-z]`. */
export function randomBase62(length: number, random: RandomBytes): string {
  return drawCharacters(ALPHABET, length, random);
}

/** A new id: `<prefix>_` and 21 random characters of `[0-9A-Za-z]`. */
export function newId(prefix: string, random: RandomBytes): string {
  return `${prefix}_${randomBase62(ID_LENGTH, random)}`;
}

/** A whole number in base 62, most significant digit first, left-padded with `0` to `width` digits. */
export function toBase62(value: number, width: number): string {
  let digits = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / ALPHABET.length)) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
  }
  return digits.padStart(width, '0');
}

/** Whether a record can have this id or slug; the store is not asked for others. */
export function isPossibleId(idOrSlug: string): boolean {
  return !idOrSlug.includes('\0') && !hasMoreCharactersThan(idOrSlug, ID_CHARACTERS_MAX);
}
