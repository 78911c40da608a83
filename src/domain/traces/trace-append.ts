/** Applies one collector request to the tables, inside a transaction of the caller. */

import { enqueueJob, enqueueSettlement, enqueueTriggers, isSeenByMonitors } from '../evaluations/job-append.ts';
import type { AppendTables, TraceKey } from '../events/append-tables.ts';
import { readEventMetadata, repeatMetadata } from '../events/event-metadata.ts';
import type { RequestResult } from '../events/request-report.ts';
import { isCall } from './calls.ts';
import { findOwnId, namesRequest, presentIdOf, requestsOfNew, resolveRequests } from './request-ids.ts';
import { callsOf, isOtherCall, NO_CALLS, type TraceCalls } from './shares/trace-calls.ts';
import { type KnownRequests, recordCall } from './span-requests.ts';
import { isOutdated, OUTDATED } from './span-version.ts';
import {
  NOTHING_SENT,
  type Replaced,
  type SentFields,
  type Span,
  type SpanRequest,
  type SpanSummary,
  type TraceAppend,
  type TraceAppended,
  type TraceHead,
} from './trace.ts';
import { SPANS_READ_THROUGH_MAX } from './trace-aggregates.ts';
import { anchorOf } from './trace-anchor.ts';
import { type Sums, storeNodes, sumUp, sumUpNew } from './trace-growth.ts';
import { mergeMetadata } from './trace-metadata.ts';
import { summaryOf } from './trace-totals.ts';

type Merged = {
  readonly traceKey: TraceKey;
  /** The merged metadata. */
  readonly metadata: () => string;
  readonly notes: readonly string[];
  readonly calls: TraceCalls;
  /** Whether requests of stored calls may need a correction once the trace has settled. */
  readonly unsettled: boolean;
  /** The requests of the spans that were stored before, by span id. */
  readonly known: ReadonlyMap<string, KnownRequests>;
};

type Arrival = {
  readonly append: TraceAppend;
  /** Each id once. */
  readonly spans: readonly Span[];
  /** The stored trace, if any. */
  readonly record: TraceHead | undefined;
};

/** An append to a stored trace. */
type Update = Arrival & { readonly record: TraceHead };

const NOTHING_COMPLETED: Completed = { results: undefined, notes: [] };
const NONE_KNOWN: ReadonlyMap<string, KnownRequests> = new Map();
const NO_IDS: ReadonlySet<string> = new Set();

/** Null when there is nothing to report, as for most appends: fastest to pass on. */
export function applyAppend(tables: AppendTables, append: TraceAppend): TraceAppended | null {
  const sent = lastOfEach(append.spans);
  const record = findLiving(tables, append);
  if (isOutdated(tables, append, record)) return OUTDATED;
  const excess = findExcess(tables, { append, spans: sent, record });
  const refusedSpans = excess.size === 0 ? undefined : indexesOf(append, excess);
  if (refusedSpans !== undefined && excess.size === sent.length && append.evaluations.length === 0) {
    return { metadataNotes: [], requestResults: append.requests.map(() => null), refusedSpans };
  }
  const spans = refusedSpans === undefined ? sent : sent.filter((span) => !excess.has(span.spanId));
  const merged = record === undefined ? create(tables, append, spans) : update(tables, { append, spans, record });
  const { traceKey, unsettled } = merged;
  for (const evaluation of append.evaluations) tables.storeEvaluation(traceKey, evaluation);
  const touch = { spans, nowMs: append.receivedAtMs };
  if (isSeenByMonitors(append)) enqueueJob(tables, traceKey, { ...touch, record });
  if (append.evaluations.length > 0) enqueueTriggers(tables, traceKey, append.receivedAtMs);
  if (unsettled) enqueueSettlement(tables, traceKey, touch);
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
): TraceHead | undefined {
  const record = tables.findTrace(projectNumber, traceId);
  if (record === undefined || expiredBeforeMs === null || record.insertedAtMs >= expiredBeforeMs) return record;
  tables.eraseTrace({ projectNumber, traceId: record.traceId, sequence: record.sequence });
  return undefined;
}

function create(tables: AppendTables, append: TraceAppend, spans: readonly Span[]): Merged {
  const { projectNumber, traceId, receivedAtMs } = append;
  const { json: metadataJson, notes } = mergeMetadata(null, append.metadataJson);
  const summaries = spans.map(summaryOf);
  const sums = sumUpNew(summaries);
  const traceKey = tables.insertTrace({
    ...NOTHING_SENT,
    ...sentOf(append),
    projectNumber,
    traceId,
    insertedAtMs: receivedAtMs,
    anchorAtMs: anchorOf(sums.totals.startedAtMs, receivedAtMs),
    totals: sums.totals,
    aggregatesJson: sums.aggregatesJson,
    metadataJson,
    updatedAtMs: receivedAtMs,
  });
  for (const span of spans) tables.insertSpan(traceKey, span, requestsOfNew(tables, append, span));
  storeNodes(tables, traceKey, sums);
  return {
    traceKey,
    metadata: () => metadataJson,
    notes,
    calls: callsOf(summaries),
    unsettled: false,
    known: NONE_KNOWN,
  };
}

