/** Reads an export request in JSON: hex ids, enums by number or name, 64-bit integers in any spelling. */

import { isAbsent } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import type { Steps } from '../../steps.ts';
import { cutToCharacters } from '../../text-limits.ts';
import { checkCount } from '../collector/collector.ts';
import { isUnreadable, type Sent } from '../collector/collector-draft.ts';
import { unlessTooWide } from './attributes.ts';
import { toParentId, toSpanId, toTraceId } from './ids.ts';
import { enumOf, listOf, memberObject, nanoOf, objectAt, readAttributes, readScope, text } from './json-values.ts';
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
export type Size = { readonly bytes: number; readonly depth: number };

const UNKNOWN_LISTED_MAX = 10;
const UNKNOWN_NAME_CHARACTERS_MAX = 100;

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
