/** Ids of spans and traces that are made of log records without them: the same for a record that is sent again. */

import { hash } from 'node:crypto';
import { canonicalJson } from '../../../json/canonical-json.ts';
import { scalarText } from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { isBlank } from '../collector/collector-json.ts';
import { isAnsweredCall, isFailedCall, tellsOfCall } from '../otlp/conventions/coding-agents.ts';
import type { OtlpRecord } from '../otlp/log-record.ts';
import { THREAD_KEYS } from '../otlp/metadata-table.ts';

const [TRACE_ID_DIGITS, SPAN_ID_DIGITS] = [32, 16] as const;
const NANO_PER_MS = 1_000_000n;
const TIMESTAMP = 'event.timestamp';
const NANO_PER_DAY = 86_400_000_000_000n;

export type CallIds = { readonly traceId: string; readonly spanId: string };

/**
 * Without a trace id, calls of one session on one UTC day share a trace, and a call of no session has a trace of its own.
 */
export function idsOfCall(record: OtlpRecord, name: string, projectId: string): CallIds {
  const facts = isFailedCall(name) ? undefined : factsOfBoth(record);
  return idsOf(record, { projectId, identity: facts ?? contentOf(record, name) });
}

/** The ids of the call that another record has described; undefined: there is no such record. */
export function idsOfRepeated(record: OtlpRecord, name: string, projectId: string): CallIds | undefined {
  const repeats = name.startsWith('gen_ai.') || (tellsOfCall(name) && !isAnsweredCall(name) && !isFailedCall(name));
  const identity = repeats ? factsOfBoth(record) : undefined;
  return identity === undefined ? undefined : idsOf(record, { projectId, identity });
}

type Identified = { readonly projectId: string; readonly identity: readonly LosslessJson[] };

function idsOf(record: OtlpRecord, { projectId, identity }: Identified): CallIds {
  const session = sessionOf(record);
  const spanId = digestOf([projectId, session, ...identity], SPAN_ID_DIGITS);
  const { traceId } = record;
  if (typeof traceId === 'string') return { traceId, spanId };
  return { traceId: digestOf([projectId, session ?? spanId, dayOf(record)], TRACE_ID_DIGITS), spanId };
}

function dayOf(record: OtlpRecord): string {
  return String((timestampNano(record) || record.timeNano) / NANO_PER_DAY);
}

/** The instant in the attributes of a record; 0: there is none. */
export function timestampNano({ attributes }: OtlpRecord): bigint {
  const sent = attributes.get(TIMESTAMP);
  const ms = typeof sent === 'string' ? Date.parse(sent) : Number.NaN;
  return ms > 0 ? BigInt(ms) * NANO_PER_MS : 0n;
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

/**
 * Gemini CLI tells of each call twice: in a record of its own form and in one of OpenTelemetry's, at the same instant.
 * Claude Code has the answer in a record of its own.
 */
const KEYS_OF_BOTH: readonly (readonly string[])[] = [
  ['request_id'],
  [TIMESTAMP, 'model', 'input_token_count', 'output_token_count'],
  [TIMESTAMP, 'gen_ai.request.model', 'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'],
];
const REPORTERS_OF_TWO = /^(gemini-cli|qwen-code|claude-code)$/;

function reportsTwice({ scope, resource }: Pick<OtlpRecord, 'scope' | 'resource'>): boolean {
  return [scope.name, resource.get('service.name')].some(
    (name) => typeof name === 'string' && REPORTERS_OF_TWO.test(name),
  );
}

/** What both records of a call have; undefined: the call has one record. */
function factsOfBoth(record: OtlpRecord): readonly LosslessJson[] | undefined {
  if (!reportsTwice(record)) return undefined;
  for (const keys of KEYS_OF_BOTH) {
    const facts = keys.map((key) => record.attributes.get(key));
    if (!facts.some(isBlank)) return facts.map((value) => (typeof value === 'string' ? value : scalarText(value)));
  }
  return undefined;
}

function contentOf({ timeNano, body, attributes }: OtlpRecord, name: string): readonly LosslessJson[] {
  return [name, String(timeNano), body, Object.fromEntries(attributes)];
}

function digestOf(parts: readonly LosslessJson[], digits: number): string {
  return hash('sha256', canonicalJson(parts), 'hex').slice(0, digits);
}