function update(tables: AppendTables, { append, spans, record }: Update): Merged {
  const traceKey = { projectNumber: append.projectNumber, traceId: record.traceId, sequence: record.sequence };
  const { metadataJson, notes } = growMetadata(tables, traceKey, append.metadataJson);
  const before = listCalls(tables, traceKey, { append, spans, record });
  const { sums, known } = storeSpans(tables, traceKey, { append, spans, record });
  tables.updateTrace(traceKey, {
    ...sums,
    ...sentOf(append),
    anchorAtMs:
      record.anchorAtMs ??
      // A trace that was stored before traces had an anchor.
      anchorOf(record.startedAtMs, record.insertedAtMs) ??
      anchorOf(sums.totals.startedAtMs, append.receivedAtMs),
    ...(metadataJson === null ? {} : { metadataJson }),
    updatedAtMs: Math.max(record.updatedAtMs, append.receivedAtMs),
  });
  const { calls, unsettled } = compareCalls(tables, traceKey, { append, spans, record, before });
  return { traceKey, metadata: () => metadataJson ?? tables.metadataOf(traceKey), notes, calls, unsettled, known };
}

function sentOf(append: TraceAppend): Partial<SentFields> {
  const names = Object.keys(NOTHING_SENT) as (keyof SentFields)[];
  return Object.fromEntries(names.flatMap((name) => (append[name] === undefined ? [] : [[name, append[name]]])));
}

/** The stored metadata may be large, so that it is read only to add to it. Null: it stays as it is. */
function growMetadata(
  tables: AppendTables,
  traceKey: TraceKey,
  incomingJson: string | null,
): { readonly metadataJson: string | null; readonly notes: readonly string[] } {
  if (incomingJson === null) return { metadataJson: null, notes: [] };
  const storedJson = tables.metadataOf(traceKey);
  const { json, notes } = mergeMetadata(storedJson, incomingJson);
  return { metadataJson: json === storedJson ? null : json, notes };
}

/** Stores the spans; returns the sums with them, and the requests of those that were stored before. */
function storeSpans(
  tables: AppendTables,
  traceKey: TraceKey,
  { append, spans, record }: Update,
): { sums: Sums; known: ReadonlyMap<string, KnownRequests> } {
  const known = new Map<string, KnownRequests>();
  const added: SpanSummary[] = [];
  const replaced: Replaced[] = [];
  for (const span of spans) {
    const next = summaryOf(span);
    if (tables.insertSpan(traceKey, span, requestsOfNew(tables, append, span))) {
      added.push(next);
      continue;
    }
    const stored = tables.findSpan(traceKey, span.spanId);
    const ownId = stored === undefined ? null : findOwnId(tables, { owner: append, traceId: append.traceId }, stored);
    const sharedId = stored?.sharedRequestId ?? null;
    if (ownId !== null || sharedId !== null) known.set(span.spanId, { ownId, sharedId });
    const presentId = presentIdOf(tables, append, span);
    const followingId = ownId === presentId ? null : ownId;
    const emittedRequestId = namesRequest(span) ? (ownId ?? presentId) : followingId;
    tables.replaceSpan(traceKey, span, { emittedRequestId, sharedRequestId: sharedId });
    if (stored !== undefined) replaced.push({ old: stored.summary, next });
  }
  return { sums: sumUp(tables, traceKey, { record, added, replaced }), known };
}

/** The calls as they are stored. Of a large trace only those in the append, with their parents. */
function listCalls(tables: AppendTables, traceKey: TraceKey, { spans, record }: Update): TraceCalls {
  if (spans.length === 0) return NO_CALLS;
  if (record.spanCount + spans.length <= SPANS_READ_THROUGH_MAX) return callsOf(tables.summaries(traceKey));
  const near = new Map<string, SpanSummary>();
  for (const span of spans) {
    if (!isCall(span)) continue;
    for (const spanId of [span.spanId, span.parentId]) {
      const stored = spanId === null || near.has(spanId) ? undefined : tables.findSpan(traceKey, spanId);
      if (stored !== undefined) near.set(stored.summary.spanId, stored.summary);
    }
  }
  return callsOf([...near.values()]);
}

type Compared = Update & { readonly before: TraceCalls };

function compareCalls(
  tables: AppendTables,
  traceKey: TraceKey,
  { before, ...update }: Compared,
): Pick<Merged, 'calls' | 'unsettled'> {
  const calls = listCalls(tables, traceKey, update);
  const { append, spans, record } = update;
  if (record.spanCount + spans.length > SPANS_READ_THROUGH_MAX) return { calls, unsettled: append.requests.length > 0 };
  const changed = [...new Set([...before.keys(), ...calls.keys()])].filter((spanId) =>
    isOtherCall(before.get(spanId), calls.get(spanId)),
  );
  return { calls, unsettled: changed.length > 0 };
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
  { traceKey, metadata: merged, calls, known, excess }: Merged & { readonly excess: ReadonlySet<string> },
): Completed {
  if (append.requests.length === 0) return NOTHING_COMPLETED;
  const winners = new Map(append.spans.map((span, index) => [span.spanId, index]));
  const metadata = repeatMetadata(once(() => readEventMetadata(merged())));
  // A span that is not stored has no request.
  const isStored = (span: Span | undefined, index: number): span is Span =>
    span !== undefined && winners.get(span.spanId) === index && !excess.has(span.spanId);
  const resolved = resolveRequests(tables, append);
  const requests = new Map<string, SpanRequest>();
  if (calls.size > 0) {
    for (const request of resolved) {
      const span = append.spans[request.spanIndex];
      if (isStored(span, request.spanIndex)) requests.set(span.spanId, request);
    }
  }
  const context = { tables, traceKey, append, metadata: metadata.next, calls, known, requests };
  let results: (RequestResult | null)[] | undefined;
  for (const [index, request] of resolved.entries()) {
    const span = append.spans[request.spanIndex];
    const result = isStored(span, request.spanIndex) ? recordCall(context, { request, span }) : null;
    if (result !== 'emitted') results ??= append.requests.slice(0, index).map(() => 'emitted');
    results?.push(result);
  }
  const isEmitted = results === undefined || results.includes('emitted');
  return { results, notes: isEmitted ? metadata.notes() : [] };
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
