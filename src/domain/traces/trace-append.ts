/** Applies one collector request to the tables, inside a transaction of the caller. */

import { isObject } from '../../json/free-json.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';
import { enqueueJob, isSeenByMonitors } from '../evaluations/job-append.ts';
import type { AppendTables, StoredSpan, TraceKey } from '../events/append-tables.ts';
import { type EventMetadata, readEventMetadata } from '../events/event-metadata.ts';
import type { RequestContent, RequestUsage } from '../events/request-content.ts';
import { gatewayRequestId } from '../events/request-event.ts';
import { findRequest, type RequestUpdate, recordRequest } from '../events/request-record.ts';
import type { RequestResult } from '../events/request-report.ts';
import type { Span, SpanRequest, SpanSummary, TraceAppend, TraceAppended, TraceRecord } from './trace.ts';
import { type Replaced, type Sums, sumUp, sumUpNew } from './trace-growth.ts';
import { mergeMetadata } from './trace-metadata.ts';
import { summaryOf } from './trace-totals.ts';

type Merged = {
  readonly traceKey: TraceKey;
  readonly metadataJson: string;
  readonly notes: readonly string[];
  /** Request ids of events that spans emitted earlier, by span id. */
  readonly emitted: ReadonlyMap<string, string>;
};

type Arrival = {
  readonly append: TraceAppend;
  /** Each id once. */
  readonly spans: readonly Span[];
  /** The stored trace, if any. */
  readonly record: TraceRecord | undefined;
};

/** An append to a stored trace. */
type Update = Arrival & { readonly record: TraceRecord };

const NOTHING_COMPLETED: Completed = { results: undefined, notes: [] };
const NONE_EMITTED: ReadonlyMap<string, string> = new Map();
const NO_IDS: ReadonlySet<string> = new Set();

/** Null when there is nothing to report, as for most appends: fastest to pass on. */
export function applyAppend(tables: AppendTables, append: TraceAppend): TraceAppended | null {
  const sent = lastOfEach(append.spans);
  const record = findLiving(tables, append);
  const excess = findExcess(tables, { append, spans: sent, record });
  const refusedSpans = excess.size === 0 ? undefined : indexesOf(append, excess);
  if (refusedSpans !== undefined && excess.size === sent.length && append.evaluations.length === 0) {
    return { metadataNotes: [], requestResults: append.requests.map(() => null), refusedSpans };
  }
  const spans = refusedSpans === undefined ? sent : sent.filter((span) => !excess.has(span.spanId));
  const merged = record === undefined ? create(tables, append, spans) : update(tables, { append, spans, record });
  for (const evaluation of append.evaluations) tables.storeEvaluation(merged.traceKey, evaluation);
  if (isSeenByMonitors(append)) enqueueJob(tables, merged.traceKey, { spans, nowMs: append.receivedAtMs });
  const { results: requestResults, notes } = completeRequests(tables, append, { ...merged, excess });
  const metadataNotes = notes.length === 0 ? merged.notes : [...merged.notes, ...notes];
  if (requestResults === undefined && refusedSpans === undefined && metadataNotes.length === 0) return null;
  return {
    metadataNotes,
    ...(requestResults === undefined ? {} : { requestResults }),
    ...(refusedSpans === undefined ? {} : { refusedSpans }),
  };
}

function indexesOf({ spans }: TraceAppend, ids: ReadonlySet<string>): readonly number[] {
  return spans.flatMap((span, index) => (ids.has(span.spanId) ? [index] : []));
}

/** Ids of spans beyond `spansMax`. Spans that replace stored ones need no room; of the others the first get it. */
function findExcess(tables: AppendTables, { append, spans, record }: Arrival): ReadonlySet<string> {
  let room = append.spansMax - (record?.spanCount ?? 0);
  if (spans.length <= room) return NO_IDS;
  const excess = new Set<string>();
  for (const { spanId } of spans) {
    if (record !== undefined && tables.hasSpan({ ...record, projectNumber: append.projectNumber }, spanId)) continue;
    if (room > 0) room -= 1;
    else excess.add(spanId);
  }
  return excess;
}

