/** Reads an export request in JSON: hex ids, enums by number or name, 64-bit integers in any spelling. */

import { isAbsent, isArray, isObject, numberOf, scalarText } from '../../../json/free-json.ts';
import { malformed } from '../../../json/json-text.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import type { Steps } from '../../steps.ts';
import { cutToCharacters } from '../../text-limits.ts';
import { checkCount } from '../collector/collector.ts';
import { isUnreadable, type Sent } from '../collector/collector-draft.ts';
import { attributesOf, doubleOf, type Entry, integerOf, objectOf, unlessTooWide } from './attributes.ts';
import { toParentId, toSpanId, toTraceId } from './ids.ts';
import {
  type Attributes,
  type OtlpEvent,
  type OtlpExport,
  type OtlpLink,
  type OtlpScope,
  type OtlpSpan,
  SPAN_KINDS,
  STATUS_CODES,
} from './span.ts';

/** Sizes found by a scan of the bytes. */
type Size = { readonly bytes: number; readonly depth: number };

const WORD = 4_294_967_296n;
const UNKNOWN_LISTED_MAX = 10;
const UNKNOWN_NAME_CHARACTERS_MAX = 100;
const MANTISSA_DIGITS = /^-?[0-9]+$/;

/** Throws malformed_request when the body has not the shape of an export, and payload_too_large. */
export function* readJsonExport(body: LosslessJson, { bytes, depth }: Size, spansMax: number): Steps<OtlpExport> {
  checkCount(countJsonRecords(body, ['resourceSpans', 'scopeSpans', 'spans']), 'spans', spansMax);
  const spans: Sent<OtlpSpan>[] = [];
  for (const part of listOf(objectAt(body, 'the request'), 'resourceSpans')) {
    const resource = unlessTooWide(() => readAttributes(memberObject(part, 'resource')));
    for (const group of listOf(part, 'scopeSpans')) {
      const scope = readScope(memberObject(group, 'scope'));
      for (const span of listOf(group, 'spans')) {
        spans.push(isUnreadable(resource) ? resource : unlessTooWide(() => readSpan(span, { resource, scope })));
        yield;
      }
    }
  }
  return { spans, bytes, depth };
}

/** Notes on members beside the list of a request: under a misspelled name nothing of it would be stored, nor missed. */
export function unknownMemberNotes(body: LosslessJson, list: string): readonly string[] {
  const sent = objectAt(body, 'the request');
  const unknown = Object.keys(sent).filter((name) => name !== list && !isAbsent(sent[name]));
  const notes = unknown.slice(0, UNKNOWN_LISTED_MAX).map((name) => {
    return `${cutToCharacters(name, UNKNOWN_NAME_CHARACTERS_MAX)}: is not a member of the request, which has ${list}`;
  });
  return unknown.length > notes.length ? [...notes, `and ${unknown.length - notes.length} more`] : notes;
}

/** Counts records of a request of any signal; each list is inside the one before. */
export function countJsonRecords(body: LosslessJson, [outer = '', middle = '', inner = '']: readonly string[]): number {
  let count = 0;
  for (const part of listOf(objectAt(body, 'the request'), outer)) {
    for (const group of listOf(part, middle)) count += listOf(group, inner).length;
  }
  return count;
}

type Around = { readonly resource: Attributes; readonly scope: OtlpScope };

function readSpan(span: LosslessObject, { resource, scope }: Around): OtlpSpan {
  const status = memberObject(span, 'status');
  return {
    traceId: toTraceId(text(span, 'traceId')),
    spanId: toSpanId(text(span, 'spanId')),
    parentId: toParentId(text(span, 'parentSpanId')),
    name: text(span, 'name'),
    kind: enumOf(span.kind, SPAN_KINDS),
    startNano: nanoOf(span.startTimeUnixNano),
    endNano: nanoOf(span.endTimeUnixNano),
    attributes: readAttributes(span),
    events: listOf(span, 'events').map(readEvent),
    links: listOf(span, 'links').map(readLink),
    status: { code: enumOf(status.code, STATUS_CODES), message: text(status, 'message') },
    scope,
    resource,
  };
}

function readScope(scope: LosslessObject): OtlpScope {
  return { name: text(scope, 'name'), version: text(scope, 'version') };
}

function readEvent(event: LosslessObject): OtlpEvent {
  return { name: text(event, 'name'), timeNano: nanoOf(event.timeUnixNano), attributes: readAttributes(event) };
}

function readLink(link: LosslessObject): OtlpLink {
  return {
    traceId: text(link, 'traceId').toLowerCase(),
    spanId: text(link, 'spanId').toLowerCase(),
    traceState: text(link, 'traceState'),
    attributes: readAttributes(link),
  };
}

function readAttributes(of: LosslessObject): Attributes {
  return attributesOf(listOf(of, 'attributes'), readEntry);
}

function readEntry(item: LosslessObject): Entry {
  return [text(item, 'key'), anyValueOf(memberObject(item, 'value'))];
}

/** An AnyValue: its only member gives its type. */
function anyValueOf(value: LosslessObject): LosslessJson {
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

function nanoOf(value: LosslessJson | undefined): bigint {
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

function enumOf(value: LosslessJson | undefined, names: readonly string[]): number {
  if (isAbsent(value)) return 0;
  // Names of later versions count as unspecified.
  if (typeof value === 'string') return Math.max(0, names.indexOf(value));
  return numberOf(value) ?? wrong('an enum', 'a number or a name');
}

function text(of: LosslessObject, name: string): string {
  const value = of[name];
  if (isAbsent(value)) return '';
  return typeof value === 'string' ? value : wrong(name, 'a string');
}

function memberObject(of: LosslessObject, name: string): LosslessObject {
  const value = of[name];
  return isAbsent(value) ? {} : objectAt(value, name);
}

function listOf(of: LosslessObject, name: string): readonly LosslessObject[] {
  const value = of[name];
  if (isAbsent(value)) return [];
  if (!isArray(value)) return wrong(name, 'an array');
  return value.map((item) => objectAt(item, `an item of ${name}`));
}

function objectAt(value: LosslessJson, name: string): LosslessObject {
  return isObject(value) ? value : wrong(name, 'an object');
}

function wrong(name: string, expected: string): never {
  throw malformed(`The request is no OTLP request: ${name} must be ${expected}.`, 'not an OTLP request');
}
