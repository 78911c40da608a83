/** The rows of a batch, from the values of the domain and back. */

import type {
  SpanRequests,
  StoredSpan,
  StoredTraceState,
  TraceKey,
  WholeSpan,
} from '../../domain/events/append-tables.ts';
import type { Evaluation, Span, SpanSummary, TraceRecord } from '../../domain/traces/trace.ts';
import { summaryOf } from '../../domain/traces/trace-totals.ts';
import type { Found } from './reader.ts';

export type TraceRow = TraceRecord & { readonly projectNumber: number; readonly durationMs: number | null };
export type PartKey = { readonly projectNumber: number; readonly traceSequence: number };
export type SpanRow = Span &
  PartKey & { readonly durationMs: number; readonly firstTokenMs: number | null } & SpanRequests;
export type EvaluationRow = Evaluation & PartKey;
export type UsageNodeRow = PartKey & { readonly spanId: string; readonly nodeJson: string };
export const NO_REQUESTS: SpanRequests = Object.freeze({ emittedRequestId: null, sharedRequestId: null });

// Spreads stand first in these literals: elsewhere they take several times as long.

export function toTraceRow({ projectNumber, traceId, sequence }: TraceKey, trace: StoredTraceState): TraceRow {
  const { startedAtMs, finishedAtMs } = trace.totals;
  return {
    ...trace.totals,
    projectNumber,
    traceId,
    sequence,
    durationMs: startedAtMs === null || finishedAtMs === null ? null : finishedAtMs - startedAtMs,
    insertedAtMs: trace.insertedAtMs,
    updatedAtMs: trace.updatedAtMs,
    metadataJson: trace.metadataJson,
    expectedOutput: trace.expectedOutput,
    aggregatesJson: trace.aggregatesJson,
  };
}

export function toSpanRow({ projectNumber, sequence }: TraceKey, span: Span, requests: SpanRequests): SpanRow {
  const { startedAtMs, finishedAtMs, firstTokenAtMs } = span;
  return {
    ...span,
    projectNumber,
    traceSequence: sequence,
    durationMs: finishedAtMs - startedAtMs,
    firstTokenMs: firstTokenAtMs === null ? null : firstTokenAtMs - startedAtMs,
    emittedRequestId: requests.emittedRequestId,
    sharedRequestId: requests.sharedRequestId,
  };
}

type WholeRow = Span & PartKey & SpanRequests;

/** Drops the columns that are computed when a span is stored. */
export function toWholeSpan({
  projectNumber: _,
  traceSequence: __,
  emittedRequestId,
  sharedRequestId,
  ...span
}: WholeRow): WholeSpan {
  return { span, emittedRequestId, sharedRequestId };
}

export function toCounted(row: SpanRow): SpanSummary & { readonly traceSequence: number } {
  return { ...summaryOf(row), traceSequence: row.traceSequence };
}

export function toStoredSpan(found: Found<'findSpan'>): StoredSpan {
  const { projectNumber: _, traceSequence: __, paramsJson, emittedRequestId, sharedRequestId, ...summary } = found;
  return { summary, paramsJson, emittedRequestId, sharedRequestId };
}

export function toPartKey({ projectNumber, sequence }: TraceKey): PartKey {
  return { projectNumber, traceSequence: sequence };
}
