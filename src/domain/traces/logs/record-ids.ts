/** Ids of spans and traces that are made of log records without a trace: the same for a record that is sent again. */

import { hash } from 'node:crypto';
import { canonicalJson } from '../../../json/canonical-json.ts';
import { scalarText } from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { isBlank } from '../collector/collector-json.ts';
import type { OtlpRecord } from '../otlp/log-record.ts';
import { THREAD_KEYS } from '../otlp/metadata-table.ts';

const [TRACE_ID_DIGITS, SPAN_ID_DIGITS] = [32, 16] as const;
const NANO_PER_DAY = 86_400_000_000_000n;

export type CallIds = { readonly traceId: string; readonly spanId: string };

/** Calls of one session on one UTC day share a trace; a call of no session has a trace of its own. */
export function idsOfCall(record: OtlpRecord, name: string, projectId: string): CallIds {
  const session = sessionOf(record);
  const spanId = digestOf([projectId, session, ...identityOf(record, name)], SPAN_ID_DIGITS);
  const day = String(record.timeNano / NANO_PER_DAY);
  return { traceId: digestOf([projectId, session ?? spanId, day], TRACE_ID_DIGITS), spanId };
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

/** Whether the record is OpenTelemetry's form of a call that another record tells of. */
export function repeatsCall({ scope, resource }: OtlpRecord, name: string): boolean {
  return tellsTwice({ scope, resource }) && name.startsWith('gen_ai.');
}

function tellsTwice({ scope, resource }: Pick<OtlpRecord, 'scope' | 'resource'>): boolean {
  return [scope.name, resource.get('service.name')].some((name) => typeof name === 'string' && TELLS_TWICE.test(name));
}

function identityOf(record: OtlpRecord, name: string): readonly LosslessJson[] {
  if (tellsTwice(record)) {
    for (const keys of TOLD_TWICE) {
      const told = keys.map((key) => record.attributes.get(key) ?? null);
      if (!told.includes(null)) return told.map((value) => (typeof value === 'string' ? value : scalarText(value)));
    }
  }
  return contentOf(record, name);
}

function contentOf({ timeNano, body, attributes }: OtlpRecord, name: string): readonly LosslessJson[] {
  return [name, String(timeNano), body, Object.fromEntries(attributes)];
}

function digestOf(parts: readonly LosslessJson[], digits: number): string {
  return hash('sha256', canonicalJson(parts), 'hex').slice(0, digits);
}
