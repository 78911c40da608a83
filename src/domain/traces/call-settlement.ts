/**
 * Corrects the requests of calls once their trace has settled. Spans of one call may arrive in any order, so that two
 * requests exist for it; or one request for two spans that are no longer one call.
 */

import { isObject, parseFreeJson } from '../../json/free-json.ts';
import type { AppendTables, ProjectOwner, StoredSpan, TraceKey } from '../events/append-tables.ts';
import { type EventMetadata, METADATA_BYTES_MAX, readEventMetadata } from '../events/event-metadata.ts';
import type { RequestContent, RequestCost, RequestUsage } from '../events/request-content.ts';
import { contentOf, type EmittedData } from '../events/request-data.ts';
import { isOwnRequestId } from '../events/request-event.ts';
import { changeRequestCost, correctRequest, recordRequest } from '../events/request-record.ts';
import type { RequestMending, RequestsMended } from '../pricing/repricing.ts';
import { hasMoreBytesThan } from '../text-limits.ts';
import { callKindOf, isCall, requestTypeOf } from './calls.ts';
import { findOwnId, type RequestOwner, requestIdOfStored, resolveRequestId } from './request-ids.ts';
import { type CallSettlement, callsOf, type ListedCall, type TraceCall } from './shares/trace-calls.ts';
import { contentOfSpan } from './span-requests.ts';
import type { SpanSummary, TraceHead } from './trace.ts';

/** Calls that one transaction corrects. */
export const SETTLED_AT_ONCE = 200;

/** The calls of a trace in a fixed order. `sharers` are the spans that are counted in other requests. */
export function listCalls(spans: readonly SpanSummary[], sharers: readonly string[]): readonly ListedCall[] {
  const calls = callsOf(spans);
  const unsettled = new Set(sharers);
  for (const [spanId, { role }] of calls) if (role !== 'inner') unsettled.add(spanId);
  const ids = new Set(unsettled);
  for (const span of spans) if (isCall(span)) ids.add(span.spanId);
  return [...ids]
    .sort((one, other) => (one < other ? -1 : 1))
    .map((spanId) => ({ spanId, call: calls.get(spanId) ?? null, isUnsettled: unsettled.has(spanId) }));
}

type Settling = {
  readonly tables: AppendTables;
  readonly traceKey: TraceKey;
  readonly owner: RequestOwner;
  readonly nowMs: number;
  readonly metadata: () => EventMetadata;
};

/** False, and changes nothing, when the trace has changed since it was read. */
export function settleCalls(
  tables: AppendTables,
  traceKey: TraceKey,
  { traceId, updatedAtMs, calls, nowMs }: CallSettlement,
): boolean {
  const { projectNumber } = traceKey;
  const record = tables.findTrace(projectNumber, traceId);
  const owner = tables.findOwner(projectNumber);
  if (record === undefined || record.sequence !== traceKey.sequence) return true;
  if (owner === undefined || !owner.emitRequestEvents) return true;
  if (record.updatedAtMs !== updatedAtMs) return false;
  const settling = settlingOf(tables, { record, owner, projectNumber, nowMs });
  for (const { spanId, call } of calls) settleCall(settling, spanId, call);
  return true;
}

/** See RepricingStore.mend. */
export function mendCalls(
  tables: AppendTables,
  { projectNumber, traceId, updatedAtMs, calls, nowMs, emits, rateVersion }: RequestMending,
): RequestsMended {
  const record = tables.findTrace(projectNumber, traceId);
  const owner = tables.findOwner(projectNumber);
  if (record === undefined || owner === undefined) return NOTHING_MENDED;
  if (emits && !owner.emitRequestEvents) return NOTHING_MENDED;
  if (record.updatedAtMs !== updatedAtMs) return { kind: 'stale' };
  const settling = settlingOf(tables, { record, owner, projectNumber, nowMs });
  let count = 0;
  for (const { spanId, call, isUnsettled } of calls) {
    if (emits && isUnsettled) settleCall(settling, spanId, call);
    if (mendCost(settling, { spanId, call, emits, rateVersion })) count += 1;
  }
  return { kind: 'mended', count };
}

