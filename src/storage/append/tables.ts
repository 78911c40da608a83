/**
 * The rows that an append reads and writes, as one transaction shows them. Applying an append is the same for every
 * driver and never waits; each driver gives it these tables in its own way.
 */

import type { RequestState } from '../../domain/request-state.ts';
import type { Evaluation, Span, SpanSummary, SpanType, TraceRecord, TraceTotals } from '../../domain/trace.ts';

export type AppendTables = {
  findTrace(projectNumber: number, traceId: string): TraceRecord | undefined;
  /** Answers the place of the new trace. */
  insertTrace(trace: NewTrace): TracePlace;
  updateTrace(place: TracePlace, state: TraceState): void;
  /** From now on nothing of the trace can be found, and its id is free. */
  eraseTrace(place: TracePlace): void;
  /** False, and nothing is stored, when the trace has such a span. */
  insertSpan(place: TracePlace, span: Span): boolean;
  /** `emittedRequestId` is kept only where it does not follow from the span. */
  replaceSpan(place: TracePlace, span: Span, emittedRequestId: string | null): void;
  /** Of a span that is stored. */
  findSpanEvent(place: TracePlace, spanId: string): SpanEvent | undefined;
  /** Of every span of the trace, in any order. */
  summaries(place: TracePlace): readonly SpanSummary[];
  storeEvaluation(place: TracePlace, evaluation: Evaluation): void;
  /** The requests and the log of an organization. */
  log(organizationNumber: number): LogTables;
};

export type LogTables = {
  /** The furthest of the keys, counted from 0, under which any request of the organization was ever kept. */
  lastKeyIndex: number;
  findRequest(key: string): RequestRow | undefined;
  /** Stores the request together with the event of its outcome. False, and nothing is stored, when the key is taken. */
  insertRequest(key: string, request: NewRequest, event: () => NewEvent): boolean;
  /** Gives a stored request its outcome, with the event of it. */
  completeRequest(key: string, outcome: RequestOutcome, event: () => NewEvent): void;
};

/** Where the spans of a trace are kept. */
export type TracePlace = { readonly projectNumber: number; readonly traceId: string; readonly sequence: number };

/** What appends change in a trace. */
export type TraceState = {
  readonly totals: TraceTotals;
  readonly metadataJson: string;
  readonly expectedOutput: string | null;
  readonly updatedAtMs: number;
};

export type NewTrace = TraceState & {
  readonly projectNumber: number;
  readonly traceId: string;
  readonly insertedAtMs: number;
};

export type SpanEvent = {
  readonly type: SpanType;
  readonly paramsJson: string | null;
  /** Null when nothing was emitted, or when the id follows from the stored span. */
  readonly emittedRequestId: string | null;
};

export type RequestRow = {
  readonly projectNumber: number;
  /** Null: the key is the id. */
  readonly gatewayRequestId: string | null;
  readonly state: RequestState;
};

export type RequestOutcome = {
  readonly state: Extract<RequestState, { source: unknown }>;
  readonly costNanoUsd: number | null;
  readonly receivedAtMs: number;
};

export type NewRequest = RequestOutcome & {
  readonly projectNumber: number;
  readonly gatewayRequestId: string | null;
};

export type NewEvent = {
  readonly id: string;
  readonly type: 'gateway.request.completed';
  /** Compact JSON text of the data. */
  readonly dataJson: string;
};
