/** Reads the parts that requests of all signals have in JSON: attributes, values, scopes, instants, enums. */

import { isAbsent, isArray, isObject, numberOf, scalarText } from '../../../json/free-json.ts';
import { malformed } from '../../../json/json-text.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { attributesOf, doubleOf, type Entry, integerOf, objectOf } from './attributes.ts';
import type { Attributes, OtlpScope } from './span.ts';

const WORD = 4_294_967_296n;
const MANTISSA_DIGITS = /^-?[0-9]+$/;

export function readScope(scope: LosslessObject): OtlpScope {
  return { name: text(scope, 'name'), version: text(scope, 'version') };
}

export function readAttributes(of: LosslessObject): Attributes {
  return attributesOf(listOf(of, 'attributes'), readEntry);
}

function readEntry(item: LosslessObject): Entry {
  return [text(item, 'key'), anyValueOf(memberObject(item, 'value'))];
}

/** An AnyValue: its only member gives its type. */
export function anyValueOf(value: LosslessObject): LosslessJson {
  if (!isAbsent(value.stringValue)) return text(value, 'stringValue');
  if (!isAbsent(value.boolValue)) return booleanOf(value.boolValue);
  if (!isAbsent(value.intValue)) return integerOf(integer(value.intValue, 'intValue'));
  if (!isAbsent(value.doubleValue)) return doubleOf(double(value.doubleValue));
  if (!isAbsent(value.bytesValue)) return text(value, 'bytesValue');
  if (!isAbsent(value.arrayValue)) return listOf(memberObject(value, 'arrayValue'), 'values').map(anyValueOf);
  if (!isAbsent(value.kvlistValue))
    return objectOf(listOf(memberObject(value, 'kvlistValue'), 'values').map(readEntry));
  return null;
}

function booleanOf(value: LosslessJson): boolean {
  return typeof value === 'boolean' ? value : wrong('boolValue', 'a boolean');
}

function double(value: LosslessJson): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : numberOf(value);
  if (number === null || typeof number !== 'number') return wrong('doubleValue', 'a number');
  return Number.isNaN(number) && value !== 'NaN' ? wrong('doubleValue', 'a number') : number;
}

export function nanoOf(value: LosslessJson | undefined): bigint {
  const nano = isAbsent(value) ? 0n : integer(value, 'an instant');
  return nano < 0n ? wrong('an instant', 'positive') : nano;
}

/** Digits as text or number, or two 32-bit words of some exporters: {"low","high"}. */
function integer(value: LosslessJson, name: string): bigint {
  if (isObject(value)) {
    const [low, high] = [numberOf(value.low), numberOf(value.high)];
    if (low === null || high === null || !Number.isInteger(low) || !Number.isInteger(high))
      return wrong(name, 'an integer');
    return BigInt(high) * WORD + BigInt(low >>> 0);
  }
  const digits = typeof value === 'string' ? value : scalarText(value);
  if (digits !== null && digits.length <= 20 && MANTISSA_DIGITS.test(digits)) return BigInt(digits);
  const number = typeof value === 'string' ? null : numberOf(value);
  return number === null || Math.abs(number) > Number(WORD * WORD)
    ? wrong(name, 'an integer')
    : BigInt(Math.round(number));
}

export function enumOf(value: LosslessJson | undefined, names: readonly string[]): number {
  if (isAbsent(value)) return 0;
  // Names of later versions count as unspecified.
  if (typeof value === 'string') return Math.max(0, names.indexOf(value));
  return numberOf(value) ?? wrong('an enum', 'a number or a name');
}

export function text(of: LosslessObject, name: string): string {
  const value = of[name];
  if (isAbsent(value)) return '';
  return typeof value === 'string' ? value : wrong(name, 'a string');
}

export function memberObject(of: LosslessObject, name: string): LosslessObject {
  const value = of[name];
  return isAbsent(value) ? {} : objectAt(value, name);
}

export function listOf(of: LosslessObject, name: string): readonly LosslessObject[] {
  const value = of[name];
  if (isAbsent(value)) return [];
  if (!isArray(value)) return wrong(name, 'an array');
  return value.map((item) => objectAt(item, `an item of ${name}`));
}

export function objectAt(value: LosslessJson, name: string): LosslessObject {
  return isObject(value) ? value : wrong(name, 'an object');
}

function wrong(name: string, expected: string): never {
  throw malformed(`The request is not an OTLP request: ${name} must be ${expected}.`, 'not an OTLP request');
}
