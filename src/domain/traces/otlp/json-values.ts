/**
 * Reads the parts that requests of all signals have in JSON: attributes, values, scopes, instants, enums. What has a wrong
 * type is returned as unreadable, because it costs a field or an item, and not the request.
 */

import { isAbsent, isArray, isObject, numberOf, scalarText } from '../../../json/free-json.ts';
import { malformed } from '../../../json/json-text.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { cutToCharacters } from '../../text-limits.ts';
import { isUnreadable, type Unreadable, unreadable } from '../collector/collector-draft.ts';
import { attributesOf, doubleOf, type Entry, integerOf, objectOf } from './attributes.ts';
import type { Attributes, OtlpScope } from './span.ts';

const WORD = 4_294_967_296n;
const MANTISSA_DIGITS = /^-?[0-9]+$/;
const NOTHING: LosslessObject = {};
/** Of one item: enough to mend its sender. */
const DROPPED_MAX = 20;
const SHOWN_KEY_CHARACTERS_MAX = 100;

/** What is read of a field; a field that is unreadable is added to `dropped`. */
export function unlessWrong<T>(read: T | Unreadable, dropped: Unreadable[]): T | undefined {
  if (!isUnreadable(read)) return read;
  if (dropped.length < DROPPED_MAX) dropped.push(read);
  return undefined;
}

export function readResource(part: LosslessObject, dropped: Unreadable[]): Attributes {
  return readAttributes(readObject(part, 'resource', dropped), dropped, 'resource.attributes');
}

export function readScope(group: LosslessObject, dropped: Unreadable[]): OtlpScope {
  const scope = readObject(group, 'scope', dropped);
  return {
    name: unlessWrong(textOf(scope, 'name', 'scope.name'), dropped) ?? '',
    version: unlessWrong(textOf(scope, 'version', 'scope.version'), dropped) ?? '',
  };
}

/** Without the attributes that are unreadable. `path` is that of the list. */
export function readAttributes(of: LosslessObject, dropped: Unreadable[], path = 'attributes'): Attributes {
  return attributesOf(readItems(of, 'attributes', dropped, path), (item) => {
    const entry = entryOf(item);
    if (!isUnreadable(entry)) return entry;
    const key = typeof item.key === 'string' ? cutToCharacters(item.key, SHOWN_KEY_CHARACTERS_MAX) : '';
    const reason = `${entry.path} ${entry.reason}`;
    return unlessWrong<Entry>(unreadable(key === '' ? path : `${path}.${key}`, reason), dropped);
  });
}

function entryOf(item: LosslessObject): Entry | Unreadable {
  const [key, value] = [textOf(item, 'key'), memberOf(item, 'value')];
  if (isUnreadable(key)) return key;
  const read = isUnreadable(value) ? value : anyValueOf(value);
  return isUnreadable(read) ? read : [key, read];
}

/** An AnyValue: its only member gives its type. */
export function anyValueOf(value: LosslessObject): LosslessJson | Unreadable {
  if (!isAbsent(value.stringValue)) return textOf(value, 'stringValue');
  if (!isAbsent(value.boolValue)) return booleanOf(value.boolValue);
  if (!isAbsent(value.intValue)) {
    const whole = integer(value.intValue, 'intValue');
    return isUnreadable(whole) ? whole : integerOf(whole);
  }
  if (!isAbsent(value.doubleValue)) {
    const number = double(value.doubleValue);
    return isUnreadable(number) ? number : doubleOf(number);
  }
  if (!isAbsent(value.bytesValue)) return textOf(value, 'bytesValue');
  if (!isAbsent(value.arrayValue)) return eachValue(value, 'arrayValue', anyValueOf);
  if (!isAbsent(value.kvlistValue)) {
    const entries = eachValue(value, 'kvlistValue', entryOf);
    return isUnreadable(entries) ? entries : objectOf(entries);
  }
  return null;
}

/** All values of a list: without one of them it would be another list. */
function eachValue<T>(
  value: LosslessObject,
  name: string,
  read: (item: LosslessObject) => T | Unreadable,
): readonly T[] | Unreadable {
  const list = memberOf(value, name);
  if (isUnreadable(list)) return list;
  const values = list.values ?? [];
  if (!isArray(values)) return wrong(`${name}.values`, 'an array');
  const all: T[] = [];
  for (const item of values) {
    const each = isObject(item) ? read(item) : wrong(`an item of ${name}`, 'an object');
    if (isUnreadable(each)) return each;
    all.push(each);
  }
  return all;
}

