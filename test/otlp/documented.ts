/** What clients send whose packages npm has not, written from their sources, which each file of `documented` names. */

import { readdirSync, readFileSync } from 'node:fs';
import { hex } from '../support/fixtures.ts';
import { attributes, type ExportInit, id, type Value } from './sending.ts';
import type { LogsInit } from './sending-logs.ts';

/** A value `{"$json": …}` is sent as the JSON text of that member. */
type Said = { readonly [key: string]: Value };

type DocumentedSpan = {
  readonly name: string;
  /** The place of the parent in the list. */
  readonly parent?: number;
  readonly attributes: Said;
  readonly events?: readonly (readonly [name: string, attributes: Said])[];
  readonly status?: readonly [code: number, message: string];
};

type DocumentedRecord = {
  /** The place of the span that the record names. */
  readonly span?: number;
  readonly eventName?: string;
  readonly body?: Value;
  readonly attributes: Said;
};

type Documented = {
  /** Repository, version and files. */
  readonly source: string;
  readonly resource?: Said;
  readonly scope: { readonly name: string; readonly version: string };
  readonly spans: readonly DocumentedSpan[];
  readonly logs?: readonly DocumentedRecord[];
};

const FOLDER = new URL('./documented/', import.meta.url);
const START_NANO = 1_795_000_000_000_000_000n;
const SECOND_NANO = 1_000_000_000n;

export const DOCUMENTED: readonly string[] = readdirSync(FOLDER)
  .filter((file) => !file.endsWith('-logs.json'))
  .map((file) => file.replace('.json', ''));

/** Span n begins n seconds after the first and takes a second. */
export function requestsOf(client: string): { readonly spans: ExportInit; readonly logs: LogsInit | undefined } {
  const { resource = {}, scope, spans, logs } = read(client);
  const traceId = id(hex(32));
  const ids = spans.map(() => id(hex(16)));
  const sent = spans.map(({ name, parent, status: [code, message] = [0, ''], ...span }, index) => {
    const startTimeUnixNano = START_NANO + BigInt(index) * SECOND_NANO;
    const events = (span.events ?? []).map(([event, said]) => ({
      name: event,
      timeUnixNano: startTimeUnixNano,
      attributes: sayings(said),
    }));
    return {
      traceId,
      spanId: ids[index] ?? id(''),
      parentSpanId: parent === undefined ? id('') : (ids[parent] ?? id('')),
      name,
      startTimeUnixNano,
      endTimeUnixNano: startTimeUnixNano + SECOND_NANO,
      attributes: sayings(span.attributes),
      events,
      status: { code, message },
    };
  });
  const records = logs?.map(({ span, eventName = '', body = '', ...record }, index) => ({
    ...(span === undefined ? {} : { traceId, spanId: ids[span] ?? id('') }),
    timeUnixNano: START_NANO + BigInt(spans.length + index) * SECOND_NANO,
    eventName,
    body: attributes({ body })[0]?.value ?? {},
    attributes: sayings(record.attributes),
  }));
  const about = { attributes: sayings(resource) };
  return {
    spans: { resourceSpans: [{ resource: about, scopeSpans: [{ scope, spans: sent }] }] },
    logs: records && { resourceLogs: [{ resource: about, scopeLogs: [{ scope, logRecords: records }] }] },
  };
}

function read(client: string): Documented {
  const text = readFileSync(new URL(`${client}.json`, FOLDER), 'utf8');
  return JSON.parse(text, (_, value) =>
    typeof value === 'object' && value !== null && '$json' in value ? JSON.stringify(value.$json) : value,
  ) as Documented;
}

function sayings(said: Said) {
  return attributes(Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null)));
}
