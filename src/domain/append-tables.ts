/** The rows that an append reads and writes, as one transaction shows them; storage makes them. */

import type { Watch } from './evaluations/job-append.ts';
import type { EvaluationJob, JobKey, Settle } from './evaluations/jobs.ts';
import type { NewEvent } from './event.ts';
import type { GovernanceEventType, RequestEventType } from './event-type.ts';
import type { ToldFacts } from './request-data.ts';
import type { EventKind } from './request-event.ts';
import type { StoredRequestState } from './request-state.ts';
import type { Evaluation, Span, SpanSummary, TraceRecord, TraceTotals } from './trace.ts';

export type AppendTables = {
  findTrace(projectNumber: number, traceId: string): TraceRecord | undefined;
  /** Answers the place of the new trace. */
  insertTrace(trace: NewTrace): TracePlace;
  updateTrace(place: TracePlace, trace: StoredTraceState): void;
  /** From now on nothing of the trace can be found, and its id is free. */
  eraseTrace(place: TracePlace): void;
  /** False, and nothing is stored, when the trace has such a span. */
  insertSpan(place: TracePlace, span: Span): boolean;
  /** `emittedRequestId` is kept only where it does not follow from the span. */
  replaceSpan(place: TracePlace, span: Span, emittedRequestId: string | null): void;
  hasSpan(place: TracePlace, spanId: string): boolean;
  findSpan(place: TracePlace, spanId: string): StoredSpan | undefined;
  /** With all its texts. */
  findWholeSpan(place: TracePlace, spanId: string): WholeSpan | undefined;
  /** Of every span of the trace, in any order. For traces that are read through. */
  summaries(place: TracePlace): readonly SpanSummary[];
  storeEvaluation(place: TracePlace, evaluation: Evaluation): void;
  /** The monitors of the project that run by themselves. */
  watchOf(projectNumber: number): Watch;
  readonly settle: Settle;
  /** Whether any span of the trace has no parent. */
  hasRoot(place: TracePlace): boolean;
  /** For the job of another trace, which is stored then; what has no room is counted. */
  hasRoomForJob(projectNumber: number): boolean;
  findJob(place: TracePlace, sourceId: string): EvaluationJob | undefined;
  storeJob(job: EvaluationJob): void;
  removeJob(key: JobKey): void;
  /** Requests admitted at or before the instant that still are so, the oldest first. */
  overdueRequests(admittedByMs: number, countMax: number): readonly OverdueRequest[];
  /** What no other append has. */
  newMark(): string;
  /** The requests and the log of an organization. */
  log(organizationNumber: number): LogTables;
};

export type LogTables = {
  /** The furthest of the keys, counted from 0, under which any request of the organization was ever kept. */
  lastKeyIndex: number;
  findRequest(key: string): RequestRow | undefined;
  /** What the newest completed event of a stored request says; undefined when that is not there any more. */
  findEmitted(key: string): ToldFacts | undefined;
  /** Stores the request, with its event when it has one. False, and nothing is stored, when the key is taken. */
  insertRequest(key: string, request: NewRequest, event: MakeEvent | null): boolean;
  /** What became of a stored request, with the event of it. */
  changeRequest(key: string, change: RequestChange, event: MakeEvent): void;
  /** Outside of the log of requests. False, and nothing is stored, when the organization had an event of this id. */
  insertGovernanceEvent(event: NewEvent<GovernanceEventType>): boolean;
};

/** `created` stands for the instant of the event; not every store knows it by then. */
export type MakeEvent = (created: string) => NewEvent<RequestEventType>;

/** Where the spans of a trace are kept. */
export type TracePlace = { readonly projectNumber: number; readonly traceId: string; readonly sequence: number };

/** What appends change in a trace. */
export type TraceState = {
  readonly totals: TraceTotals;
  readonly metadataJson: string;
  readonly expectedOutput: string | null;
  readonly updatedAtMs: number;
  readonly aggregatesJson: string | null;
};

export type StoredTraceState = TraceState & { readonly insertedAtMs: number };

export type NewTrace = StoredTraceState & { readonly projectNumber: number; readonly traceId: string };

export type StoredSpan = {
  readonly summary: SpanSummary;
  readonly paramsJson: string | null;
  /** Null when nothing was emitted, or when the id follows from the stored span. */
  readonly emittedRequestId: string | null;
};

export type WholeSpan = { readonly span: Span; readonly emittedRequestId: string | null };

export type RequestRow = {
  readonly projectNumber: number;
  /** Null: the key is the id. */
  readonly gatewayRequestId: string | null;
  readonly state: StoredRequestState;
  /** The packed admission; null when there was none, or nothing needs it any more. */
  readonly admission: string | null;
  /** How many events have corrected its outcome. */
  readonly corrections: number;
};

/** What becomes of a request. */
type RequestFacts = {
  readonly state: StoredRequestState;
  readonly admissionJson: string | null;
  readonly costNanoUsd: number | null;
};

export type NewRequest = RequestFacts & {
  readonly projectNumber: number;
  readonly gatewayRequestId: string | null;
  readonly receivedAtMs: number;
};

export type RequestChange = RequestFacts & {
  /** Which of its events comes of it. */
  readonly emits: EventKind;
  /** Null: nobody said anything. */
  readonly receivedAtMs: number | null;
};

/** A request that was still waiting for its outcome when it was looked for. */
export type OverdueRequest = { readonly organizationNumber: number; readonly key: string };
