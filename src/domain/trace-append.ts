/** Applies one collector request to the tables, inside a transaction that somebody else begins and ends. */

import type { AppendTables, StoredSpan, TracePlace } from './append-tables.ts';
import { enqueueJob, isSeenByMonitors } from './evaluations/job-append.ts';
import { type EventMetadata, readEventMetadata } from './event-metadata.ts';
import { contentOfSpan } from './request-content.ts';
import { requestIdOfStored } from './request-event.ts';
import { findRequest, type RequestStatement, recordRequest } from './request-record.ts';
import type { RequestResult } from './request-report.ts';
import type { Span, SpanRequest, SpanSummary, TraceAppend, TraceAppended, TraceRecord } from './trace.ts';
import type { Replaced } from './trace-growth.ts';
import { mergeMetadata } from './trace-metadata.ts';
import { type Sums, sumUp, sumUpNew } from './trace-sums.ts';
import { summaryOf } from './trace-totals.ts';

type Merged = {
  readonly place: TracePlace;
  readonly metadataJson: string;
  readonly notes: readonly string[];
  /** By the ids of spans that had their event before, the request it was for. */
  readonly emitted: ReadonlyMap<string, string>;
};

type Arrival = {
  readonly append: TraceAppend;
  /** Each id once. */
  readonly spans: readonly Span[];
  /** The stored trace, if there is one. */
  readonly record: TraceRecord | undefined;
};

/** Spans for a trace that is stored. */
type Update = Arrival & { readonly record: TraceRecord };

const NOTHING_COMPLETED: Completed = { results: undefined, notes: [] };
const NONE_EMITTED: ReadonlyMap<string, string> = new Map();
const NO_IDS: ReadonlySet<string> = new Set();

/** Null when nothing is to be emitted: of most appends, and that is quickest to hand on. */
export function applyAppend(tables: AppendTables, append: TraceAppend): TraceAppended | null {
  const sent = lastOfEach(append.spans, (span) => span.spanId);
  const record = findLiving(tables, append);
  const excess = findExcess(tables, { append, spans: sent, record });
  const refusedSpans = excess.size === 0 ? undefined : placesOf(append, excess);
  if (refusedSpans !== undefined && excess.size === sent.length && append.evaluations.length === 0) {
    return { metadataNotes: [], requestResults: append.requests.map(() => null), refusedSpans };
  }
  const spans = refusedSpans === undefined ? sent : sent.filter((span) => !excess.has(span.spanId));
  const merged = record === undefined ? create(tables, append, spans) : update(tables, { append, spans, record });
  for (const evaluation of append.evaluations) tables.storeEvaluation(merged.place, evaluation);
  if (isSeenByMonitors(append)) enqueueJob(tables, merged.place, { spans, nowMs: append.receivedAtMs });
  const { results: requestResults, notes } = completeRequests(tables, append, { ...merged, excess });
  const metadataNotes = notes.length === 0 ? merged.notes : [...merged.notes, ...notes];
  if (requestResults === undefined && refusedSpans === undefined && metadataNotes.length === 0) return null;
  return {
    metadataNotes,
    ...(requestResults === undefined ? {} : { requestResults }),
    ...(refusedSpans === undefined ? {} : { refusedSpans }),
  };
}

function placesOf({ spans }: TraceAppend, ids: ReadonlySet<string>): readonly number[] {
  return spans.flatMap((span, index) => (ids.has(span.spanId) ? [index] : []));
}

/** The ids of spans that a trace has no room for. Spans that take the place of stored ones need no room; of the others the first ones get it. */
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

/** The stored trace. One that is past its term makes room: what is sent now begins a new one. */
function findLiving(
  tables: AppendTables,
  { projectNumber, traceId, goneBeforeMs }: TraceAppend,
): TraceRecord | undefined {
  const record = tables.findTrace(projectNumber, traceId);
  if (record === undefined || goneBeforeMs === null || record.insertedAtMs >= goneBeforeMs) return record;
  tables.eraseTrace({ projectNumber, traceId: record.traceId, sequence: record.sequence });
  return undefined;
}

function create(tables: AppendTables, append: TraceAppend, spans: readonly Span[]): Merged {
  const { projectNumber, traceId, receivedAtMs } = append;
  const { json: metadataJson, notes } = mergeMetadata(null, append.metadataJson);
  const place = tables.insertTrace({
    projectNumber,
    traceId,
    insertedAtMs: receivedAtMs,
    ...sumUpNew(spans.map(summaryOf)),
    metadataJson,
    expectedOutput: append.expectedOutput ?? null,
    updatedAtMs: receivedAtMs,
  });
  for (const span of spans) tables.insertSpan(place, span);
  return { place, metadataJson, notes, emitted: NONE_EMITTED };
}