/** The stored trace. Erases an expired one, so that the append creates a new trace. */
function findLiving(
  tables: AppendTables,
  { projectNumber, traceId, expiredBeforeMs }: TraceAppend,
): TraceRecord | undefined {
  const record = tables.findTrace(projectNumber, traceId);
  if (record === undefined || expiredBeforeMs === null || record.insertedAtMs >= expiredBeforeMs) return record;
  tables.eraseTrace({ projectNumber, traceId: record.traceId, sequence: record.sequence });
  return undefined;
}

function create(tables: AppendTables, append: TraceAppend, spans: readonly Span[]): Merged {
  const { projectNumber, traceId, receivedAtMs } = append;
  const { json: metadataJson, notes } = mergeMetadata(null, append.metadataJson);
  const traceKey = tables.insertTrace({
    projectNumber,
    traceId,
    insertedAtMs: receivedAtMs,
    ...sumUpNew(spans.map(summaryOf)),
    metadataJson,
    expectedOutput: append.expectedOutput ?? null,
    updatedAtMs: receivedAtMs,
  });
  for (const span of spans) tables.insertSpan(traceKey, span);
  return { traceKey, metadataJson, notes, emitted: NONE_EMITTED };
}

function update(tables: AppendTables, { append, spans, record }: Update): Merged {
  const { json: metadataJson, notes } = mergeMetadata(record.metadataJson, append.metadataJson);
  const traceKey = { projectNumber: append.projectNumber, traceId: record.traceId, sequence: record.sequence };
  const { sums, emitted } = storeSpans(tables, traceKey, { append, spans, record });
  tables.updateTrace(traceKey, {
    insertedAtMs: record.insertedAtMs,
    ...sums,
    metadataJson,
    expectedOutput: append.expectedOutput === undefined ? record.expectedOutput : append.expectedOutput,
    updatedAtMs: Math.max(record.updatedAtMs, append.receivedAtMs),
  });
  return { traceKey, metadataJson, notes, emitted };
}

/** Stores the spans; returns the sums and emitted ids with them. */
function storeSpans(
  tables: AppendTables,
  traceKey: TraceKey,
  { append, spans, record }: Update,
): { sums: Sums; emitted: ReadonlyMap<string, string> } {
  const emitted = new Map<string, string>();
  const added: SpanSummary[] = [];
  const replaced: Replaced[] = [];
  for (const span of spans) {
    const next = summaryOf(span);
    if (tables.insertSpan(traceKey, span)) {
      added.push(next);
      continue;
    }
    const stored = tables.findSpan(traceKey, span.spanId);
    const emittedId = stored === undefined ? null : findEmittedId(tables, append, stored);
    if (emittedId !== null) emitted.set(span.spanId, emittedId);
    const follows = emittedId === requestIdOfStored(append.traceId, span);
    tables.replaceSpan(traceKey, span, follows ? null : emittedId);
    if (stored !== undefined) replaced.push({ old: stored.summary, next });
  }
  return { sums: sumUp(tables, traceKey, { record, added, replaced }), emitted };
}

/** The request id of the event that a stored span emitted; null when it emitted none. */
function findEmittedId(tables: AppendTables, append: TraceAppend, stored: StoredSpan): string | null {
  const { summary, paramsJson, emittedRequestId } = stored;
  const { spanId, type } = summary;
  const id = emittedRequestId ?? requestIdOfStored(append.traceId, { spanId, type, paramsJson });
  if (id === null) return null;
  // The project may have emitted no events when the span first came.
  const { projectId, projectNumber } = append;
  const row = findRequest(tables.log(append.organizationNumber), { projectId, projectNumber, gatewayRequestId: id });
  return row !== undefined && 'source' in row.state ? id : null;
}

type Completed = {
  /** Undefined when every request was emitted. */
  readonly results: TraceAppended['requestResults'];
  /** Values that events omit. */
  readonly notes: readonly string[];
};

