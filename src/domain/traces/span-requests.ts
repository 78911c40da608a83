/** The requests of calls, inside the transaction that stores their spans: each call makes one, or shares that of its pair. */

import type { AppendTables, SpanRequests, TraceKey } from '../events/append-tables.ts';
import type { EventMetadata } from '../events/event-metadata.ts';
import type { RequestContent, RequestUsage } from '../events/request-content.ts';
import { contentOf } from '../events/request-data.ts';
import { isOwnRequestId } from '../events/request-event.ts';
import { correctRequest, type RequestUpdate, recordRequest } from '../events/request-record.ts';
import type { RequestResult } from '../events/request-report.ts';
import { findOwnId, type RequestOwner } from './request-ids.ts';
import type { TraceCall, TraceCalls } from './shares/trace-calls.ts';
import type { Span, SpanRequest, SummedName, TraceAppend } from './trace.ts';

export type CallContext = {
  readonly tables: AppendTables;
  readonly traceKey: TraceKey;
  readonly append: TraceAppend;
  /** The merged metadata in the form of events, for the next event. */
  readonly metadata: () => EventMetadata;
  readonly calls: TraceCalls;
  /** The requests of the spans of the append that were stored before, by span id. */
  readonly known: ReadonlyMap<string, KnownRequests>;
  /** The requests of the append, by span id. */
  readonly requests: ReadonlyMap<string, SpanRequest>;
};

/** The requests of a stored span. */
export type KnownRequests = {
  /** That of the event which the span emitted, or the one of our gateway that it joined; null without. */
  readonly ownId: string | null;
  readonly sharedId: string | null;
};

const NONE_KNOWN: KnownRequests = { ownId: null, sharedId: null };

type Reported = { readonly request: SpanRequest; readonly span: Span };

/** Null: the call makes no request of its own. */
export function recordCall(context: CallContext, reported: Reported): RequestResult | null {
  const call = context.calls.get(reported.span.spanId);
  const known = context.known.get(reported.span.spanId) ?? NONE_KNOWN;
  if (call?.role !== 'container' && isOwnRequestId(known.ownId ?? reported.request.gatewayRequestId))
    return 'duplicate';
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

function recordInner(context: CallContext, reported: Reported, { call, known }: Role): RequestResult | null {
  const { costNanoUsd } = call;
  // Marked as a duplicate of a request of our gateway.
  if (known.ownId !== null && known.sharedId !== null && isOwnRequestId(known.sharedId)) return null;
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
  if (request !== undefined) {
    const { gatewayRequestId: id } = request;
    return { id, isNew: !isOwnRequestId(id) };
  }
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
