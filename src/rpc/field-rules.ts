/**
 * The buf.validate rules of the contract's fields, compiled to checks. Not with the CEL library, which costs 34 MiB and
 * 0.17 s at start and whose violations lack members of our error bodies. A rule that is not supported here throws at
 * start, so none is skipped.
 */

import { type DescField, type DescMessage, getOption, hasOption, type Message } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence, type Timestamp } from '@bufbuild/protobuf/wkt';
import { type FieldRules, field as fieldRules, type TimestampRules } from '../../gen/buf/validate/validate_pb.js';
import { REASONS_MAX, type Reason } from '../domain/fault.ts';
import { countCodePoints, lengthReason, looksLikeSeconds, secondsReason, typeReason } from '../domain/reasons.ts';
import { maskedHead } from '../domain/token-mask.ts';
import { isInstant, msOfTimestamp } from './epoch-ms.ts';
import { fieldValue, isUnset } from './field-values.ts';
import { enumSpellings, isRangeEnd, isTimestamp, pathIn, restFlags, typeName } from './rest-shape.ts';

/** Whether an empty message would break a rule. */
export function hasRequiredField(desc: DescMessage): boolean {
  return desc.fields.some(isRequired);
}

export function isRequired(field: DescField): boolean {
  return hasOption(field, fieldRules) && getOption(field, fieldRules).required;
}

type Check = (value: unknown, path: string, found: Reason[]) => void;
type FieldCheck = { readonly field: DescField; readonly check: Check };

const checksByMessage = new WeakMap<DescMessage, readonly FieldCheck[]>();

/** The checks of a message's fields, compiled once; empty when no field has a rule. Throws for unsupported rules. */
export function checksOf(desc: DescMessage): readonly FieldCheck[] {
  const cached = checksByMessage.get(desc);
  if (cached) return cached;
  // A recursive message finds this empty list, which ends the recursion.
  checksByMessage.set(desc, []);
  const checks = desc.fields.flatMap((field) => {
    const check = compileField(field);
    return check ? [{ field, check }] : [];
  });
  checksByMessage.set(desc, checks);
  return checks;
}

function compileField(field: DescField): Check | null {
  const rules = hasOption(field, fieldRules) ? getOption(field, fieldRules) : null;
  const inner = isRangeEnd(field) ? checkBoth(compileValue(field, rules), secondsCheck) : compileValue(field, rules);
  if (!(rules?.required ?? false)) return inner === null ? null : whenSet(inner);
  refuseUndetectable(field);
  return (value, path, found) => {
    if (isUnset(field, value)) found.push(typeReason(path, typeName(field), 'undefined'));
    else inner?.(value, path, found);
  };
}

/** Throws where a missing value cannot be distinguished from a default. Lists are exempt: their rules on item counts apply. */
function refuseUndetectable(field: DescField): void {
  const isDetectable = field.presence === FeatureSet_FieldPresence.EXPLICIT || field.fieldKind === 'enum';
  if (!isDetectable && field.fieldKind !== 'list')
    throw new Error(`${field.parent.typeName}.${field.name} cannot be distinguished from a missing one`);
}

function checkBoth(first: Check | null, second: Check): Check {
  return (value, path, found) => {
    first?.(value, path, found);
    second(value, path, found);
  };
}

function whenSet(check: Check): Check {
  return (value, path, found) => {
    if (value !== undefined) check(value, path, found);
  };
}

function compileValue(field: DescField, rules: FieldRules | null): Check | null {
  if (rules !== null) refuseUnknown(field, rules);
  const type = rules?.type;
  if (field.fieldKind === 'list') return compileList(field, rules);
  if (field.fieldKind === 'message') {
    if (!isTimestamp(field.message)) return noRules(field, rules) && compileMessage(field.message);
    if (type?.case !== 'timestamp') return noRules(field, rules) && timestampCheck;
    return timestampRules(field, type.value);
  }
  if (field.fieldKind === 'enum' && type?.case === 'enum') {
    return type.value.definedOnly ? enumCheck(field) : null;
  }
  if (field.fieldKind === 'scalar' && type?.case === SCALAR_CASES.get(field.scalar)) return compileScalar(rules);
  return noRules(field, rules) && null;
}

/** By the numbers of google.protobuf.FieldDescriptorProto.Type. */
const SCALAR_CASES: ReadonlyMap<number, string> = new Map([
  [3, 'int64'],
  [5, 'int32'],
  [9, 'string'],
]);

/** Throws for a rule of another type than the field's. */
function noRules(field: DescField, rules: FieldRules | null): true {
  if (rules?.type.case !== undefined) throw unknownRule(field);
  return true;
}

/** Our copy of the validate.proto is trimmed: rules missing from it show up as unknown fields. */
function refuseUnknown(field: DescField, rules: FieldRules): void {
  if ((rules.$unknown?.length ?? 0) > 0 || (rules.type.value?.$unknown?.length ?? 0) > 0) throw unknownRule(field);
  if (rules.type.case === 'repeated' && rules.type.value.items) refuseUnknown(field, rules.type.value.items);
}

function unknownRule({ parent, name }: DescField): Error {
  return new Error(`${parent.typeName}.${name} has a rule that nothing here checks`);
}

function compileScalar(rules: FieldRules | null): Check | null {
  const type = rules?.type;
  if (type?.case === 'string') {
    const { minLen, maxLen, pattern } = type.value;
    const max = maxLen > 0n ? Number(maxLen) : null;
    return stringCheck(Number(minLen), max, pattern === '' ? null : new RegExp(pattern, 'u'));
  }
  if (type?.case === 'int32' || type?.case === 'int64') {
    const { lessThan, greaterThan } = type.value;
    // For integers, exclusive bounds become inclusive ones.
    const above = greaterThan.case === 'gt' ? Number(greaterThan.value) + 1 : Number(greaterThan.value);
    const below = lessThan.case === 'lt' ? Number(lessThan.value) - 1 : Number(lessThan.value);
    return integerCheck(greaterThan.case ? above : null, lessThan.case ? below : null);
  }
  return null;
}

