/** The events and links of a span that came by OpenTelemetry, and the prompt that it names. */

import type { TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { parseExactly, writeExactly } from './exact-json.ts';

type SpanEvent = { readonly name: string; readonly atMs: number; readonly attributesJson: string | null };
type SpanLink = { readonly traceId: string; readonly spanId: string; readonly attributesJson: string | null };
export type Telemetry = { readonly events: readonly SpanEvent[]; readonly links: readonly SpanLink[] };

const NOTHING: Telemetry = { events: [], links: [] };
const known = new WeakMap<TraceSpan, Telemetry>();

/** Rows ask again with every frame, and only few spans have events. */
export function telemetryOf(span: TraceSpan): Telemetry {
  const json = span.telemetryJson;
  if (json === undefined || !/"(?:events|links)":\s*\[\s*\{/.test(json)) return NOTHING;
  const before = known.get(span);
  if (before) return before;
  const read = readTelemetry(json);
  known.set(span, read);
  return read;
}

function readTelemetry(json: string): Telemetry {
  const sent: unknown = parseExactly(json);
  return {
    events: membersOf(sent, 'events').map((event) => ({
      name: textOf(event.name),
      atMs: Number(textOf(event.time_unix_nano).slice(0, -6)),
      attributesJson: attributesOf(event),
    })),
    links: membersOf(sent, 'links').map((link) => ({
      traceId: textOf(link.trace_id),
      spanId: textOf(link.span_id),
      attributesJson: attributesOf(link),
    })),
  };
}

/** The version of a prompt that a span names, as "<prompt>:<version>"; null: it names none. */
export function promptOf({ telemetryJson, paramsJson }: TraceSpan): string | null {
  const json = [telemetryJson, paramsJson].find((each) => each?.includes('"langwatch.prompt.'));
  if (json === undefined) return null;
  const sent: unknown = JSON.parse(json);
  const said = (json === telemetryJson ? (sent as Sent).attributes : sent) as Sent | null | undefined;
  const text = (name: string) => {
    const value = said?.[`langwatch.prompt.${name}`];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  const name = text('handle') || text('id');
  const version = text('version.number') || text('version.id');
  return name === '' ? null : [name, ...(version === '' || name.includes(':') ? [] : [version])].join(':');
}

type Sent = { readonly [name: string]: unknown };

function membersOf(sent: unknown, name: string): readonly Sent[] {
  const list = typeof sent === 'object' && sent !== null ? (sent as Sent)[name] : null;
  return Array.isArray(list) ? list.filter((each): each is Sent => typeof each === 'object' && each !== null) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function attributesOf({ attributes }: Sent): string | null {
  const isEmpty = typeof attributes !== 'object' || attributes === null || Object.keys(attributes).length === 0;
  return isEmpty ? null : writeExactly(attributes);
}