const NOTHING_MENDED: RequestsMended = { kind: 'mended', count: 0 };

type Mended = Pick<RequestMending, 'emits' | 'rateVersion'> & {
  readonly spanId: string;
  readonly call: TraceCall | null;
};

/** Whether the request in which the call counts had another cost. */
function mendCost(settling: Settling, { spanId, call, emits, rateVersion }: Mended): boolean {
  const { tables, traceKey, owner } = settling;
  const stored = tables.findSpan(traceKey, spanId);
  if (stored === undefined) return false;
  const ownId = ownIdOf(settling, stored);
  // Settling has made the request of the span free.
  if (ownId !== null && stored.sharedRequestId !== null && isOwnRequestId(stored.sharedRequestId)) return false;
  if (call?.role === 'outer' || call?.role === 'container') {
    const countedIn = countedInOf(settling, call);
    // With events, settling has made it free.
    const isDuplicate = !emits && ownId !== null && countedIn !== null && countedIn !== ownId;
    return isDuplicate && changeRequestCost(tables.log(owner.organizationNumber), requestOf(settling, ownId), 0);
  }
  const requestId = call === null ? ownId : (ownId ?? stored.sharedRequestId);
  if (requestId === null) return false;
  const log = tables.log(owner.organizationNumber);
  const request = requestOf(settling, requestId);
  const { summary } = stored;
  const nanoUsd = call === null ? summary.costNanoUsd : call.costNanoUsd;
  if (!emits) return changeRequestCost(log, request, nanoUsd);
  const isListed = summary.costSource === 'registry' && nanoUsd === summary.costNanoUsd;
  const cost = nanoUsd === null ? null : { nanoUsd, rateVersion: isListed ? rateVersion : null };
  const result = correctRequest(log, request, (emitted) => ({ content: contentOf(emitted), cost }));
  return result === 'emitted' || result === 'capped';
}

type Found = {
  readonly record: TraceHead;
  readonly owner: ProjectOwner;
  readonly projectNumber: number;
  readonly nowMs: number;
};

function settlingOf(tables: AppendTables, { record, owner, projectNumber, nowMs }: Found): Settling {
  const traceKey = { projectNumber, traceId: record.traceId, sequence: record.sequence };
  // May be large, and few calls need it.
  let metadata: EventMetadata | undefined;
  return {
    tables,
    traceKey,
    owner: { ...owner, projectNumber },
    nowMs,
    metadata: () => {
      metadata ??= readEventMetadata(tables.metadataOf(traceKey));
      return metadata;
    },
  };
}

/** The request of the span with which a call is counted. */
function countedInOf(settling: Settling, call: TraceCall | null): string | null {
  const otherId = call?.otherId ?? null;
  const other = otherId === null ? undefined : settling.tables.findSpan(settling.traceKey, otherId);
  return other === undefined ? null : (ownIdOf(settling, other) ?? other.sharedRequestId);
}

function settleCall(settling: Settling, spanId: string, call: TraceCall | null): void {
  const { tables, traceKey } = settling;
  const stored = tables.findSpan(traceKey, spanId);
  if (stored === undefined) return;
  const ownId = ownIdOf(settling, stored);
  const countedIn = countedInOf(settling, call);
  switch (call?.role) {
    case 'outer':
    case 'container':
      // The other span may be counted in the request of this one.
      if (ownId === null || countedIn === null || countedIn === ownId) return;
      if (!isOwnRequestId(ownId)) markDuplicate(settling, { stored, ownId, countedIn });
      else if (call.role === 'outer') markInner(settling, call, ownId);
      return;
    case 'inner':
      if (countedIn !== null && countedIn === stored.sharedRequestId) return;
  }
  if (stored.sharedRequestId !== null) countAlone(settling, { stored, ownId, call });
}

function ownIdOf({ tables, owner, traceKey: { traceId } }: Settling, stored: StoredSpan): string | null {
  return findOwnId(tables, { owner, traceId }, stored);
}

