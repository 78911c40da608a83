/**
 * Free-form JSON that reads back as it was sent. Numbers whose spelling a double would change keep
 * that spelling, and no member name has a special meaning.
 */

import type {} from './raw-json.ts';

/**
 * A number kept as its text, because a double would print it differently. An interface, so that the
 * compiler never takes one for an object with a member.
 */
export interface RawNumber {
  readonly rawJSON: string;
}
export type LosslessObject = { readonly [key: string]: LosslessJson };
export type LosslessJson = null | boolean | number | string | RawNumber | readonly LosslessJson[] | LosslessObject;

/** Compact text; the inverse of parseLossless (bounded-json.ts). */
export function stringifyLossless(value: LosslessJson): string {
  return JSON.stringify(value);
}

type JsonTypeName = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** The JSON type of a value. */
export function jsonTypeOf(value: LosslessJson): JsonTypeName {
  if (value === null) return 'null';
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') {
    return typeof value as 'boolean' | 'number' | 'string';
  }
  if (Array.isArray(value)) return 'array';
  return JSON.isRawJSON(value) ? 'number' : 'object';
}

export function isArray(value: LosslessJson | undefined): value is readonly LosslessJson[] {
  return Array.isArray(value);
}

export function isObject(value: LosslessJson | undefined): value is LosslessObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** A member, null when it is absent; names like "constructor" are never inherited. */
export function readMember(object: LosslessObject, key: string): LosslessJson {
  return (Object.hasOwn(object, key) ? object[key] : null) ?? null;
}

/** Whether a number is beyond the range of a double, so that most readers would misread it. */
export function isBeyondDouble(value: LosslessJson): boolean {
  return typeof value === 'object' && JSON.isRawJSON(value) && !Number.isFinite(Number(value.rawJSON));
}
