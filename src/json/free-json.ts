/**
 * JSON whose shape the caller chooses: prompts, answers, parameters, metadata. It is kept with the
 * same members, order and values; only its nesting, its member names and its strings have limits.
 */

import { hasMoreBytesThan, truncateToBytes } from '../domain/text-limits.ts';
import { keepDigits, parseExact } from './exact-json.ts';
import { scanJson } from './json-scan.ts';
import { isArray, isObject, type LosslessJson, type LosslessObject, type RawNumber } from './lossless-json.ts';

export { isArray, isObject } from './lossless-json.ts';

/** The longest member name, UTF-8 bytes. */
export const KEY_BYTES_MAX = 4096;
export const LONG_KEY_REASON = `has a member name longer than ${KEY_BYTES_MAX} bytes`;

/** Matches integers that a double cannot hold, and escaped names. */
const NEEDS_EXACT = /[0-9]{16}|\\/;

/** Reads stored free JSON; integers that a double cannot hold keep their digits. */
export function parseFreeJson(text: string): LosslessJson {
  if (!NEEDS_EXACT.test(text)) return JSON.parse(text);
  const bytes = Buffer.from(text);
  return parseExact(bytes, scanJson(bytes), keepDigits) as LosslessJson;
}

/** Null means absent in every field that is not free JSON. */
export function isAbsent(value: LosslessJson | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** The number of a value, also when it kept its digits; null for anything that is not a finite number. */
export function numberOf(value: LosslessJson | undefined): number | null {
  const number = typeof value === 'number' ? value : isRawNumber(value) ? Number(value.rawJSON) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

/** The JSON text of a number or boolean, as it was sent; null for anything else. */
export function scalarText(value: LosslessJson | undefined): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return isRawNumber(value) ? value.rawJSON : null;
}

function isRawNumber(value: LosslessJson | undefined): value is RawNumber {
  return typeof value === 'object' && JSON.isRawJSON(value);
}

/** Whether arrays and objects nest deeper than `levels`; the outermost one is level 1. */
export function nestsDeeperThan(value: LosslessJson, levels: number): boolean {
  if (!isArray(value) && !isObject(value)) return false;
  return levels === 0 || someInside(value, (inner) => nestsDeeperThan(inner, levels - 1));
}

/** Whether the arrays and objects inside have more items and members; stops at the first beyond. */
export function hasMorePartsThan(value: LosslessJson | undefined, partsMax: number): boolean {
  let parts = 0;
  const count = (inner: LosslessJson): boolean => {
    parts += isArray(inner) ? inner.length : isObject(inner) ? Object.keys(inner).length : 0;
    return parts > partsMax || someInside(inner, count);
  };
  return value !== undefined && count(value);
}

/** Whether the test holds for an array or object that is an item or member. Calls nothing for other values: there may be millions. */
export function someInside(value: LosslessJson, test: (inner: LosslessJson) => boolean): boolean {
  if (isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index];
      if (typeof item === 'object' && item !== null && test(item)) return true;
    }
    return false;
  }
  if (!isObject(value)) return false;
  return Object.keys(value).some((key) => {
    const member = value[key];
    return typeof member === 'object' && member !== null && test(member);
  });
}

export function isLongKey(key: string): boolean {
  return hasMoreBytesThan(key, KEY_BYTES_MAX);
}

/** Whether any member name inside takes more than KEY_BYTES_MAX. */
export function hasLongKey(value: LosslessJson): boolean {
  return (isObject(value) && Object.keys(value).some(isLongKey)) || someInside(value, hasLongKey);
}

/** The value with every string cut to `bytesMax`, and how many were cut. The same value if none. */
export function truncateStrings(value: LosslessJson, bytesMax: number): { value: LosslessJson; cuts: number } {
  let cuts = 0;
  const truncate = (text: string): string => {
    const kept = truncateToBytes(text, bytesMax);
    if (kept !== text) cuts += 1;
    return kept;
  };
  return { value: mapStrings(value, truncate, (key) => key), cuts };
}

/** Replaces unpaired surrogates in strings and member names by U+FFFD. The same value when it has none. */
export function makeWellFormed<T extends LosslessJson>(value: T): T {
  return mapStrings(value, toWellFormed, toWellFormed) as T;
}

function toWellFormed(text: string): string {
  return text.toWellFormed();
}

type MapText = (text: string) => string;

function mapStrings(value: LosslessJson, mapText: MapText, mapKey: MapText): LosslessJson {
  if (typeof value === 'string') return mapText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isArray(value)) {
    let copy: LosslessJson[] | null = null;
    // Without an iterator: an array may have millions of items.
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index] ?? null;
      if (typeof item === 'number') continue;
      const mapped = mapStrings(item, mapText, mapKey);
      if (mapped === item) continue;
      copy ??= [...value];
      copy[index] = mapped;
    }
    return copy ?? value;
  }
  return isObject(value) ? mapMembers(value, mapText, mapKey) : value;
}

function mapMembers(value: LosslessObject, mapText: MapText, mapKey: MapText): LosslessObject {
  let changes: Map<string, LosslessJson> | null = null;
  let renames = false;
  for (const key of Object.keys(value)) {
    const member = value[key] ?? null;
    const mapped = mapStrings(member, mapText, mapKey);
    if (mapKey(key) !== key) renames = true;
    if (mapped !== member) {
      changes ??= new Map();
      changes.set(key, mapped);
    }
  }
  if (changes === null && !renames) return value;
  // fromEntries defines members instead of assigning them, so a member named __proto__ stays plain data.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [mapKey(key), changes?.get(key) ?? member]));
}
