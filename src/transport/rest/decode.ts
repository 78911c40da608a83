/** Path, query and body -> request message, by descriptor. Collects every problem, not only the first. */

import { create, type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { JsonValue } from '../../domain/fault.ts';
import { numberText, wholeNumberOf } from '../../json/whole-number.ts';
import { INSTANT_MAX_MS, INSTANT_MIN_MS, timestampOfMs } from '../../rpc/epoch-ms.ts';
import { enumReason, isRequired, itemsExpected } from '../../rpc/field-rules.ts';
import {
  enumSpellings,
  isDeclared,
  isInlineMessage,
  isJsonText,
  isMask,
  isTimestamp,
  restFlags,
  restName,
  sendableFields,
  type Target,
  typeName,
  valueFieldOf,
} from '../../rpc/rest-shape.ts';
import type { Problem } from '../../rpc/validate.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { parseInstant } from './timestamp.ts';
import { canBeUnset, deriveMask } from './update-mask.ts';

export type Parts = {
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** By lower-case name. */
  readonly header?: (name: string) => string | undefined;
  /** The parsed body, numbers in their spelling; null when the route takes none. */
  readonly body: JsonObject | null;
  readonly nullIsAbsent: boolean;
  /** Whether null clears a scalar although the request has no mask. */
  readonly nullUnsets?: boolean;
};

export type DecodedMessage = { readonly message: Message; readonly problems: readonly Problem[] };

/** Items of any list; the rules of single fields may allow fewer. */
const LIST_MAX = 10_000;
const INTEGER_MAX = 9007199254740991;
/** The highest page number of a request. */
const PAGE_MAX = 1_000_000;

/** A field is read from the path where it is a parameter, otherwise from the body, or from the query where the route takes no body. */
export function decodeMessage(desc: DescMessage, parts: Parts): DecodedMessage {
  const problems: Problem[] = [];
  const init: Record<string, unknown> = {};
  const resolved = { ...parts, nullUnsets: parts.nullUnsets === true || desc.fields.some(isMask) };
  for (const field of sendableFields(desc)) {
    const value = isMask(field) ? deriveMask(desc, parts) : readField(field, resolved, problems);
    if (value !== undefined) init[field.localName] = value;
  }
  return { message: create(desc, init), problems };
}

/** An update has a mask, which distinguishes a field sent without a value from one that is not sent. */
type ResolvedParts = Parts & { readonly nullUnsets: boolean };

function readField(field: DescField, parts: ResolvedParts, problems: Problem[]): unknown {
  if (isInlineMessage(field)) return readMembers(field.message, { ...parts, parameters: {} }, problems);
  const name = restName(field);
  const parameter = Object.hasOwn(parts.parameters, field.name) ? parts.parameters[field.name] : undefined;
  if (parameter !== undefined) return readText(field, parameter, { path: name, target: 'param', problems });
  if (parts.body) {
    if (!Object.hasOwn(parts.body, name)) return undefined;
    const { nullIsAbsent, nullUnsets } = parts;
    const at = { path: name, target: 'json' as const, problems, nullIsAbsent, nullUnsets };
    return readJson(field, parts.body[name] as JsonValue, at);
  }
  const values = parts.query.getAll(name);
  const { header } = restFlags(field);
  const [value = header === '' ? undefined : parts.header?.(header)] = values;
  if (value === undefined) return undefined;
  if (values.length > 1) {
    problems.push({ field: name, target: 'query', type: 'custom', message: `${name} must be sent once` });
    return undefined;
  }
  return readText(field, value, { path: name, target: 'query', problems });
}

/** An inline message, whose fields are members of the body itself. */
function readMembers(desc: DescMessage, parts: ResolvedParts, problems: Problem[]): Message {
  const init: Record<string, unknown> = {};
  for (const field of sendableFields(desc)) {
    const value = readField(field, parts, problems);
    if (value !== undefined) init[field.localName] = value;
  }
  return create(desc, init);
}

type Context = { readonly path: string; readonly target: Target; readonly problems: Problem[] };
type JsonContext = Context & { readonly nullIsAbsent: boolean; readonly nullUnsets: boolean };

/** A path segment or a query value. */
function readText(field: DescField, text: string, at: Context): unknown {
  if (field.fieldKind === 'enum') return readEnum(field, text, at);
  if (isEpochMs(field)) return isDigits(text) ? readEpochMs(Number(text), at) : wrongType(at, 'integer', 'string');
  if (field.fieldKind === 'list' && field.listKind === 'scalar' && field.scalar === ScalarType.STRING) {
    return text === '' ? [] : text.split(',', LIST_MAX).map((item) => readString(item, at));
  }
  if (field.fieldKind !== 'scalar')
    throw new Error(`${field.parent.typeName}.${field.name} cannot travel in a path or query`);
  if (field.scalar === ScalarType.STRING) {
    if (!restFlags(field).pageNumber) return readString(text, at);
    return isDigits(text) ? readPageNumber(Number(text), at) : wrongType(at, 'integer', 'string');
  }
  if (field.scalar === ScalarType.BOOL) {
    if (text === 'true' || text === 'false') return text === 'true';
    return wrongType(at, 'boolean', 'string');
  }
  return isDigits(text) ? toInteger(field, Number(text), at) : wrongType(at, 'integer', 'string');
}

function isDigits(text: string): boolean {
  return /^[0-9]{1,16}$/.test(text);
}

function readJson(field: DescField, value: JsonValue, at: JsonContext): unknown {
  const only = field.fieldKind === 'message' ? valueFieldOf(field.message) : null;
  if (only !== null && field.message !== undefined) {
    const held = readJson(only, value, at);
    // A message without its value stands for null, unless null counts as absent.
    return held === undefined && at.nullIsAbsent ? undefined : create(field.message, { [only.localName]: held });
  }
  if (value === null && !isJsonText(field)) {
    if (at.nullIsAbsent || (at.nullUnsets && canBeUnset(field))) return undefined;
    return wrongType(at, typeName(field), 'null');
  }
  if (field.fieldKind === 'list') {
    if (!Array.isArray(value)) return wrongType(at, 'array', typeOf(value));
    if (value.length > LIST_MAX) return wrongLength(at, `at most ${LIST_MAX} items`);
    // Checked here: in a message, an empty list looks like one that was not sent, which is a different problem.
    if (value.length === 0 && isRequired(field)) return wrongLength(at, itemsExpected(field));
    // An unreadable item becomes an empty one, so that later problems keep their index.
    return value.map((item, index) => readOne(field, item, { ...at, path: `${at.path}.${index}` }) ?? emptyItem(field));
  }
  return readOne(field, value, at);
}

function readOne(field: DescField, value: JsonValue, at: JsonContext): unknown {
  if (field.fieldKind === 'message' || (field.fieldKind === 'list' && field.listKind === 'message')) {
    if (isEpochMs(field)) return readWhole(value, at, readEpochMs);
    return isTimestamp(field.message) ? readInstant(unquoted(field, value), at) : readObject(field.message, value, at);
  }
  if (isJsonText(field)) return value === null && at.nullIsAbsent ? undefined : JSON.stringify(value);
  if (field.enum)
    return typeof value === 'string' ? readEnum(field, value, at) : wrongType(at, 'string', typeOf(value));
  if (field.scalar === ScalarType.STRING) {
    if (restFlags(field).pageNumber) return readWhole(value, at, readPageNumber);
    return typeof value === 'string' ? readString(value, at) : wrongType(at, 'string', typeOf(value));
  }
  if (field.scalar === ScalarType.BOOL)
    return typeof value === 'boolean' ? value : wrongType(at, 'boolean', typeOf(value));
  if (field.scalar === ScalarType.DOUBLE) {
    const number = numberOf(value);
    return number === null ? wrongType(at, 'number', typeOf(value)) : number;
  }
  const whole = wholeNumberOf(value);
  return whole === null ? wrongType(at, 'integer', typeOf(value)) : toInteger(field, whole, at);
}

function readObject(desc: DescMessage, value: JsonValue, at: JsonContext): unknown {
  if (!isDeclared(desc)) throw new Error(`${desc.typeName} has no REST request form`);
  if (!isJsonObject(value)) return wrongType(at, 'object', typeOf(value));
  const init: Record<string, unknown> = {};
  for (const field of sendableFields(desc)) {
    const name = restName(field);
    if (!Object.hasOwn(value, name)) continue;
    const read = readJson(field, value[name] as JsonValue, { ...at, path: `${at.path}.${name}` });
    if (read !== undefined) init[field.localName] = read;
  }
  return create(desc, init);
}

function isEpochMs(field: DescField): boolean {
  return field.message !== undefined && isTimestamp(field.message) && restFlags(field).epochMs;
}

function readWhole<V>(value: JsonValue, at: Context, read: (number: number, at: Context) => V): V | undefined {
  const whole = wholeNumberOf(value);
  return whole === null ? wrongType(at, 'integer', typeOf(value)) : read(whole, at);
}

function readEpochMs(number: number, at: Context): Timestamp | undefined {
  return isTooLarge(number, at) ? undefined : timestampOfMs(Math.max(number, INSTANT_MIN_MS));
}

function readPageNumber(number: number, at: Context): string | undefined {
  if (isTooLarge(number, at)) return undefined;
  if (number < 1) return outOfRange(at, { type: 'too_small', bound: 1 });
  if (number > PAGE_MAX) return outOfRange(at, { type: 'too_big', bound: PAGE_MAX });
  return String(number);
}

const MILLISECONDS = /^-?[0-9]{1,16}(\.[0-9]{1,9})?$/;

/** Parses epoch milliseconds sent as text, where the field allows that; a fraction is rounded. */
function unquoted(field: DescField, value: JsonValue): JsonValue {
  const isNumber = typeof value === 'string' && restFlags(field).also.includes('string') && MILLISECONDS.test(value);
  return isNumber ? Math.round(Number(value)) : value;
}

/** ISO 8601, or epoch milliseconds. */
function readInstant(value: JsonValue, at: Context): Timestamp | undefined {
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

function readString(text: string, at: Context): string | undefined {
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

function readEnum(field: DescField, text: string, at: Context): number | undefined {
  if (!field.enum) throw new Error(`${field.name} is no enum`);
  const known = enumSpellings(field.enum);
  const number = known.get(text);
  if (number === undefined) at.problems.push({ ...enumReason(at.path, [...known.keys()], text), target: at.target });
  return number;
}

function wrongLength(at: Context, expected: string): undefined {
  at.problems.push({
    field: at.path,
    target: at.target,
    type: 'invalid_length',
    message: `${at.path} must have ${expected}`,
    expected,
  });
  return undefined;
}

function emptyItem(field: DescField): unknown {
  if (field.message) return create(field.message);
  return field.scalar === ScalarType.STRING ? '' : 0;
}

/** Reports integers beyond the safe integers of JavaScript. */
function isTooLarge(number: number, at: Context): boolean {
  if (number > INTEGER_MAX) outOfRange(at, { type: 'too_big', bound: INTEGER_MAX });
  else if (number < -INTEGER_MAX) outOfRange(at, { type: 'too_small', bound: -INTEGER_MAX });
  else return false;
  return true;
}

function toInteger(field: DescField, number: number, at: Context): number | bigint | undefined {
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

function wrongType(at: Context, expected: string, received: string): undefined {
  const message = `${at.path} must be ${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}`;
  at.problems.push({ field: at.path, target: at.target, type: 'invalid_type', message, expected, received });
  return undefined;
}

function numberOf(value: JsonValue): number | null {
  const text = numberText(value);
  return text === null ? null : Number(text);
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return JSON.isRawJSON(value) ? 'number' : typeof value;
}