function update(tables: AppendTables, { append, spans, record }: Update): Merged {
  const { json: metadataJson, notes } = mergeMetadata(record.metadataJson, append.metadataJson);
  const place = { projectNumber: append.projectNumber, traceId: record.traceId, sequence: record.sequence };
  const { sums, emitted } = storeSpans(tables, place, { append, spans, record });
  tables.updateTrace(place, {
    insertedAtMs: record.insertedAtMs,
    ...sums,
    metadataJson,
    expectedOutput: append.expectedOutput === undefined ? record.expectedOutput : append.expectedOutput,
    updatedAtMs: Math.max(record.updatedAtMs, append.receivedAtMs),
  });
  return { place, metadataJson, notes, emitted };
}

/** Stores spans of a known trace and answers what they make of it. */
function storeSpans(
  tables: AppendTables,
  place: TracePlace,
  { append, spans, record }: Update,
): { sums: Sums; emitted: ReadonlyMap<string, string> } {
  const emitted = new Map<string, string>();
  const added: SpanSummary[] = [];
  const replaced: Replaced[] = [];
  for (const span of spans) {
    const next = summaryOf(span);
    if (tables.insertSpan(place, span)) {
      added.push(next);
      continue;
    }
    const stored = tables.findSpan(place, span.spanId);
    const emittedId = stored === undefined ? null : findEmittedId(tables, append, stored);
    if (emittedId !== null) emitted.set(span.spanId, emittedId);
    const follows = emittedId === requestIdOfStored(append.traceId, span);
    tables.replaceSpan(place, span, follows ? null : emittedId);
    if (stored !== undefined) replaced.push({ old: stored.summary, next });
  }
  return { sums: sumUp(tables, place, { record, added, replaced }), emitted };
}

/** The id of the request that a stored span had its event for; null when it had none. */
function findEmittedId(tables: AppendTables, append: TraceAppend, stored: StoredSpan): string | null {
  const { summary, paramsJson, emittedRequestId } = stored;
  const { spanId, type } = summary;
  const id = emittedRequestId ?? requestIdOfStored(append.traceId, { spanId, type, paramsJson });
  if (id === null) return null;
  // The project may not have emitted anything when the span came first.
  const { projectId, projectNumber } = append;
  const row = findRequest(tables.log(append.organizationNumber), { projectId, projectNumber, gatewayRequestId: id });
  return row !== undefined && 'source' in row.state ? id : null;
}

type Completed = {
  /** Undefined when every request was emitted. */
  readonly results: TraceAppended['requestResults'];
  /** What the events left out. */
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
    // Nothing came of the request of a span that is not stored.
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
  /** What events say of the merged metadata of the trace. */
  readonly metadata: () => EventMetadata;
  /** The request that the span emitted of before. */
  readonly emittedId: string | undefined;
};

function statementOf({ append, request, span, metadata, emittedId }: SpanOutcome): RequestStatement {
  const { projectId, projectNumber, organizationId, receivedAtMs, traceId } = append;
  return {
    projectId,
    projectNumber,
    organizationId,
    receivedAtMs,
    // What a span says when it is sent again may name another request, but it is still the same call.
    gatewayRequestId: emittedId ?? request.gatewayRequestId,
    news: {
      status: span.errorJson === null ? 'success' : 'error',
      source: emittedId === undefined ? 'span' : 'resent_span',
    },
    content: () => contentOfSpan({ traceId, span, request, metadata: metadata() }),
    cost: span.costNanoUsd === null ? null : { nanoUsd: span.costNanoUsd, rateVersion: request.rateVersion },
    price: null,
  };
}

/** Large metadata takes long to read: not for each event again, and not at all when there is none. */
function once<T>(read: () => T): () => T {
  let known: { readonly value: T } | null = null;
  return () => {
    known ??= { value: read() };
    return known.value;
  };
}

function lastOfEach<T>(items: readonly T[], idOf: (item: T) => string): readonly T[] {
  if (items.length < 2) return items;
  const last = new Map(items.map((item) => [idOf(item), item]));
  return last.size === items.length ? items : [...last.values()];
}
