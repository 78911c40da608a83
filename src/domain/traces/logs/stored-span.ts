/** Makes the OpenTelemetry span again of which a stored span was made; of any other span, one that holds only its events. */

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

type ReadSpan = {
  readonly span: OtlpSpan;
  /** False for a span of the collector. */
  readonly isOfOpenTelemetry: boolean;
};

const NO_TELEMETRY: LosslessObject = {};

export function toOtlpSpan(traceId: string, span: Span): ReadSpan {
  const telemetry = telemetryOf(span);
  // Every span of OpenTelemetry has a kind.
  return { span: otlpSpanOf(traceId, span, telemetry), isOfOpenTelemetry: telemetry.kind !== undefined };
}

function telemetryOf({ telemetryJson }: Span): LosslessObject {
  const telemetry = telemetryJson === null ? undefined : parseFreeJson(telemetryJson);
  return isObject(telemetry) ? telemetry : NO_TELEMETRY;
}

function otlpSpanOf(traceId: string, span: Span, telemetry: LosslessObject): OtlpSpan {
  const { attributes, resource_attributes, scope, kind, status, events, links } = telemetry;
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
