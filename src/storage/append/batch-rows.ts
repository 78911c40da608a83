/** The rows of a batch, from the values of the domain and back. */

import type { SpanRequests, StoredSpan, TraceKey } from '../../domain/events/append-tables.ts';
import type { Evaluation, Span, SpanSummary, TraceHead, TraceState, TraceTotals } from '../../domain/traces/trace.ts';
import { summaryOf } from '../../domain/traces/trace-totals.ts';
import type { Found } from './reader.ts';

/** A row to be written, and whether its key is new. */
export type Entry<Row> = { readonly row: Row; readonly isNew: boolean };

/** The columns of the texts of a trace; see trace-texts.ts. */
export type TextColumns = {
  readonly metadataJson: string;
  readonly metadataBytes: number | null;
  readonly expectedOutput: string | null;
  /** Null: it does not. */
  readonly expectedOutputIsApart: boolean | null;
};

export type TraceRow = TraceHead & TextColumns & { readonly projectNumber: number; readonly durationMs: number | null };
export type PartKey = { readonly projectNumber: number; readonly traceSequence: number };
export type SpanRow = Span &
  PartKey & {
    readonly durationMs: number;
    readonly firstTokenMs: number | null;
    readonly version: number | null;
  } & SpanRequests;
export type EvaluationRow = Evaluation & PartKey;
export type UsageNodeRow = PartKey & { readonly spanId: string; readonly nodeJson: string };

// Spreads stand first in these literals: elsewhere they take several times as long.

export function toTraceRow(
  { projectNumber, traceId, sequence }: TraceKey,
  trace: TraceState & TraceTotals,
  texts: TextColumns,
): TraceRow {
  const { startedAtMs, finishedAtMs } = trace;
  return {
    ...trace,
    projectNumber,
    traceId,
    sequence,
    durationMs: startedAtMs === null || finishedAtMs === null ? null : finishedAtMs - startedAtMs,
    metadataJson: texts.metadataJson,
    metadataBytes: texts.metadataBytes,
    expectedOutput: texts.expectedOutput,
    expectedOutputIsApart: texts.expectedOutputIsApart,
  };
}

export function toSpanRow(
  { projectNumber, sequence }: TraceKey,
  span: Span,
  { requests, version }: { readonly requests: SpanRequests; readonly version: number | null },
): SpanRow {
  const { startedAtMs, finishedAtMs, firstTokenAtMs } = span;
  return {
    ...span,
    projectNumber,
    traceSequence: sequence,
    durationMs: finishedAtMs - startedAtMs,
    firstTokenMs: firstTokenAtMs === null ? null : firstTokenAtMs - startedAtMs,
    emittedRequestId: requests.emittedRequestId,
    sharedRequestId: requests.sharedRequestId,
    version,
  };
}

export function toCounted(row: SpanRow): SpanSummary & { readonly traceSequence: number } {
  return { ...summaryOf(row), traceSequence: row.traceSequence };
}

export function toStoredSpan(found: Found<'findSpan'>): StoredSpan {
  const { projectNumber: _, traceSequence: __, version: ___, ownBytes: ____, paramsJson, ...rest } = found;
  const { emittedRequestId, sharedRequestId, ...summary } = rest;
  return { summary, paramsJson, emittedRequestId, sharedRequestId };
}

export function toPartKey({ projectNumber, sequence }: TraceKey): PartKey {
  return { projectNumber, traceSequence: sequence };
}

export function mapKey(projectNumber: number, traceId: string): string {
  return `${projectNumber} ${traceId}`;
}

/** The key of a part of a trace: a span, an evaluation, a job or a text. */
export function partKey({ projectNumber, sequence }: TraceKey, id: string): string {
  return `${projectNumber} ${sequence} ${id}`;
}
