/** Reads the spans of an encoded export request. The field numbers are OpenTelemetry's. */

import { WireType } from '@bufbuild/protobuf/wire';
import type { Steps } from '../../domain/steps.ts';
import { checkWidth } from '../../domain/traces/otlp/attributes.ts';
import { toParentId, toSpanId, toTraceId } from '../../domain/traces/otlp/ids.ts';
import type { OtlpEvent, OtlpExport, OtlpLink, OtlpSpan } from '../../domain/traces/otlp/span.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';
import { type Around, type Range, readWireItems } from './otlp-wire-items.ts';
import {
  delimited,
  enter,
  FIELDS_PER_STEP,
  leave,
  nextTag,
  readAttributeInto,
  readHex,
  readText,
  skip,
  type Wire,
} from './otlp-wire-values.ts';

/** Throws malformed_request, and payload_too_large for too many spans or parts. */
export function* readWireExport(bytes: Uint8Array, spansMax: number): Steps<OtlpExport> {
  const { items: spans, ...facts } = yield* readWireItems(bytes, { name: 'spans', itemsMax: spansMax, read: readSpan });
  return { spans, ...facts };
}

const TRACE_ID = delimited(1);
const SPAN_ID = delimited(2);
const PARENT_ID = delimited(4);
const NAME = delimited(5);
const KIND = (6 << 3) | WireType.Varint;
const START = (7 << 3) | WireType.Bit64;
const END = (8 << 3) | WireType.Bit64;
const ATTRIBUTE = delimited(9);
const EVENT = delimited(11);
const LINK = delimited(13);
const STATUS = delimited(15);

function* readSpan(wire: Wire, { start, end }: Range, around: Around): Steps<OtlpSpan> {
  const { reader } = wire;
  const attributes = new Map<string, LosslessJson>();
  const [events, links]: [OtlpEvent[], OtlpLink[]] = [[], []];
  const status = { code: 0, message: '' };
  let [traceId, spanId, parentId, name] = ['', '', '', ''];
  let [kind, startNano, endNano, count] = [0, 0n, 0n, 0];
  reader.pos = start;
  let pauseAt = wire.fields + FIELDS_PER_STEP;
  while (reader.pos < end) {
    const tag = nextTag(wire);
    if (wire.fields > pauseAt) {
      yield;
      pauseAt = wire.fields + FIELDS_PER_STEP;
    }
    if (tag === ATTRIBUTE) readAttributeInto(attributes, wire, ++count);
    else if (tag === TRACE_ID) traceId = readHex(wire);
    else if (tag === SPAN_ID) spanId = readHex(wire);
    else if (tag === PARENT_ID) parentId = readHex(wire);
    else if (tag === NAME) name = readText(wire);
    else if (tag === KIND) kind = reader.int32();
    else if (tag === START) startNano = BigInt(reader.fixed64());
    else if (tag === END) endNano = BigInt(reader.fixed64());
    else if (tag === STATUS) readStatusInto(status, wire);
    else if (tag === EVENT) events.push(readEvent(wire, events.length));
    else if (tag === LINK) links.push(readLink(wire, links.length));
    else skip(wire, tag);
  }
  leave(wire, end);
  return {
    traceId: toTraceId(traceId),
    spanId: toSpanId(spanId),
    parentId: toParentId(parentId),
    name,
    kind,
    startNano,
    endNano,
    attributes,
    events,
    links,
    status,
    ...around,
  };
}

const STATUS_MESSAGE = delimited(2);
const STATUS_CODE = (3 << 3) | WireType.Varint;

function readStatusInto(status: { code: number; message: string }, wire: Wire): void {
  const end = enter(wire);
  while (wire.reader.pos < end) {
    const tag = nextTag(wire);
    if (tag === STATUS_CODE) status.code = wire.reader.int32();
    else if (tag === STATUS_MESSAGE) status.message = readText(wire);
    else skip(wire, tag);
  }
  leave(wire, end);
}

const EVENT_TIME = (1 << 3) | WireType.Bit64;
const EVENT_NAME = delimited(2);
const EVENT_ATTRIBUTE = delimited(3);

/** `others` are the fields of the span that were read before. */
function readEvent(wire: Wire, others: number): OtlpEvent {
  checkWidth(others + 1);
  const end = enter(wire);
  const attributes = new Map<string, LosslessJson>();
  let [name, timeNano, count] = ['', 0n, 0];
  while (wire.reader.pos < end) {
    const tag = nextTag(wire);
    if (tag === EVENT_TIME) timeNano = BigInt(wire.reader.fixed64());
    else if (tag === EVENT_NAME) name = readText(wire);
    else if (tag === EVENT_ATTRIBUTE) readAttributeInto(attributes, wire, ++count);
    else skip(wire, tag);
  }
  leave(wire, end);
  return { name, timeNano, attributes };
}

const TRACE_STATE = delimited(3);
const LINK_ATTRIBUTE = delimited(4);

function readLink(wire: Wire, others: number): OtlpLink {
  checkWidth(others + 1);
  const end = enter(wire);
  const attributes = new Map<string, LosslessJson>();
  let [traceId, spanId, traceState, count] = ['', '', '', 0];
  while (wire.reader.pos < end) {
    const tag = nextTag(wire);
    if (tag === TRACE_ID) traceId = readHex(wire);
    else if (tag === SPAN_ID) spanId = readHex(wire);
    else if (tag === TRACE_STATE) traceState = readText(wire);
    else if (tag === LINK_ATTRIBUTE) readAttributeInto(attributes, wire, ++count);
    else skip(wire, tag);
  }
  leave(wire, end);
  return { traceId, spanId, traceState, attributes };
}