function booleanOf(value: LosslessJson): boolean | Unreadable {
  return typeof value === 'boolean' ? value : wrong('boolValue', 'a boolean');
}

function double(value: LosslessJson): number | Unreadable {
  const number = typeof value === 'string' && value !== '' ? Number(value) : numberOf(value);
  if (number === null || typeof number !== 'number') return wrong('doubleValue', 'a number');
  return Number.isNaN(number) && value !== 'NaN' ? wrong('doubleValue', 'a number') : number;
}

/** Nanoseconds since the epoch; 0 where none are sent. */
export function nanoOf(of: LosslessObject, name: string, path = name): bigint | Unreadable {
  const value = of[name];
  const nano = isAbsent(value) ? 0n : integer(value, path);
  return typeof nano === 'bigint' && nano < 0n ? wrong(path, 'positive') : nano;
}

/** Digits as text or number, or two 32-bit words of some exporters: {"low","high"}. */
function integer(value: LosslessJson, path: string): bigint | Unreadable {
  if (isObject(value)) {
    const [low, high] = [numberOf(value.low), numberOf(value.high)];
    if (low === null || high === null || !Number.isInteger(low) || !Number.isInteger(high))
      return wrong(path, 'an integer');
    return BigInt(high) * WORD + BigInt(low >>> 0);
  }
  const digits = typeof value === 'string' ? value : scalarText(value);
  if (digits !== null && digits.length <= 20 && MANTISSA_DIGITS.test(digits)) return BigInt(digits);
  const number = typeof value === 'string' ? null : numberOf(value);
  return number === null || Math.abs(number) > Number(WORD * WORD)
    ? wrong(path, 'an integer')
    : BigInt(Math.round(number));
}

export function enumOf(value: LosslessJson | undefined, names: readonly string[], path: string): number | Unreadable {
  if (isAbsent(value)) return 0;
  // Names of later versions count as unspecified.
  if (typeof value === 'string') return Math.max(0, names.indexOf(value));
  return numberOf(value) ?? wrong(path, 'a number or a name');
}

export function textOf(of: LosslessObject, name: string, path = name): string | Unreadable {
  const value = of[name];
  if (isAbsent(value)) return '';
  return typeof value === 'string' ? value : wrong(path, 'a string');
}

/** A member that is an object; an empty one stands for none. */
function memberOf(of: LosslessObject, name: string): LosslessObject | Unreadable {
  const value = of[name];
  if (isAbsent(value)) return NOTHING;
  return isObject(value) ? value : wrong(name, 'an object');
}

export function readObject(of: LosslessObject, name: string, dropped: Unreadable[]): LosslessObject {
  return unlessWrong(memberOf(of, name), dropped) ?? NOTHING;
}

/** Those items of a list that are objects. */
export function readItems(
  of: LosslessObject,
  name: string,
  dropped: Unreadable[],
  path = name,
): readonly LosslessObject[] {
  const value = of[name];
  if (isAbsent(value)) return [];
  const items = isArray(value) ? value.filter(isObject) : [];
  if (!isArray(value) || items.length < value.length) unlessWrong(wrong(path, 'an array of objects'), dropped);
  return items;
}

/** A list that the whole request is made of. Throws malformed_request. */
export function listOf(of: LosslessObject, name: string): readonly LosslessObject[] {
  const value = of[name];
  if (isAbsent(value)) return [];
  if (!isArray(value)) throw malformedRequest(name, 'an array');
  return value.map((item) => objectAt(item, `an item of ${name}`));
}

/** Throws malformed_request. */
export function objectAt(value: LosslessJson, name: string): LosslessObject {
  if (!isObject(value)) throw malformedRequest(name, 'an object');
  return value;
}

function malformedRequest(name: string, expected: string) {
  return malformed(`The request is not an OTLP request: ${name} must be ${expected}.`, 'not an OTLP request');
}

function wrong(path: string, expected: string): Unreadable {
  return unreadable(path, `must be ${expected}`);
}
