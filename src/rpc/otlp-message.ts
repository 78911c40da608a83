/** A request to export spans in the protobuf encoding -> the spans it holds. */

import type { ExportTraceServiceRequest } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import type { AnyValue, InstrumentationScope, KeyValue } from '../../gen/opentelemetry/proto/common/v1/common_pb.js';
import type { Span, Span_Event, Span_Link } from '../../gen/opentelemetry/proto/trace/v1/trace_pb.js';
import { checkCount } from '../domain/collector.ts';
import { isUnreadable, type Sent } from '../domain/collector-draft.ts';
import type { LosslessJson } from '../domain/lossless-json.ts';
import { attributesOf, doubleOf, type Entry, integerOf, objectOf, unlessTooWide } from '../domain/otlp/attributes.ts';
import { toParentId, toSpanId, toTraceId } from '../domain/otlp/ids.ts';
import type { Attributes, OtlpEvent, OtlpExport, OtlpLink, OtlpScope, OtlpSpan } from '../domain/otlp/span.ts';
import type { Steps } from '../domain/steps.ts';

/** Throws payload_too_large. */
export function* readMessageExport(request: ExportTraceServiceRequest, spansMax: number): Steps<OtlpExport> {
  const { resourceSpans } = request;
  const groups = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans);
  const count = groups.reduce((sum, group) => sum + group.spans.length, 0);
  checkCount(count, 'spans', spansMax);
  const size: Size = { bytes: 0, depth: 0 };
  const spans: Sent<OtlpSpan>[] = [];
  for (const part of resourceSpans) {
    const resource = unlessTooWide(() => readAttributes(part.resource?.attributes ?? [], size));
    for (const group of part.scopeSpans) {
      const scope = readScope(group.scope, size);
      for (const span of group.spans) {
        spans.push(isUnreadable(resource) ? resource : unlessTooWide(() => readSpan(span, { resource, scope, size })));
        yield;
      }
    }
  }
  return { spans, ...size };
}

/** Bounds on what was read so far. */
type Size = { bytes: number; depth: number };

type Around = { readonly resource: Attributes; readonly scope: OtlpScope; readonly size: Size };

/** No character takes more bytes in UTF-8 for each unit that JavaScript counts. */
const UTF8_BYTES_PER_UNIT_MAX = 3;

function readSpan(span: Span, { resource, scope, size }: Around): OtlpSpan {
  return {
    traceId: toTraceId(toHex(span.traceId)),
    spanId: toSpanId(toHex(span.spanId)),
    parentId: toParentId(toHex(span.parentSpanId)),
    name: measured(span.name, size),
    kind: span.kind,
    startNano: span.startTimeUnixNano,
    endNano: span.endTimeUnixNano,
    attributes: readAttributes(span.attributes, size),
    events: span.events.map((event) => readEvent(event, size)),
    links: span.links.map((link) => readLink(link, size)),
    status: { code: span.status?.code ?? 0, message: measured(span.status?.message ?? '', size) },
    scope,
    resource,
  };
}

function readScope(scope: InstrumentationScope | undefined, size: Size): OtlpScope {
  return { name: measured(scope?.name ?? '', size), version: measured(scope?.version ?? '', size) };
}

function readEvent({ name, timeUnixNano, attributes }: Span_Event, size: Size): OtlpEvent {
  return { name: measured(name, size), timeNano: timeUnixNano, attributes: readAttributes(attributes, size) };
}

function readLink({ traceId, spanId, traceState, attributes }: Span_Link, size: Size): OtlpLink {
  return {
    traceId: toHex(traceId),
    spanId: toHex(spanId),
    traceState: measured(traceState, size),
    attributes: readAttributes(attributes, size),
  };
}

function readAttributes(attributes: readonly KeyValue[], size: Size): Attributes {
  return attributesOf(attributes, ({ key, value }) => [measured(key, size), anyValueOf(value, 1, size)]);
}

function anyValueOf(any: AnyValue | undefined, level: number, size: Size): LosslessJson {
  const { value } = any ?? { value: { case: undefined } };
  switch (value.case) {
    case 'stringValue':
      return measured(value.value, size);
    case 'boolValue':
      return value.value;
    case 'intValue':
      return integerOf(value.value);
    case 'doubleValue':
      return doubleOf(value.value);
    case 'bytesValue':
      return measured(Buffer.from(value.value).toString('base64'), size);
    case 'arrayValue':
      size.depth = Math.max(size.depth, level);
      return value.value.values.map((item) => anyValueOf(item, level + 1, size));
    case 'kvlistValue': {
      size.depth = Math.max(size.depth, level);
      const entries = value.value.values.map(
        ({ key, value: item }): Entry => [measured(key, size), anyValueOf(item, level + 1, size)],
      );
      return objectOf(entries);
    }
    default:
      return null;
  }
}

function measured(text: string, size: Size): string {
  const bytes = text.length * UTF8_BYTES_PER_UNIT_MAX;
  if (bytes > size.bytes) size.bytes = bytes;
  return text;
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
