/** Objects with too many members: the placeholder for them in a document, and how to find it. */

import { cutToCharacters } from '../domain/text-limits.ts';
import { isObject, someInside } from './free-json.ts';
import { MEMBERS_MAX } from './json-scan.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';

/**
 * Replaces such an object in a document, which is then never built. Compare it by identity. Code that reads an item
 * refuses the item if it holds this.
 */
export const TOO_WIDE: LosslessObject = Object.freeze({});
export const TOO_WIDE_REASON = `must not hold an object of more than ${MEMBERS_MAX} members`;

const SHOWN_NAME_CHARACTERS_MAX = 100;

/** Whether the value is or holds TOO_WIDE. */
export function holdsTooWide(value: LosslessJson | undefined): boolean {
  return value === TOO_WIDE || (value !== undefined && someInside(value, holdsTooWide));
}

/** The name of the first member that holds TOO_WIDE; empty for TOO_WIDE itself, null when there is none. */
export function findTooWide(value: LosslessJson | undefined): string | null {
  if (value === TOO_WIDE) return '';
  if (!isObject(value)) return null;
  const name = Object.keys(value).find((key) => holdsTooWide(value[key]));
  return name === undefined ? null : cutToCharacters(name, SHOWN_NAME_CHARACTERS_MAX);
}
