/** Traces whose number and version say everything that they have. */

import type { TraceAppend } from '../../src/domain/traces/trace.ts';
import { RECEIVED_AT_MS, sampleAppend, sampleSpan } from '../storage/conformance/samples.ts';

export function numberedTraceId(number: number): string {
  return number.toString(16).padStart(32, '0');
}

export function inputOf(number: number, version: number): string {
  return JSON.stringify({ type: 'text', value: `${number} ${version} ${'word 😀 '.repeat(200)}` });
}

/** `order` grows with every append. */
export function numberedAppend(number: number, version: number, order: number): TraceAppend {
  const span = sampleSpan({
    spanId: number.toString(16).padStart(16, '0'),
    inputJson: inputOf(number, version),
    outputJson: inputOf(-number, version),
  });
  const receivedAtMs = RECEIVED_AT_MS + order;
  return sampleAppend({ traceId: numberedTraceId(number), spans: [span], requests: [], receivedAtMs });
}
