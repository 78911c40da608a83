/** Reads single values of a request, and reports what is wrong with them. */

import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { JsonValue } from '../../domain/fault.ts';
import { numberText, wholeNumberOf } from '../../json/whole-number.ts';
import { INSTANT_MAX_MS, INSTANT_MIN_MS, timestampOfMs } from '../../rpc/epoch-ms.ts';
import { enumReason } from '../../rpc/field-rules.ts';
import { enumSpellings, restFlags, type Target } from '../../rpc/rest-shape.ts';
import type { Problem } from '../../rpc/validate.ts';
import { parseInstant } from './timestamp.ts';

/** Where a value was sent, and the problems found so far. */
export type Context = { readonly path: string; readonly target: Target; readonly problems: Problem[] };

const INTEGER_MAX = 9007199254740991;
/** The highest page number of a request. */
const PAGE_MAX = 1_000_000;

export function isDigits(text: string): boolean {
  return /^[0-9]{1,16}$/.test(text);
}

export function readWhole<V>(value: JsonValue, at: Context, read: (number: number, at: Context) => V): V | undefined {
  const whole = wholeNumberOf(value);
  return whole === null ? wrongType(at, 'integer', typeOf(value)) : read(whole, at);
}

export function readEpochMs(number: number, at: Context): Timestamp | undefined {
  return isTooLarge(number, at) ? undefined : timestampOfMs(Math.max(number, INSTANT_MIN_MS));
}

export function readPageNumber(number: number, at: Context): string | undefined {
  if (isTooLarge(number, at)) return undefined;
  if (number < 1) return outOfRange(at, { type: 'too_small', bound: 1 });
  if (number > PAGE_MAX) return outOfRange(at, { type: 'too_big', bound: PAGE_MAX });
  return String(number);
}

const MILLISECONDS = /^-?[0-9]{1,16}(\.[0-9]{1,9})?$/;

/** Parses epoch milliseconds sent as text, where the field allows that; a fraction is rounded. */
export function unquoted(field: DescField, value: JsonValue): JsonValue {
  const isNumber = typeof value === 'string' && restFlags(field).also.includes('string') && MILLISECONDS.test(value);
  return isNumber ? Math.round(Number(value)) : value;
}

/** ISO 8601, or epoch milliseconds. */
export function readInstant(value: JsonValue, at: Context): Timestamp | undefined {
  if (typeof value === 'string') {
    const instantMs = parseInstant(value);
    if (instantMs !== null) return timestampFromMs(instantMs);
    const expected = 'an RFC 3339 timestamp';
    const message = `${at.path} must be ${expected}`;
    at.problems.push({ field: at.path, target: at.target, type: 'invalid_format', message, expected });
    return undefined;
  }
  const instantMs = wholeNumberOf(value);
  if (instantMs === null) return wrongType(at, 'timestamp', typeOf(value));
  if (instantMs < INSTANT_MIN_MS) return outOfRange(at, { type: 'too_small', bound: INSTANT_MIN_MS });
  if (instantMs > INSTANT_MAX_MS) return outOfRange(at, { type: 'too_big', bound: INSTANT_MAX_MS });
  return timestampFromMs(instantMs);
}

export function readString(text: string, at: Context): string | undefined {
  // Only in a body, which would be stored. In a path or a query, such text just matches nothing.
  if (at.target === 'json' && text.includes('\0')) {
    at.problems.push({
      field: at.path,
      target: at.target,
      type: 'invalid_format',
      message: `${at.path} must not hold U+0000`,
    });
    return undefined;
  }
  return text.toWellFormed();
}

export function readEnum(field: DescField, text: string, at: Context): number | undefined {
  if (!field.enum) throw new Error(`${field.name} is no enum`);
  const known = enumSpellings(field.enum);
  const number = known.get(text);
  if (number === undefined) at.problems.push({ ...enumReason(at.path, [...known.keys()], text), target: at.target });
  return number;
}

export function wrongLength(at: Context, expected: string): undefined {
  at.problems.push({
    field: at.path,
    target: at.target,
    type: 'invalid_length',
    message: `${at.path} must have ${expected}`,
    expected,
  });
  return undefined;
}

/** Reports integers beyond the safe integers of JavaScript. */
function isTooLarge(number: number, at: Context): boolean {
  if (number > INTEGER_MAX) outOfRange(at, { type: 'too_big', bound: INTEGER_MAX });
  else if (number < -INTEGER_MAX) outOfRange(at, { type: 'too_small', bound: -INTEGER_MAX });
  else return false;
  return true;
}

export function toInteger(field: DescField, number: number, at: Context): number | bigint | undefined {
  if (isTooLarge(number, at)) return undefined;
  if (field.scalar === ScalarType.INT64) return BigInt(number);
  // Clamped, so that the rule of the field reports the number with its own bound.
  return Math.max(-2147483648, Math.min(2147483647, number));
}

function outOfRange(at: Context, { type, bound }: { type: 'too_big' | 'too_small'; bound: number }): undefined {
  const message = `${at.path} must be ${type === 'too_big' ? 'at most' : 'at least'} ${bound}`;
  at.problems.push({ field: at.path, target: at.target, type, message, expected: bound });
  return undefined;
}

export function wrongType(at: Context, expected: string, received: string): undefined {
  const message = `${at.path} must be ${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}`;
  at.problems.push({ field: at.path, target: at.target, type: 'invalid_type', message, expected, received });
  return undefined;
}

export function numberOf(value: JsonValue): number | null {
  const text = numberText(value);
  return text === null ? null : Number(text);
}

export function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return JSON.isRawJSON(value) ? 'number' : typeof value;
}
