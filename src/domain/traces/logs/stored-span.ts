/** Makes the OpenTelemetry span again of which a stored span was made. */

import { isArray, isObject, parseFreeJson } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import {
  type Attributes,
  type OtlpEvent,
  type OtlpLink,
  type OtlpSpan,
  SPAN_KINDS,
  STATUS_CODES,
} from '../otlp/span.ts';
import type { Span } from '../trace.ts';

const NANO_PER_MS = 1_000_000n;

/** null: the span was not sent as one of OpenTelemetry. */
export function toOtlpSpan(traceId: string, span: Span): OtlpSpan | null {
  const telemetry = span.telemetryJson === null ? null : parseFreeJson(span.telemetryJson);
  if (!isObject(telemetry ?? undefined)) return null;
  const { attributes, resource_attributes, scope, kind, status, events, links } = telemetry as LosslessObject;
  const code = memberText(status, 'code');
  return {
    traceId,
    spanId: span.spanId,
    parentId: span.parentId ?? undefined,
    name: span.name ?? '',
    kind: Math.max(0, SPAN_KINDS.indexOf(String(kind) as (typeof SPAN_KINDS)[number])),
    startNano: nanoOf(span.startedAtMs, span.startedNs),
    endNano: nanoOf(span.finishedAtMs, span.finishedNs),
    attributes: toAttributes(attributes),
    events: listOf(events).map(toOtlpEvent),
    links: listOf(links).map(toLink),
    status: {
      code: Math.max(0, STATUS_CODES.indexOf(code as (typeof STATUS_CODES)[number])),
      message: memberText(status, 'message'),
    },
    scope: { name: memberText(scope, 'name'), version: memberText(scope, 'version') },
    resource: toAttributes(resource_attributes),
  };
}

export function toOtlpEvent(event: LosslessJson): OtlpEvent {
  return {
    name: memberText(event, 'name'),
    timeNano: BigInt(memberText(event, 'time_unix_nano') || '0'),
    attributes: toAttributes(isObject(event) ? event.attributes : undefined),
  };
}

function toLink(link: LosslessJson): OtlpLink {
  return {
    traceId: memberText(link, 'trace_id'),
    spanId: memberText(link, 'span_id'),
    traceState: memberText(link, 'trace_state'),
    attributes: toAttributes(isObject(link) ? link.attributes : undefined),
  };
}

function nanoOf(atMs: number, beyond: number | null): bigint {
  return BigInt(atMs) * NANO_PER_MS + BigInt(beyond ?? 0);
}

function toAttributes(sent: LosslessJson | undefined): Attributes {
  return new Map(isObject(sent) ? Object.entries(sent) : []);
}

function listOf(sent: LosslessJson | undefined): readonly LosslessJson[] {
  return isArray(sent) ? sent : [];
}

function memberText(of: LosslessJson | undefined, name: string): string {
  const value = isObject(of) ? of[name] : undefined;
  return typeof value === 'string' ? value : '';
}
