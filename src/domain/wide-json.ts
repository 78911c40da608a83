/** Objects of more members than one may have: what stands for them in a document, and how it is found. */

import { isArray, isObject } from './free-json.ts';
import { MEMBERS_MAX } from './json-scan.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import { cutToCharacters } from './text-limits.ts';

/**
 * Stands where a document held such an object, which was never built. It is known by identity, and whoever reads an
 * item that holds it refuses the item.
 */
export const TOO_WIDE: LosslessObject = Object.freeze({});
export const TOO_WIDE_REASON = `must not hold an object of more than ${MEMBERS_MAX} members`;

const SHOWN_NAME_CHARACTERS_MAX = 100;

/** Whether the value is such an object, or holds one. */
export function holdsTooWide(value: LosslessJson | undefined): boolean {
  if (value === TOO_WIDE) return true;
  if (isArray(value)) return value.some(holdsTooWide);
  return isObject(value) && Object.keys(value).some((key) => holdsTooWide(value[key]));
}

/** The name of the first member that holds one; empty when the value is one itself, null when there is none. */
export function findTooWide(value: LosslessJson | undefined): string | null {
  if (value === TOO_WIDE) return '';
  if (!isObject(value)) return null;
  const name = Object.keys(value).find((key) => holdsTooWide(value[key]));
  return name === undefined ? null : cutToCharacters(name, SHOWN_NAME_CHARACTERS_MAX);
}
