/** Slugs: readable names for URLs. A slug is created once and does not change when its owner is renamed. */

import type { RandomBytes } from './clock.ts';
import { drawCharacters } from './ids.ts';
import { normalizeText } from './normalize-text.ts';

const BASE_LENGTH_MAX = 50;
const SUFFIX_LENGTH = 5;
const SUFFIX_ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/**
 * A fresh slug for a name: its ASCII letters and digits, then 5 random characters of `[0-9a-z]`.
 * Without any letters or digits the fallback takes their place.
 */
export function drawSlug(name: string, fallback: string, random: RandomBytes): string {
  return `${slugBase(name) || fallback}-${drawCharacters(SUFFIX_ALPHABET, SUFFIX_LENGTH, random)}`;
}

/** The ASCII letters and digits of a name; empty where it has none. */
export function slugBase(name: string, lengthMax = BASE_LENGTH_MAX): string {
  // Decomposing first turns accented letters into plain ones with marks, which are then left out.
  return normalizeText(name, 'NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, lengthMax)
    .replace(/-$/, '');
}

/** The slug of an object: the name's ASCII letters and digits in lower case, then the last 6 characters of the id. */
export function slugify(name: string, id: string): string {
  // Lower-casing comes second: some non-ASCII letters have ASCII lower-case forms that would pass the filter.
  const words = name.replace(/[^0-9A-Za-z]+/g, '-').toLowerCase();
  return `${words}-${id.slice(-6)}`;
}
