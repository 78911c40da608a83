/** Validates hex ids by the rules of OpenTelemetry. */

import { type Sent, unreadable } from '../collector/collector-draft.ts';

const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;
const HEX = /^[0-9a-f]*$/;
const ZERO = /^0*$/;

export function toTraceId(hex: string): Sent<string> {
  return toId(hex, TRACE_ID_DIGITS, 'traceId');
}

export function toSpanId(hex: string): Sent<string> {
  return toId(hex, SPAN_ID_DIGITS, 'spanId');
}

/** A root has none. */
export function toParentId(hex: string): Sent<string> {
  return hex === '' ? undefined : toId(hex, SPAN_ID_DIGITS, 'parentSpanId');
}

/** A record may belong to no trace: some exporters write that as an id of zeros. */
export function toRecordTraceId(hex: string): Sent<string> {
  return ZERO.test(hex) ? undefined : toTraceId(hex);
}

export function toRecordSpanId(hex: string): Sent<string> {
  return ZERO.test(hex) ? undefined : toSpanId(hex);
}

function toId(hex: string, digits: number, path: string): Sent<string> {
  const id = hex.toLowerCase();
  if (id.length === digits && HEX.test(id) && !ZERO.test(id)) return id;
  return unreadable(path, `must be ${digits / 2} bytes (in JSON ${digits} hexadecimal digits) that are not all zero`);
}
