/** Reads single values of a request, and reports what is wrong with them. */

import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Fault, type JsonValue, type Reason } from '../../domain/fault.ts';
import { parseJson, scanJson } from '../../json/json-text.ts';
import { numberText, wholeNumberOf } from '../../json/whole-number.ts';
import { INSTANT_MAX_MS, INSTANT_MIN_MS, timestampOfMs } from '../../rpc/epoch-ms.ts';
import { boundReason, enumReason, instantReason } from '../../rpc/field-rules.ts';
import { enumSpellings, restFlags } from '../../rpc/rest-shape.ts';
import type { Problem } from '../../rpc/validate.ts';

/** Where a value was sent, and the problems found so far. */
export type Context = { readonly path: string; readonly target: Problem['target']; readonly problems: Problem[] };

const INTEGER_MAX = 9007199254740991;
/** The highest page number of a request. */
const PAGE_MAX = 1_000_000;

/** Reports a problem of a value, which counts as unset then. */
function report({ target, problems }: Context, reason: Reason): undefined {
  problems.push({ ...reason, target });
  return undefined;
}

export function isDigits(text: string): boolean {
  return /^[0-9]{1,16}$/.test(text);
}

/** `whole` is null where something else was sent, of the type `received`. */
export function readEpochMs(whole: number | null, received: string, at: Context): Timestamp | undefined {
  if (whole !== null) return isTooLarge(whole, at) ? undefined : timestampOfMs(Math.max(whole, INSTANT_MIN_MS));
  const message = `${at.path} must be an integer, the milliseconds since the epoch`;
  return report(at, { field: at.path, type: 'invalid_type', message, expected: 'integer', received });
}

export function readPageNumber(number: number, at: Context): string | undefined {
  if (isTooLarge(number, at)) return undefined;
  if (number < 1) return report(at, boundReason(at.path, 'too_small', 1));
  if (number > PAGE_MAX) return report(at, boundReason(at.path, 'too_big', PAGE_MAX));
  return String(number);
}

const MILLISECONDS = /^-?[0-9]{1,16}(\.[0-9]{1,9})?$/;

/** Parses epoch milliseconds sent as text, where the field allows that; a fraction is rounded. */
function unquoted(field: DescField, value: JsonValue): JsonValue {
  const isNumber = typeof value === 'string' && restFlags(field).also.includes('string') && MILLISECONDS.test(value);
  return isNumber ? Math.round(Number(value)) : value;
}

/** ISO 8601, or epoch milliseconds. */
export function readInstant(field: DescField, sent: JsonValue, at: Context): Timestamp | undefined {
  const value = unquoted(field, sent);
  if (typeof value === 'string') {
    const { also, endOfDay } = restFlags(field);
    const instantMs = parseInstant(also.includes('string') ? toRfc3339(value) : value, endOfDay);
    return instantMs === null ? report(at, instantReason(at.path)) : timestampFromMs(instantMs);
  }
  const instantMs = wholeNumberOf(value);
  if (instantMs === null) return wrongType(at, 'timestamp', typeOf(value));
  if (instantMs < INSTANT_MIN_MS) return report(at, boundReason(at.path, 'too_small', INSTANT_MIN_MS));
  if (instantMs > INSTANT_MAX_MS) return report(at, boundReason(at.path, 'too_big', INSTANT_MAX_MS));
  return timestampFromMs(instantMs);
}

/** RFC 3339, with optional time and offset. */
const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d{2}):(\d{2}))?)?$/;

const TIME_WITHOUT_SECONDS = /^(.{10}[Tt ]\d{2}:\d{2})(?=$|[Zz+-])/;
// What follows is looked at first: that is the case at one place of a text.
const OFFSET_WITHOUT_COLON = /(?=\d{2}$)(?<=[Tt ].*[+-]\d{2})/;

/** ISO 8601 allows more forms than RFC 3339: no seconds, and an offset without its colon. */
function toRfc3339(text: string): string {
  return text.replace(TIME_WITHOUT_SECONDS, '$1:00').replace(OFFSET_WITHOUT_COLON, ':');
}

/**
 * Epoch milliseconds of an ISO 8601 text; null when it is none, or names no instant of the calendar. Without an
 * offset UTC is meant, and a bare date is its first millisecond, or its last one at the end of a range.
 */
export function parseInstant(text: string, endOfDay: boolean): number | null {
  const match = INSTANT.exec(text);
  if (!match) return null;
  const number = (index: number) => Number(match[index] ?? 0);
  const [year, month, day] = [number(1), number(2), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  const [offsetHour, offsetMinute] = [number(10), number(11)];
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return null;
  const date = new Date(0);
  // Not Date.UTC, which maps the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  if (endOfDay && match[4] === undefined) date.setUTCHours(23, 59, 59, 999);
  else date.setUTCHours(hour, minute, second, Number((match[7] ?? '').slice(0, 3).padEnd(3, '0')));
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000;
  const instantMs = date.getTime() - (match[9] === '-' ? -offsetMs : offsetMs);
  return instantMs >= INSTANT_MIN_MS && instantMs <= INSTANT_MAX_MS ? instantMs : null;
}

/** Undefined for text that is not JSON, or exceeds its limits. */
export function readJsonText(text: string): JsonValue | undefined {
  const bytes = Buffer.from(text);
  const facts = scanJson(bytes);
  try {
    return facts.hasWide ? undefined : parseJson(bytes, facts, 'values');
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

export function readString(text: string, at: Context): string | undefined {
  // Only in a body, which would be stored. In a path or a query, such text just matches nothing.
  if (at.target === 'json' && text.includes('\0')) {
    return report(at, { field: at.path, type: 'invalid_format', message: `${at.path} must not hold U+0000` });
  }
  return text.toWellFormed();
}

export function readEnum(field: DescField, text: string, at: Context): number | undefined {
  if (!field.enum) throw new Error(`${field.name} is not an enum`);
  const known = enumSpellings(field.enum);
  return known.get(text) ?? report(at, enumReason(at.path, [...known.keys()], text));
}

export function wrongJson(at: Context): undefined {
  return report(at, {
    field: at.path,
    type: 'invalid_format',
    message: `${at.path} is not valid JSON, or exceeds its limits`,
  });
}

export function wrongLength(at: Context, expected: string): undefined {
  return report(at, { field: at.path, type: 'invalid_length', message: `${at.path} must have ${expected}`, expected });
}

/** Reports integers beyond the safe integers of JavaScript. */
function isTooLarge(number: number, at: Context): boolean {
  if (number > INTEGER_MAX) report(at, boundReason(at.path, 'too_big', INTEGER_MAX));
  else if (number < -INTEGER_MAX) report(at, boundReason(at.path, 'too_small', -INTEGER_MAX));
  else return false;
  return true;
}

export function toInteger(field: DescField, number: number, at: Context): number | bigint | undefined {
  if (isTooLarge(number, at)) return undefined;
  if (field.scalar === ScalarType.INT64) return BigInt(number);
  // Clamped, so that the rule of the field reports the number with its own bound.
  return Math.max(-2147483648, Math.min(2147483647, number));
}

export function wrongType(at: Context, expected: string, received: string): undefined {
  const message = `${at.path} must be ${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}`;
  return report(at, { field: at.path, type: 'invalid_type', message, expected, received });
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