type Duplicate = { readonly stored: StoredSpan; readonly ownId: string; readonly countedIn: string };

/** The request of our gateway stands, although it is the outer span that names it. */
function markInner(settling: Settling, { otherId }: TraceCall, countedIn: string): void {
  const stored = otherId === null ? undefined : settling.tables.findSpan(settling.traceKey, otherId);
  const ownId = stored === undefined ? null : ownIdOf(settling, stored);
  if (stored === undefined || ownId === null || isOwnRequestId(ownId)) return;
  markDuplicate(settling, { stored, ownId, countedIn });
}

/** The newest event then says that the request counts nothing, and where its call is counted. */
function markDuplicate(settling: Settling, { stored, ownId, countedIn }: Duplicate): void {
  const { tables, owner, traceKey } = settling;
  if (stored.sharedRequestId === countedIn) return;
  correctRequest(tables.log(owner.organizationNumber), requestOf(settling, ownId), (emitted) => ({
    content: duplicateOf(emitted, countedIn),
    cost: FREE,
  }));
  tables.changeSpan(traceKey, stored, { sharedRequestId: countedIn });
}

const FREE: RequestCost = { nanoUsd: 0, rateVersion: null };
const NO_USAGE: RequestUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
  reasoningTokens: 0,
};

function duplicateOf(emitted: EmittedData, countedIn: string): RequestContent {
  const content = contentOf(emitted);
  const { metadata } = emitted;
  const metadataJson = JSON.stringify({ ...(isObject(metadata) ? metadata : {}), duplicate_of: countedIn });
  const isTooLarge = hasMoreBytesThan(metadataJson, METADATA_BYTES_MAX);
  return {
    ...content,
    usage: NO_USAGE,
    metadataJson: isTooLarge ? JSON.stringify({ duplicate_of: countedIn }) : metadataJson,
  };
}

type Alone = { readonly stored: StoredSpan; readonly ownId: string | null; readonly call: TraceCall | null };

/** A call that was counted in another request makes one of its own, or its own counts again. */
function countAlone(settling: Settling, { stored, ownId, call }: Alone): void {
  const { tables, owner, traceKey, nowMs } = settling;
  const span = stored.summary;
  const cost = call === null ? span.costNanoUsd : call.costNanoUsd;
  const { traceId } = traceKey;
  const named = ownId ?? stored.emittedRequestId ?? requestIdOfStored(traceId, { ...span, ...stored });
  if (named === null) return;
  const gatewayRequestId = resolveRequestId(tables, { owner, traceId, spanId: span.spanId }, named);
  recordRequest(tables.log(owner.organizationNumber), {
    ...requestOf(settling, gatewayRequestId),
    receivedAtMs: nowMs,
    signal: { status: span.hasError ? 'error' : 'success', source: ownId === null ? 'span' : 'resent_span' },
    content: () => contentOfStored(settling, span),
    cost: cost === null ? null : { nanoUsd: cost, rateVersion: null },
    price: null,
  });
  tables.changeSpan(traceKey, stored, { sharedRequestId: null });
}

/** The error class of a span whose sender named none. */
const ERROR_CLASS = 'error';

function contentOfStored({ tables, traceKey, metadata }: Settling, span: SpanSummary): RequestContent {
  const { telemetryJson = null, inputStart = null } = tables.findCallTexts(traceKey, span.spanId) ?? {};
  const telemetry = telemetryJson === null ? null : parseFreeJson(telemetryJson);
  const kind = callKindOf({ ...span, telemetry: isObject(telemetry) ? telemetry : null }) ?? 'generation';
  const request = { requestType: requestTypeOf(kind, inputStart), errorClass: ERROR_CLASS, httpStatus: null };
  return contentOfSpan({ traceId: traceKey.traceId, span, hasError: span.hasError, request, metadata: metadata() });
}

function requestOf({ owner, nowMs }: Settling, gatewayRequestId: string) {
  const { projectId, projectNumber, organizationId } = owner;
  return { projectId, projectNumber, organizationId, receivedAtMs: nowMs, gatewayRequestId };
}