function enumCheck(field: DescField & { readonly fieldKind: 'enum' }): Check {
  const known = new Set(field.enum.values.map((value) => value.number));
  const expected = [...enumSpellings(field.enum).keys()];
  return (value, path, found) => {
    if (!known.has(Number(value))) found.push(enumReason(path, expected, String(value)));
  };
}

/** The reason for a value that is not in an enum. */
export function enumReason(path: string, expected: readonly string[], received: string): Reason {
  return {
    field: path,
    type: 'invalid_enum_value',
    message: `${path} must be one of: ${expected.join(', ')}`,
    expected: expected.slice(0, 50),
    received: maskedHead(received, 100),
  };
}

function compileMessage(desc: DescMessage): Check | null {
  const checks = checksOf(desc);
  if (checks.length === 0) return null;
  return (value, path, found) => {
    for (const { field, check } of checks) check(fieldValue(value as Message, field), pathIn(path, field), found);
  };
}

function compileList(field: DescField & { fieldKind: 'list' }, rules: FieldRules | null): Check | null {
  const bounds = rules?.type.case === 'repeated' ? rules.type.value : null;
  if (bounds === null) noRules(field, rules);
  const item = compileItem(field, bounds?.items ?? null);
  const min = Number(bounds?.minItems ?? 0n);
  const max = bounds && bounds.maxItems > 0n ? Number(bounds.maxItems) : null;
  if (!item && min === 0 && max === null) return null;
  const expected = itemsExpected(field);
  return (value, path, found) => {
    const items = value as readonly unknown[];
    if (items.length < min || (max !== null && items.length > max)) {
      found.push(lengthReason(path, expected));
    }
    for (const [index, each] of items.entries()) {
      if (found.length >= REASONS_MAX) return;
      item?.(each, `${path}.${index}`, found);
    }
  };
}

/** The text for how many items a list may have. */
export function itemsExpected(field: DescField): string {
  const rules = hasOption(field, fieldRules) ? getOption(field, fieldRules) : null;
  const bounds = rules?.type.case === 'repeated' ? rules.type.value : null;
  const min = Math.max(Number(bounds?.minItems ?? 0n), rules?.required ? 1 : 0);
  const max = bounds && bounds.maxItems > 0n ? Number(bounds.maxItems) : null;
  return `${min === 0 ? `at most ${max}` : range(min, max)} items`;
}

function compileItem(field: DescField & { fieldKind: 'list' }, rules: FieldRules | null): Check | null {
  if (field.listKind === 'message') return noRules(field, rules) && compileMessage(field.message);
  if (rules === null) return null;
  if (field.listKind !== 'scalar' || rules.type.case !== SCALAR_CASES.get(field.scalar)) throw unknownRule(field);
  return compileScalar(rules);
}

function stringCheck(min: number, max: number | null, pattern: RegExp | null): Check {
  const expected = `${range(min, max)} characters`;
  return (value, path, found) => {
    const text = String(value);
    const length = countCodePoints(text);
    if (length < min || (max !== null && length > max)) {
      found.push(lengthReason(path, expected));
    } else if (pattern && !pattern.test(text)) {
      found.push({
        field: path,
        type: 'invalid_format',
        message: `${path} has the wrong format`,
        expected: pattern.source,
      });
    }
  };
}

function integerCheck(min: number | null, max: number | null): Check {
  return (value, path, found) => {
    const number = Number(value);
    if (min !== null && number < min) found.push(boundReason(path, 'too_small', min));
    else if (max !== null && number > max) found.push(boundReason(path, 'too_big', max));
  };
}

/** The reason for a number beyond a bound. */
export function boundReason(path: string, type: 'too_small' | 'too_big', bound: number): Reason {
  const message = `${path} must be ${type === 'too_big' ? 'at most' : 'at least'} ${bound}`;
  return { field: path, type, message, expected: bound };
}

/** Only for instants that are epoch milliseconds over REST, because the error states the bound as a number. */
function timestampRules(field: DescField, { greaterThan }: TimestampRules): Check {
  if (!restFlags(field).epochMs || greaterThan.case === undefined) throw unknownRule(field);
  const bound = integerCheck(msOfTimestamp(greaterThan.value), null);
  return (value, path, found) => {
    timestampCheck(value, path, found);
    bound(msOfTimestamp(value as Timestamp), path, found);
  };
}

/** A Timestamp can hold values outside the calendar. */
function timestampCheck(value: unknown, path: string, found: Reason[]): void {
  if (!isInstant(value as Timestamp)) found.push(instantReason(path));
}

/** As milliseconds, seconds of today are an instant in January 1970: the range would hold nothing, and not say why. */
function secondsCheck(value: unknown, path: string, found: Reason[]): void {
  const instantMs = msOfTimestamp(value as Timestamp);
  if (!looksLikeSeconds(instantMs)) return;
  const message = `${path} ${secondsReason(instantMs)}`;
  found.push({ field: path, type: 'invalid_format', message, expected: 'milliseconds since the epoch' });
}

/** The reason for a value that is not an instant. */
export function instantReason(path: string): Reason {
  const expected = 'an RFC 3339 timestamp';
  return { field: path, type: 'invalid_format', message: `${path} must be ${expected}`, expected };
}

function range(min: number, max: number | null): string {
  return max === null ? `at least ${min}` : `${min} to ${max}`;
}
