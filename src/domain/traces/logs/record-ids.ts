/** Ids of spans and traces that are made of log records without a trace: the same for a record that is sent again. */

import { hash } from 'node:crypto';
import { canonicalJson } from '../../../json/canonical-json.ts';
import { scalarText } from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { isBlank } from '../collector/collector-json.ts';
import type { OtlpRecord } from '../otlp/log-record.ts';
import { THREAD_KEYS } from '../otlp/metadata-table.ts';

const [TRACE_ID_DIGITS, SPAN_ID_DIGITS] = [32, 16] as const;
const NANO_PER_MS = 1_000_000n;
const NANO_PER_DAY = 86_400_000_000_000n;

export type CallIds = { readonly traceId: string; readonly spanId: string };

/** Calls of one session on one UTC day share a trace; a call of no session has a trace of its own. */
export function idsOfCall(record: OtlpRecord, name: string, projectId: string): CallIds {
  return idsOf(record, { projectId, identity: toldOf(record) ?? contentOf(record, name) });
}

/** Those of the call that a record repeats; undefined: it repeats none. */
export function idsOfTold(record: OtlpRecord, name: string, projectId: string): CallIds | undefined {
  const identity = name.startsWith('gen_ai.') ? toldOf(record) : undefined;
  return identity === undefined ? undefined : idsOf(record, { projectId, identity });
}

type Identified = { readonly projectId: string; readonly identity: readonly LosslessJson[] };

function idsOf(record: OtlpRecord, { projectId, identity }: Identified): CallIds {
  const session = sessionOf(record);
  const spanId = digestOf([projectId, session, ...identity], SPAN_ID_DIGITS);
  return { traceId: digestOf([projectId, session ?? spanId, dayOf(record)], TRACE_ID_DIGITS), spanId };
}

function dayOf({ timeNano, attributes }: OtlpRecord): string {
  const told = attributes.get('event.timestamp');
  const ms = typeof told === 'string' ? Date.parse(told) : Number.NaN;
  return String((ms > 0 ? BigInt(ms) * NANO_PER_MS : timeNano) / NANO_PER_DAY);
}

/** A digest that identifies a record by its content. */
export function digestOfRecord(record: OtlpRecord, name: string): string {
  return digestOf(contentOf(record, name), TRACE_ID_DIGITS);
}

function sessionOf({ attributes, resource }: OtlpRecord): string | null {
  for (const from of [attributes, resource]) {
    for (const key of THREAD_KEYS) {
      const value = from.get(key);
      const text = typeof value === 'string' ? value : scalarText(value);
      if (!isBlank(value) && text !== null) return text;
    }
  }
  return null;
}

/** Gemini CLI tells of each call twice: in a record of its own form and in one of OpenTelemetry's, at the same instant. */
const TOLD_TWICE: readonly (readonly string[])[] = [
  ['event.timestamp', 'model', 'input_token_count', 'output_token_count'],
  ['event.timestamp', 'gen_ai.request.model', 'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'],
];
const TELLS_TWICE = /^(gemini-cli|qwen-code)$/;

function tellsTwice({ scope, resource }: Pick<OtlpRecord, 'scope' | 'resource'>): boolean {
  return [scope.name, resource.get('service.name')].some((name) => typeof name === 'string' && TELLS_TWICE.test(name));
}

/** What both records of a call have; undefined: the record is none of two. */
function toldOf(record: OtlpRecord): readonly LosslessJson[] | undefined {
  if (!tellsTwice(record)) return undefined;
  for (const keys of TOLD_TWICE) {
    const told = keys.map((key) => record.attributes.get(key));
    if (!told.some(isBlank)) return told.map((value) => (typeof value === 'string' ? value : scalarText(value)));
  }
  return undefined;
}

function contentOf({ timeNano, body, attributes }: OtlpRecord, name: string): readonly LosslessJson[] {
  return [name, String(timeNano), body, Object.fromEntries(attributes)];
}

function digestOf(parts: readonly LosslessJson[], digits: number): string {
  return hash('sha256', canonicalJson(parts), 'hex').slice(0, digits);
}
