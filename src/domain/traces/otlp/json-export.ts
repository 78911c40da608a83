/** Reads an export request in JSON: hex ids, enums by number or name, 64-bit integers in any spelling. */

import { isAbsent } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import type { Steps } from '../../steps.ts';
import { cutToCharacters } from '../../text-limits.ts';
import { checkCount } from '../collector/collector.ts';
import { isUnreadable, type Sent, type Unreadable } from '../collector/collector-draft.ts';
import { unlessTooWide } from './attributes.ts';
import { toParentId, toSpanId, toTraceId } from './ids.ts';
import {
  enumOf,
  listOf,
  nanoOf,
  objectAt,
  readAttributes,
  readItems,
  readObject,
  readResource,
  readScope,
  textOf,
  unlessWrong,
} from './json-values.ts';
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
    // What the spans share is reported once, with the first of them that is read.
    const shared: Unreadable[] = [];
    const resource = unlessTooWide(() => readResource(part, shared));
    for (const group of listOf(part, 'scopeSpans')) {
      const scope = readScope(group, shared);
      for (const span of listOf(group, 'spans')) {
        const around = { scope, dropped: [...shared] };
        const read = isUnreadable(resource) ? resource : unlessTooWide(() => readSpan(span, { resource, ...around }));
        if (!isUnreadable(read)) shared.length = 0;
        spans.push(read);
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

type Around = { readonly resource: Attributes; readonly scope: OtlpScope; readonly dropped: Unreadable[] };

/** Unreadable without its times. Adds the fields left out to `dropped`. */
function readSpan(span: LosslessObject, { resource, scope, dropped }: Around): OtlpSpan | Unreadable {
  const startNano = nanoOf(span, 'startTimeUnixNano');
  const endNano = nanoOf(span, 'endTimeUnixNano');
  if (isUnreadable(startNano)) return startNano;
  if (isUnreadable(endNano)) return endNano;
  const status = readObject(span, 'status', dropped);
  return {
    traceId: idOf(span, 'traceId', toTraceId),
    spanId: idOf(span, 'spanId', toSpanId),
    parentId: idOf(span, 'parentSpanId', toParentId),
    name: unlessWrong(textOf(span, 'name'), dropped) ?? '',
    kind: unlessWrong(enumOf(span.kind, SPAN_KINDS, 'kind'), dropped) ?? 0,
    startNano,
    endNano,
    attributes: readAttributes(span, dropped),
    events: readItems(span, 'events', dropped).map((event) => readEvent(event, dropped)),
    links: readItems(span, 'links', dropped).map((link) => readLink(link, dropped)),
    status: {
      code: unlessWrong(enumOf(status.code, STATUS_CODES, 'status.code'), dropped) ?? 0,
      message: unlessWrong(textOf(status, 'message', 'status.message'), dropped) ?? '',
    },
    scope,
    resource,
    dropped: dropped.length === 0 ? undefined : dropped,
  };
}

function idOf(span: LosslessObject, name: string, toId: (hex: string) => Sent<string>): Sent<string> {
  const hex = textOf(span, name);
  return isUnreadable(hex) ? hex : toId(hex);
}

function readEvent(event: LosslessObject, dropped: Unreadable[]): OtlpEvent {
  return {
    name: unlessWrong(textOf(event, 'name', 'events.name'), dropped) ?? '',
    timeNano: unlessWrong(nanoOf(event, 'timeUnixNano', 'events.timeUnixNano'), dropped) ?? 0n,
    attributes: readAttributes(event, dropped, 'events.attributes'),
  };
}

function readLink(link: LosslessObject, dropped: Unreadable[]): OtlpLink {
  const textIn = (name: string) => unlessWrong(textOf(link, name, `links.${name}`), dropped) ?? '';
  return {
    traceId: textIn('traceId').toLowerCase(),
    spanId: textIn('spanId').toLowerCase(),
    traceState: textIn('traceState'),
    attributes: readAttributes(link, dropped, 'links.attributes'),
  };
}
