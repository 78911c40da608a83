/** Slugs: readable names for URLs. A slug is created once and does not change when its owner is renamed. */

import type { RandomBytes } from './clock.ts';

const BASE_LENGTH_MAX = 50;
const SUFFIX_LENGTH = 5;
const SUFFIX_ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
// The largest multiple of 36 in a byte: larger bytes are dropped, because they would favour the first digits.
const UNBIASED_BYTES = 252;
// A sound source loses one byte in 64, so running out of rounds means that the source is broken.
const ROUNDS_MAX = 64;

/**
 * A fresh slug for a name: its ASCII letters and digits, then 5 random characters of `[0-9a-z]`.
 * Without any letters or digits the fallback takes their place.
 */
export function drawSlug(name: string, fallback: string, random: RandomBytes): string {
  return `${slugBase(name) || fallback}-${drawSuffix(random)}`;
}

/** The ASCII letters and digits of a name; empty where it has none. */
export function slugBase(name: string, lengthMax = BASE_LENGTH_MAX): string {
  return (
    name
      // Decomposing first turns accented letters into plain ones with marks, which are then left out.
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-/, '')
      .slice(0, lengthMax)
      .replace(/-$/, '')
  );
}

function drawSuffix(random: RandomBytes): string {
  let drawn = '';
  for (let round = 0; round < ROUNDS_MAX && drawn.length < SUFFIX_LENGTH; round += 1) {
    for (const byte of random(SUFFIX_LENGTH - drawn.length)) {
      if (byte < UNBIASED_BYTES) drawn += SUFFIX_ALPHABET.charAt(byte % SUFFIX_ALPHABET.length);
    }
  }
  if (drawn.length !== SUFFIX_LENGTH) throw new Error('The random source did not deliver usable bytes.');
  return drawn;
}
