/** The port through which an append reads and writes rows in one transaction of the store. */

import type { BudgetTables } from '../budgets/budget-tables.ts';
import type { ActiveMonitors, EvaluationJob, JobKey, JobQueueOptions } from '../evaluations/jobs.ts';
import type { LeaseKey } from '../gateway/lease-store.ts';
import type { Evaluation, Span, SpanSummary, TraceHead, TraceState, TraceTexts, TraceTotals } from '../traces/trace.ts';
import type { NewEvent } from './event.ts';
import type { GovernanceEventType, RequestEventType } from './event-type.ts';
import type { EmittedData } from './request-data.ts';
import type { EventKind } from './request-event.ts';
import type { StoredRequestState } from './request-state.ts';

export type AppendTables = TelemetryTables &
  LogTables & {
    /** Afterwards no part of the trace can be found, and its id is free. */
    eraseTrace(traceKey: TraceKey): void;
  };

/** Traces and what they consist of. */
export type TelemetryTables = {
  findTrace(projectNumber: number, traceId: string): TraceHead | undefined;
  /** The metadata of a trace that was found; may be large. */
  metadataOf(traceKey: TraceKey): string;
  /** Returns the key of the new trace. */
  insertTrace(trace: NewTrace): TraceKey;
  /** Changes a trace that was found. What is not named stays. */
  updateTrace(traceKey: TraceKey, change: TraceChange): void;
  /** False, and stores nothing, when the trace has this span id. */
  insertSpan(traceKey: TraceKey, span: Span, requests: SpanRequests): boolean;
  replaceSpan(traceKey: TraceKey, span: Span, requests: SpanRequests): void;
  hasSpan(traceKey: TraceKey, spanId: string): boolean;
  findSpan(traceKey: TraceKey, spanId: string): StoredSpan | undefined;
  /** Another number after each change of the span, 0 for a new one; undefined without it. */
  versionOf(traceKey: TraceKey, spanId: string): number | undefined;
  /** What prices depend on beside the summary. */
  findPricing(traceKey: TraceKey, spanId: string): SpanPricing | undefined;
  /** What the kind of a call follows from, beside the summary. */
  findCallTexts(traceKey: TraceKey, spanId: string): CallTexts | undefined;
  /** Changes a stored span and leaves its texts alone, which may be large. */
  changeSpan(traceKey: TraceKey, stored: StoredSpan, change: Partial<SpanChange>): void;
  /** The packed node of a span in a large trace, see shares/usage-node.ts; undefined without. */
  findUsageNode(traceKey: TraceKey, spanId: string): string | undefined;
  storeUsageNode(traceKey: TraceKey, spanId: string, packed: string): void;
  /** All spans of the trace, in any order. Slow for large traces. */
  summaries(traceKey: TraceKey): readonly SpanSummary[];
  storeEvaluation(traceKey: TraceKey, evaluation: Evaluation): void;
  /** Whether any span of the trace has no parent. */
  hasRoot(traceKey: TraceKey): boolean;
  /** A new unique id. */
  newChangeId(): string;
};

/** The work that follows from traces, and the logs of organizations. */
export type LogTables = {
  /** The monitors that run on every new trace. */
  activeMonitorsOf(projectNumber: number): ActiveMonitors;
  readonly jobQueue: JobQueueOptions;
  /** Whether one more job may wait, which the caller then stores. Counts refusals. */
  hasRoomForJob(projectNumber: number): boolean;
  findJob(traceKey: TraceKey, sourceId: string): EvaluationJob | undefined;
  storeJob(job: EvaluationJob): void;
  removeJob(key: JobKey): void;
  /** Requests admitted by the instant that still have no outcome, oldest first. */
  overdueRequests(admittedByMs: number, countMax: number): readonly OverdueRequest[];
  /** What a lease of a budget holds; undefined without it. Locked until the transaction ends. */
  findLease(key: LeaseKey): number | undefined;
  /** Changes what a lease holds that was found. */
  changeLease(key: LeaseKey, nanoUsd: number): void;
  /** The owner of a project; undefined when the project was removed. */
  findOwner(projectNumber: number): ProjectOwner | undefined;
  /** The requests and the log of an organization. */
  log(organizationNumber: number): OrganizationLog;
};

