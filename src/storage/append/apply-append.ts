/** Applies one collector request to the tables, inside a transaction that somebody else begins and ends. */

import { type EventMetadata, readEventMetadata } from '../../domain/event-metadata.ts';
import { contentOfSpan } from '../../domain/request-content.ts';
import { requestIdOfStored } from '../../domain/request-event.ts';
import type { RequestResult } from '../../domain/request-report.ts';
import type { Span, SpanRequest, SpanSummary, TraceAppend, TraceAppended, TraceRecord } from '../../domain/trace.ts';
import type { Replaced } from '../../domain/trace-growth.ts';
import { mergeMetadata } from '../../domain/trace-metadata.ts';
import { summaryOf } from '../../domain/trace-totals.ts';
import { findExcess } from './excess-spans.ts';
import { type Sums, sumUp, sumUpNew } from './sum-up.ts';
import type { AppendTables, StoredSpan, TracePlace } from './tables.ts';
import { findRequest, type Telling, tellRequest } from './tell-request.ts';

type Merged = {
  readonly place: TracePlace;
  readonly metadataJson: string;
  readonly notes: readonly string[];
  /** By the ids of spans that had their event before, the request it was for. */
  readonly told: ReadonlyMap<string, string>;
};

/** Spans for a trace that is stored. */
type Update = { readonly append: TraceAppend; readonly spans: readonly Span[]; readonly record: TraceRecord };

const NOTHING_COMPLETED: Completed = { results: undefined, notes: [] };
const NONE_TOLD: ReadonlyMap<string, string> = new Map();

/** Null when nothing is to be told: of most appends, and that is quickest to hand on. */
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
  return { place, metadataJson, notes, told: NONE_TOLD };
}

function update(tables: AppendTables, { append, spans, record }: Update): Merged {
  const { json: metadataJson, notes } = mergeMetadata(record.metadataJson, append.metadataJson);
  const place = { projectNumber: append.projectNumber, traceId: record.traceId, sequence: record.sequence };
  const { sums, told } = storeSpans(tables, place, { append, spans, record });
  tables.updateTrace(place, {
    insertedAtMs: record.insertedAtMs,
    ...sums,
    metadataJson,
    expectedOutput: append.expectedOutput === undefined ? record.expectedOutput : append.expectedOutput,
    updatedAtMs: Math.max(record.updatedAtMs, append.receivedAtMs),
  });
  return { place, metadataJson, notes, told };
}

/** Stores spans of a known trace and answers what they make of it. */
function storeSpans(
  tables: AppendTables,
  place: TracePlace,
  { append, spans, record }: Update,
): { sums: Sums; told: ReadonlyMap<string, string> } {
  const told = new Map<string, string>();
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
    if (emittedId !== null) told.set(span.spanId, emittedId);
    const follows = emittedId === requestIdOfStored(append.traceId, span);
    tables.replaceSpan(place, span, follows ? null : emittedId);
    if (stored !== undefined) replaced.push({ old: stored.summary, next });
  }
  return { sums: sumUp(tables, place, { record, added, replaced }), told };
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
  { metadataJson, told, excess }: Merged & { readonly excess: ReadonlySet<string> },
): Completed {
  if (append.requests.length === 0) return NOTHING_COMPLETED;
  const log = tables.log(append.organizationNumber);
  const winners = new Map(append.spans.map((span, index) => [span.spanId, index]));
  const metadata = once(() => readEventMetadata(metadataJson));
  const tell = (request: SpanRequest): RequestResult | null => {
    const span = append.spans[request.spanIndex];
    // Nothing came of the request of a span that is not stored.
    if (span === undefined || winners.get(span.spanId) !== request.spanIndex || excess.has(span.spanId)) return null;
    return tellRequest(log, tellingOf({ append, request, span, metadata, toldId: told.get(span.spanId) }));
  };
  let results: (RequestResult | null)[] | undefined;
  for (const [index, request] of append.requests.entries()) {
    const result = tell(request);
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
  /** What events tell of the merged metadata of the trace. */
  readonly metadata: () => EventMetadata;
  /** The request that the span told of before. */
  readonly toldId: string | undefined;
};

function tellingOf({ append, request, span, metadata, toldId }: SpanOutcome): Telling {
  const { projectId, projectNumber, organizationId, receivedAtMs, traceId } = append;
  return {
    projectId,
    projectNumber,
    organizationId,
    receivedAtMs,
    // What a span says when it is sent again may name another request, but it is still the same call.
    gatewayRequestId: toldId ?? request.gatewayRequestId,
    news: {
      status: span.errorJson === null ? 'success' : 'error',
      source: toldId === undefined ? 'span' : 'resent_span',
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
