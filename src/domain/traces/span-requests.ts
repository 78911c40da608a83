/** The requests of calls, inside the transaction that stores their spans: each call makes one, or shares that of its pair. */

import { isObject } from '../../json/free-json.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';
import type { AppendTables, OrganizationLog, SpanRequests, StoredSpan, TraceKey } from '../events/append-tables.ts';
import type { EventMetadata } from '../events/event-metadata.ts';
import type { RequestContent, RequestUsage } from '../events/request-content.ts';
import { contentOf } from '../events/request-data.ts';
import { gatewayRequestId } from '../events/request-event.ts';
import { correctRequest, findRequest, type RequestUpdate, recordRequest } from '../events/request-record.ts';
import type { RequestResult } from '../events/request-report.ts';
import { isCall } from './calls.ts';
import type { TraceCall, TraceCalls } from './shares/trace-calls.ts';
import type { Span, SpanRequest, SpanSummary, SummedName, TraceAppend } from './trace.ts';

/** The project of a trace. */
export type RequestOwner = Pick<TraceAppend, 'projectId' | 'projectNumber' | 'organizationId' | 'organizationNumber'>;

export type CallContext = {
  readonly tables: AppendTables;
  readonly traceKey: TraceKey;
  readonly append: TraceAppend;
  /** The merged metadata in the form of events. */
  readonly metadata: () => EventMetadata;
  readonly calls: TraceCalls;
  /** The requests of the spans of the append that were stored before, by span id. */
  readonly known: ReadonlyMap<string, KnownRequests>;
  /** The requests of the append, by span id. */
  readonly requests: ReadonlyMap<string, SpanRequest>;
};

/** The requests of a stored span. */
export type KnownRequests = {
  /** That of the event which the span emitted; null without. */
  readonly ownId: string | null;
  readonly sharedId: string | null;
};

const NONE_KNOWN: KnownRequests = { ownId: null, sharedId: null };

type Reported = { readonly request: SpanRequest; readonly span: Span };

/** Null: the call makes no request of its own. */
export function recordCall(context: CallContext, reported: Reported): RequestResult | null {
  const call = context.calls.get(reported.span.spanId);
  const known = context.known.get(reported.span.spanId) ?? NONE_KNOWN;
  switch (call?.role) {
    case 'container':
      return null;
    case 'outer':
      return recordOuter(context, reported, { call, known });
    case 'inner':
      return recordInner(context, reported, { call, known });
    default:
      return recordOwn(context, reported, known);
  }
}

/** A call that counts for itself. */
function recordOwn(context: CallContext, { request, span }: Reported, known: KnownRequests): RequestResult | null {
  // Its pair has ended: once the trace has settled, the call makes a request.
  if (known.sharedId !== null && known.ownId === null) return null;
  if (known.sharedId !== null) keepRequests(context, span, { sharedRequestId: null });
  return record(context, { request, span }, { requestId: known.ownId, costNanoUsd: span.costNanoUsd });
}

type Role = { readonly call: TraceCall; readonly known: KnownRequests };

function recordOuter(context: CallContext, reported: Reported, { call, known }: Role): RequestResult | null {
  const { span } = reported;
  const inner = call.otherId === null ? null : requestOfOther(context, call.otherId);
  // The inner span is stored without a request.
  if (inner === null) return record(context, reported, { requestId: known.ownId, costNanoUsd: call.costNanoUsd });
  // Two requests of one call are corrected once the trace has settled.
  if (known.ownId !== null && known.ownId !== inner.id) return null;
  if (known.ownId === null) keepRequests(context, span, { sharedRequestId: inner.id });
  if (!inner.isNew) correctCost(context, inner.id, context.calls.get(call.otherId ?? '')?.costNanoUsd ?? null);
  return 'duplicate';
}

function recordInner(context: CallContext, reported: Reported, { call, known }: Role): RequestResult {
  const { costNanoUsd } = call;
  if (known.ownId !== null) return record(context, reported, { requestId: known.ownId, costNanoUsd });
  const outer = call.otherId === null ? null : requestOfOther(context, call.otherId);
  const sharedId = known.sharedId ?? (outer === null || outer.isNew ? null : outer.id);
  if (sharedId === null) return record(context, reported, { requestId: null, costNanoUsd });
  keepRequests(context, reported.span, { sharedRequestId: sharedId });
  return record(context, reported, { requestId: sharedId, costNanoUsd, comparesSpending: known.sharedId === null });
}

type Recorded = {
  /** That of an earlier event; null: the request is new. */
  readonly requestId: string | null;
  readonly costNanoUsd: number | null;
  readonly comparesSpending?: boolean;
};

function record(context: CallContext, { request, span }: Reported, recorded: Recorded): RequestResult {
  const { append, tables, metadata } = context;
  const { requestId, costNanoUsd, comparesSpending = false } = recorded;
  const hasError = span.errorJson !== null;
  const update: RequestUpdate = {
    ...ownerOf(append),
    receivedAtMs: append.receivedAtMs,
    // A span that is sent again may name another request, but it is still the same call.
    gatewayRequestId: requestId ?? request.gatewayRequestId,
    signal: {
      status: hasError ? 'error' : 'success',
      source: requestId === null ? 'span' : 'resent_span',
    },
    content: () => contentOfSpan({ traceId: append.traceId, span, hasError, request, metadata: metadata() }),
    cost: costOf(span, costNanoUsd, request.rateVersion),
    price: null,
    comparesSpending,
  };
  return recordRequest(tables.log(append.organizationNumber), update);
}