/** What events tell of a project. */
export type ProjectOwner = {
  readonly projectId: string;
  readonly teamId: string;
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly emitRequestEvents: boolean;
};

export type OrganizationLog = {
  readonly budgets: BudgetTables;
  /** The creation instant of its next events in ISO 8601, or what stands for it until the commit. Not to be changed or escaped. */
  readonly created: string;
  /** The largest index, from 0, of the keys under which the organization ever stored a request. */
  lastKeyIndex: number;
  findRequest(key: string): RequestRow | undefined;
  /** The data of the newest completed event of a request; undefined when the event was removed. */
  findEmitted(key: string): EmittedData | undefined;
  /** Stores the request and any event of it. False, and stores nothing, when the key is in use. */
  insertRequest(key: string, request: NewRequest, event: MakeEvent | null): boolean;
  /** Changes a stored request and appends its event. */
  changeRequest(key: string, change: RequestChange, event: MakeEvent): void;
  /** Changes the cost of a stored request and what it counts, and appends no event. */
  changeCost(key: string, change: Pick<RequestFacts, 'costNanoUsd' | 'chargesJson'>): void;
  /** Changes when a stored request was received, from where its grace period counts. */
  renewRequest(key: string, receivedAtMs: number): void;
  /** Not shown in the log. False, and stores nothing, when the organization already had this event id. */
  insertGovernanceEvent(event: NewEvent<GovernanceEventType>): boolean;
};

/** `created` may be a placeholder: not every store knows the instant yet. */
export type MakeEvent = (created: string) => NewEvent<RequestEventType>;

/** The storage key of a trace. */
export type TraceKey = { readonly projectNumber: number; readonly traceId: string; readonly sequence: number };

type NewTrace = TraceState &
  TraceTexts & { readonly projectNumber: number; readonly traceId: string; readonly totals: TraceTotals };

export type TraceChange = Pick<NewTrace, 'updatedAtMs' | 'totals'> & Partial<TraceState & TraceTexts>;

/** The requests of a span that is a call. */
export type SpanRequests = {
  /** Null when there was no event, or when the id follows from the span without its parameters. */
  readonly emittedRequestId: string | null;
  /** The request of the other span of the same call, in which this one is counted; null: it has its own, or none. */
  readonly sharedRequestId: string | null;
};

export type StoredSpan = SpanRequests & {
  readonly summary: SpanSummary;
  /** Null unless the parameters may name the request of the span. */
  readonly paramsJson: string | null;
};

/** What changes of a stored span that is not sent again. */
export type SpanChange = SpanRequests &
  Pick<Span, 'costNanoUsd' | 'costSource' | 'callRow' | 'totalInput' | 'totalOutput' | 'shareRates'>;

export type SpanPricing = Pick<Span, 'vendor' | 'cachedTokensInPrompt' | 'otherMetricsJson'>;

export type CallTexts = {
  /** Null: none, or one that is too large to be read for this. */
  readonly telemetryJson: string | null;
  /** The beginning of the input. */
  readonly inputStart: string | null;
};

export type RequestRow = {
  readonly projectNumber: number;
  /** Null: equals the key. */
  readonly gatewayRequestId: string | null;
  readonly state: StoredRequestState;
  /** The packed admission; null when there was none or no event needs it. */
  readonly admission: string | null;
  /** Corrections emitted so far. */
  readonly corrections: number;
  readonly costNanoUsd: number | null;
  readonly receivedAtMs: number;
  /** What it counts in budgets, packed; null: nothing. */
  readonly charges: string | null;
};

/** The fields that change. */
type RequestFacts = {
  readonly state: StoredRequestState;
  readonly admissionJson: string | null;
  readonly costNanoUsd: number | null;
  readonly chargesJson: string | null;
};

export type NewRequest = RequestFacts & {
  readonly projectNumber: number;
  readonly gatewayRequestId: string | null;
  readonly receivedAtMs: number;
};

export type RequestChange = RequestFacts & {
  /** The event that is appended. */
  readonly emits: EventKind;
  /** Null for a settlement. */
  readonly receivedAtMs: number | null;
};

/** A request that had no outcome when the store searched for it. */
type OverdueRequest = { readonly organizationNumber: number; readonly key: string };