function completeRequests(
  tables: AppendTables,
  append: TraceAppend,
  { metadataJson, emitted, excess }: Merged & { readonly excess: ReadonlySet<string> },
): Completed {
  if (append.requests.length === 0) return NOTHING_COMPLETED;
  const log = tables.log(append.organizationNumber);
  const winners = new Map(append.spans.map((span, index) => [span.spanId, index]));
  const metadata = once(() => readEventMetadata(metadataJson));
  const record = (request: SpanRequest): RequestResult | null => {
    const span = append.spans[request.spanIndex];
    // A span that is not stored has no request result.
    if (span === undefined || winners.get(span.spanId) !== request.spanIndex || excess.has(span.spanId)) return null;
    return recordRequest(log, statementOf({ append, request, span, metadata, emittedId: emitted.get(span.spanId) }));
  };
  let results: (RequestResult | null)[] | undefined;
  for (const [index, request] of append.requests.entries()) {
    const result = record(request);
    if (result !== 'emitted') results ??= append.requests.slice(0, index).map(() => 'emitted');
    results?.push(result);
  }
  const isEmitted = results === undefined || results.includes('emitted');
  return { results, notes: isEmitted ? metadata().notes : [] };
}

type SpanOutcome = {
  readonly append: TraceAppend;
  readonly request: SpanRequest;
  readonly span: Span;
  /** The merged metadata in the form of events. */
  readonly metadata: () => EventMetadata;
  /** Request id that the span emitted earlier. */
  readonly emittedId: string | undefined;
};

function statementOf({ append, request, span, metadata, emittedId }: SpanOutcome): RequestUpdate {
  const { projectId, projectNumber, organizationId, receivedAtMs, traceId } = append;
  return {
    projectId,
    projectNumber,
    organizationId,
    receivedAtMs,
    // A span that is sent again may name another request, but it is still the same call.
    gatewayRequestId: emittedId ?? request.gatewayRequestId,
    signal: {
      status: span.errorJson === null ? 'success' : 'error',
      source: emittedId === undefined ? 'span' : 'resent_span',
    },
    content: () => contentOfSpan({ traceId, span, request, metadata: metadata() }),
    cost: span.costNanoUsd === null ? null : { nanoUsd: span.costNanoUsd, rateVersion: request.rateVersion },
    price: null,
  };
}

/** Reads at most once, and not at all without events: large metadata takes long to read. */
function once<T>(read: () => T): () => T {
  let known: { readonly value: T } | null = null;
  return () => {
    known ??= { value: read() };
    return known.value;
  };
}

/** Of each id. */
function lastOfEach(spans: readonly Span[]): readonly Span[] {
  if (spans.length < 2) return spans;
  const last = new Map(spans.map((span) => [span.spanId, span]));
  return last.size === spans.length ? spans : [...last.values()];
}

const REQUEST_ID_MEMBER = '"gateway_request_id"';

/** The request id of a stored span; null when it is no request. */
export function requestIdOfStored(
  traceId: string,
  { spanId, type, paramsJson }: Pick<Span, 'spanId' | 'type' | 'paramsJson'>,
): string | null {
  if (type !== 'llm') return null;
  // Parameters can be large, and few of them name a request.
  const params: LosslessJson = paramsJson?.includes(REQUEST_ID_MEMBER) ? JSON.parse(paramsJson) : null;
  return gatewayRequestId(traceId, spanId, isObject(params) ? params : null);
}

type SpanReport = {
  readonly traceId: string;
  readonly span: Span;
  readonly request: SpanRequest;
  readonly metadata: EventMetadata;
};

export function contentOfSpan({ traceId, span, request, metadata }: SpanReport): RequestContent {
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
    error: span.errorJson === null ? null : { class: request.errorClass, httpStatus: request.httpStatus },
    durationMs: Math.max(0, span.finishedAtMs - span.startedAtMs),
    labelsJson: metadata.labelsJson,
    metadataJson: metadata.customJson,
  };
}

function usageOf(span: Span): RequestUsage | null {
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