function costOf(span: Span, costNanoUsd: number | null, rateVersion: string | null): RequestUpdate['cost'] {
  if (costNanoUsd === null) return null;
  return { nanoUsd: costNanoUsd, rateVersion: costNanoUsd === span.costNanoUsd ? rateVersion : null };
}

function ownerOf({ projectId, projectNumber, organizationId }: RequestOwner) {
  return { projectId, projectNumber, organizationId };
}

function keepRequests(
  { tables, traceKey }: CallContext,
  span: Span,
  changed: Pick<SpanRequests, 'sharedRequestId'>,
): void {
  const { emittedRequestId = null } = tables.findSpan(traceKey, span.spanId) ?? {};
  tables.replaceSpan(traceKey, span, { emittedRequestId, ...changed });
}

/** The request in which the other span of a pair is counted, and whether this append makes it; null without. */
function requestOfOther(context: CallContext, spanId: string): { readonly id: string; readonly isNew: boolean } | null {
  const { tables, traceKey, append, requests, known } = context;
  const { ownId, sharedId } = known.get(spanId) ?? NONE_KNOWN;
  if (ownId !== null || sharedId !== null) return { id: ownId ?? sharedId ?? '', isNew: false };
  const request = requests.get(spanId);
  if (request !== undefined) return { id: request.gatewayRequestId, isNew: true };
  const stored = tables.findSpan(traceKey, spanId);
  if (stored === undefined) return null;
  const id = findOwnId(tables, { owner: append, traceId: append.traceId }, stored) ?? stored.sharedRequestId;
  return id === null ? null : { id, isNew: false };
}

/** A pair counts with the cost that either span knows. */
function correctCost({ tables, append }: CallContext, gatewayRequestId: string, costNanoUsd: number | null): void {
  const request = { ...ownerOf(append), receivedAtMs: append.receivedAtMs, gatewayRequestId };
  correctRequest(tables.log(append.organizationNumber), request, (emitted) => ({
    content: contentOf(emitted),
    cost: costNanoUsd === null ? null : { nanoUsd: costNanoUsd, rateVersion: null },
  }));
}

type OfTrace = { readonly owner: RequestOwner; readonly traceId: string };

/** The request id of the event that a stored span emitted; null when it emitted none. */
export function findOwnId(tables: AppendTables, { owner, traceId }: OfTrace, stored: StoredSpan): string | null {
  const { summary, paramsJson, emittedRequestId } = stored;
  const id = emittedRequestId ?? requestIdOfStored(traceId, { ...summary, paramsJson });
  if (id === null) return null;
  // The project may have emitted no events when the span first came.
  return hasOutcome(tables.log(owner.organizationNumber), owner, id) ? id : null;
}

function hasOutcome(
  log: OrganizationLog,
  { projectId, projectNumber }: RequestOwner,
  gatewayRequestId: string,
): boolean {
  const row = findRequest(log, { projectId, projectNumber, gatewayRequestId });
  return row !== undefined && 'source' in row.state;
}

/** The member of parameters that names a request. */
export const REQUEST_ID_MEMBER = '"gateway_request_id"';

type StoredCall = Pick<SpanSummary, 'spanId' | 'type' | 'model' | 'callRow'> & Pick<Span, 'paramsJson'>;

/** Whether parameters, which can be large, may have to be read for the request id of a span. */
export function namesRequest({ paramsJson }: Pick<Span, 'paramsJson'>): boolean {
  return paramsJson?.includes(REQUEST_ID_MEMBER) === true;
}

/** The request id of a stored span; null when it is not a call. */
export function requestIdOfStored(traceId: string, { paramsJson, ...span }: StoredCall): string | null {
  // Earlier versions made a request of every span of this type.
  if (!isCall(span) && !(span.callRow === null && span.type === 'llm')) return null;
  const params: LosslessJson = paramsJson !== null && namesRequest({ paramsJson }) ? JSON.parse(paramsJson) : null;
  return gatewayRequestId(traceId, span.spanId, isObject(params) ? params : null);
}

type SpanReport = {
  readonly traceId: string;
  readonly span: Pick<Span, 'startedAtMs' | 'finishedAtMs' | 'model' | Exclude<SummedName, 'costNanoUsd'>>;
  readonly hasError: boolean;
  readonly request: Omit<SpanRequest, 'spanIndex' | 'gatewayRequestId' | 'rateVersion'>;
  readonly metadata: EventMetadata;
};

export function contentOfSpan({ traceId, span, hasError, request, metadata }: SpanReport): RequestContent {
  return {
    occurredAtMs: span.finishedAtMs,
    virtualKeyId: '',
    principalUserId: null,
    endUserId: metadata.userId,
    traceId,
    model: span.model,
    modelProviderId: null,
    requestType: request.requestType,
    usage: usageOf(span),
    error: !hasError ? null : { class: request.errorClass, httpStatus: request.httpStatus },
    durationMs: Math.max(0, span.finishedAtMs - span.startedAtMs),
    labelsJson: metadata.labelsJson,
    metadataJson: metadata.customJson,
  };
}

function usageOf(span: SpanReport['span']): RequestUsage | null {
  const { promptTokens, completionTokens, reasoningTokens, cacheReadInputTokens, cacheCreationInputTokens } = span;
  const cached = cacheReadInputTokens ?? cacheCreationInputTokens;
  if ((promptTokens ?? completionTokens ?? reasoningTokens ?? cached) === null) return null;
  return {
    inputTokens: promptTokens ?? 0,
    outputTokens: completionTokens ?? 0,
    cacheReadInputTokens: cacheReadInputTokens ?? 0,
    cacheCreationInputTokens: cacheCreationInputTokens ?? 0,
    reasoningTokens: reasoningTokens ?? 0,
  };
}
