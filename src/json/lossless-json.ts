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

type LosslessParsed =
  | { readonly kind: 'value'; readonly value: LosslessJson }
  | { readonly kind: 'not_json' }
  | { readonly kind: 'too_deep' }
  | { readonly kind: 'too_wide' };

type ShapeMax = {
  /** Nesting of arrays and objects. */
  readonly depth: number;
  /** Of one object; no limit by default. */
  readonly members?: number;
};

/** Reads JSON text of a bounded shape. Unpaired surrogates become U+FFFD. */
export function parseLossless(text: string, max: ShapeMax): LosslessParsed {
  // Checks the shape first: reviving recurses, and too many levels would overflow the stack.
  const excess = findExcess(text, max);
  if (excess !== null) return { kind: excess };
  try {
    return { kind: 'value', value: JSON.parse(text, revive) as LosslessJson };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'not_json' };
    throw error;
  }
}

/** Why a text is not JSON of a bounded shape; null when it is. Costs less than parseLossless. */
export function findJsonProblem(text: string, max: ShapeMax): Exclude<LosslessParsed['kind'], 'value'> | null {
  const excess = findExcess(text, max);
  if (excess !== null) return excess;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    if (error instanceof SyntaxError) return 'not_json';
    throw error;
  }
}

/** Compact text; the inverse of parseLossless. */
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

export function isLosslessArray(value: LosslessJson): value is readonly LosslessJson[] {
  return Array.isArray(value);
}

export function isLosslessObject(value: LosslessJson): value is LosslessObject {
  return jsonTypeOf(value) === 'object';
}

/** A member, null when it is absent; names like "constructor" are never inherited. */
export function readMember(object: LosslessObject, key: string): LosslessJson {
  return (Object.hasOwn(object, key) ? object[key] : null) ?? null;
}

/** Whether a number is beyond the range of a double, so that most readers would misread it. */
export function isBeyondDouble(value: LosslessJson): boolean {
  return typeof value === 'object' && JSON.isRawJSON(value) && !Number.isFinite(Number(value.rawJSON));
}

function revive(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number') return keepSpelling(value, context.source);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (Object.keys(value).every((key) => key.isWellFormed())) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), member]));
}

function keepSpelling(value: number, source: string | undefined): number | RawNumber {
  return source === undefined || String(value) === source ? value : JSON.rawJSON(source);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

function findExcess(text: string, { depth: levels, members: membersMax = Number.POSITIVE_INFINITY }: ShapeMax) {
  /** Per open level, the innermost last. */
  const members = [0];
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === COLON) {
      const count = (members.at(-1) ?? 0) + 1;
      if (count > membersMax) return 'too_wide';
      members[members.length - 1] = count;
    } else if (CLOSING.has(code)) members.pop();
    else if (OPENING.has(code) && members.push(0) > levels + 1) return 'too_deep';
  }
  return null;
}
