/** Collects traces: turns drafts into atomic appends, with the reasons for what was left out. */

import { writeJsonInSteps } from '../../../json/free-json-steps.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import type { Project } from '../../caller.ts';
import { Fault } from '../../fault.ts';
import type { Prices } from '../../pricing/prices.ts';
import type { Steps } from '../../steps.ts';
import type { PromptLinks } from '../prompt-links.ts';
import type { Evaluation, Span, SpanRequest } from '../trace.ts';
import { ID_CHARACTERS_MAX, isValidId, normaliseTraceId } from '../trace-ids.ts';
import { readMetadata } from '../trace-metadata.ts';
import {
  type BatchDraft,
  type DraftList,
  type EvaluationDraft,
  type ItemReason,
  isUnreadable,
  type Sent,
  type SpanDraft,
  type TraceDraft,
  type TypedDraft,
} from './collector-draft.ts';
import { type CollectedEvaluation, readEvaluation } from './collector-evaluation.ts';
import { addLinkOf, linksOf } from './collector-links.ts';
import { type CollectorLimits, createReading, type Reading } from './collector-reading.ts';
import { type Collected, namingTrace, nothingStored, refusal, type ValidatedTrace } from './collector-report.ts';
import { readSent } from './collector-sent.ts';
import { type CollectedSpan, readSpan, type SpanDeps } from './collector-span.ts';
import type { Losses } from './losses.ts';

export type { CollectorLimits } from './collector-reading.ts';

/** The free JSON of a smaller request is written within one turn of the event loop. */
const AT_ONCE_MAX_BYTES = 1024 * 1024;

type CollectorDeps = {
  readonly limits: CollectorLimits;
  readonly prices: Pick<Prices, 'price' | 'measure'>;
  /** Gets what is not stored, also of a request that is refused for it. */
  readonly losses: Losses;
};

/** Where and when a request arrived. */
export type Arrival = {
  readonly project: Project;
  readonly nowMs: number;
  /** Traces first received before this instant have expired; null: none has. */
  readonly expiredBeforeMs: number | null;
};

/** Validates a trace item by item. Throws a Fault when it breaks a limit or nothing of it can be stored. */
export function* collect(draft: TraceDraft, at: Arrival, deps: CollectorDeps): Steps<Collected> {
  try {
    if (isUnreadable(draft.spans)) throw noArray('spans');
    if (isUnreadable(draft.evaluations)) throw noArray('evaluations');
    checkCounts([draft], 0, deps.limits);
    const { collected, isStorable } = yield* validateTrace(draft, readTraceId(draft.traceId), {
      at,
      deps,
      grown: { items: 0 },
    });
    noteLosses([collected], 0, at, deps);
    if (!isStorable) throw nothingStored(collected);
    return collected;
  } catch (error) {
    const { traceId } = draft;
    const isNamed = typeof traceId === 'string' && isValidId(traceId);
    throw error instanceof Fault && isNamed ? namingTrace(error, traceId) : error;
  }
}

/** Validates traces item by item. Throws payload_too_large. */
export function* collectBatch(batch: BatchDraft, at: Arrival, deps: CollectorDeps): Steps<readonly ValidatedTrace[]> {
  const { traces, refused } = batch;
  checkCounts(traces, refused.length, deps.limits);
  const validated: ValidatedTrace[] = [];
  const validation = { at, deps, grown: { items: 0 } };
  for (const draft of traces) {
    if (validated.length > 0) yield;
    validated.push(yield* validateTrace(draft, normaliseTraceId(draft.traceId), validation));
  }
  const all = validated.map(({ collected }) => collected);
  noteLosses(all, refused.length, at, deps);
  return validated;
}

function noteLosses(
  all: readonly Collected[],
  otherSpans: number,
  { project, nowMs }: Arrival,
  { losses }: CollectorDeps,
): void {
  const refusedSpans = all.reduce((sum, { refusedSpans }) => sum + refusedSpans.length, otherSpans);
  losses.note({ projectId: project.id, nowMs, refusedSpans, dropped: all.flatMap(({ dropped }) => dropped) });
}

function noArray(field: string): Fault {
  return refusal('validation_error', `Invalid '${field}' field, expecting array`);
}

function checkCounts(drafts: readonly TraceDraft[], otherSpans: number, limits: CollectorLimits): void {
  let [spans, evaluations] = [otherSpans, 0];
  for (const draft of drafts) {
    spans += listOf(draft.spans).length;
    evaluations += listOf(draft.evaluations).length;
  }
  checkCount(spans, 'spans', limits.spansMax);
  checkCount(evaluations, 'evaluations', limits.evaluationsMax);
}

/** Throws payload_too_large. */
export function checkCount(count: number, field: string, countMax: number): void {
  if (count <= countMax) return;
  throw new Fault('payload_too_large', `Too many ${field}, maximum of ${countMax} per request`);
}

function readTraceId(sent: Sent<string>): string {
  if (sent === undefined) throw refusal('validation_error', 'Trace ID not defined');
  if (typeof sent === 'string' && isValidId(sent)) return normaliseTraceId(sent);
  const reason = `trace_id: must be a string of 1 to ${ID_CHARACTERS_MAX} characters`;
  throw refusal('validation_error', `Validation error: ${reason}`);
}

type Validation = { readonly at: Arrival; readonly deps: CollectorDeps; readonly grown: Reading['grown'] };

function* validateTrace(draft: TraceDraft, traceId: string, { at, deps, grown }: Validation): Steps<ValidatedTrace> {
  const { limits, prices } = deps;
  const { project, nowMs, expiredBeforeMs } = at;
  const reading = createReading({ limits, facts: draft.facts, receivedAtMs: nowMs, traceId, grown });
  const tally: Tally = { refusedSpans: [], refusedEvaluations: [], spanNotes: [], notes: [], dropped: [], cuts: 0 };
  const links = linksOf(draft);
  const spans = yield* collectSpans(draft, {
    ...{ reading, tally, links },
    deps: { prices, emitRequests: project.emitRequestEvents },
  });
  const evaluations = yield* collectEvaluations(draft, reading, tally);
  const keepsItems = spans.size + evaluations.size > 0;
  // If items were sent but none is storable, the rest is not stored either.
  const isRefused = !keepsItems && tally.refusedSpans.length + tally.refusedEvaluations.length > 0;
  const metadataJson = isRefused ? null : yield* collectMetadata(draft, reading, tally);
  const sent = isRefused ? {} : readSent(draft, reading, tally);
  const isStorable = keepsItems || metadataJson !== null || Object.values(sent).some((value) => value !== undefined);
  const { indexes: spanIndexes, ...listed } = listSpans(spans, tally);
  const append = {
    ...sent,
    projectId: project.id,
    projectNumber: project.number,
    organizationId: project.organizationId,
    organizationNumber: project.organizationNumber,
    traceId,
    receivedAtMs: nowMs,
    expiredBeforeMs,
    spansMax: limits.spansPerTraceMax,
    metadataJson,
    spans: listed.spans,
    requests: listed.requests,
    evaluations: listEvaluations(evaluations, tally),
  };
  const { stringMaxBytes } = limits;
  return { collected: { ...tally, append, spanIndexes, stringMaxBytes, links: [...links.values()] }, isStorable };
}

type Tally = {
  readonly refusedSpans: ItemReason[];
  readonly refusedEvaluations: ItemReason[];
  readonly spanNotes: ItemReason[];
  readonly notes: string[];
  readonly dropped: string[];
  cuts: number;
};

function listOf<T>(sent: Sent<DraftList<T>>): DraftList<T> {
  return sent === undefined || isUnreadable(sent) ? [] : sent;
}

type SpanContext = {
  readonly reading: Reading;
  readonly tally: Tally;
  readonly links: PromptLinks;
  readonly deps: SpanDeps;
};

type IndexedSpan = { readonly read: CollectedSpan; readonly index: number };

/** By id, so that the later of two equal ids stays. */
function* collectSpans(
  draft: TraceDraft,
  { reading, tally, links, deps }: SpanContext,
): Steps<ReadonlyMap<string, IndexedSpan>> {
  const items: DraftList<SpanDraft> = listOf(draft.spans);
  const collected = new Map<string, IndexedSpan>();
  const isLarge = reading.facts.bytes > AT_ONCE_MAX_BYTES;
  for (let index = 0; index < items.length; index += 1) {
    if (index > 0) yield;
    const sent = items.at(index);
    if (isLarge) reading.written = yield* writeAhead(sent);
    const read = readSpan(sent, reading, deps);
    const sentIndex = draft.indexes?.spans[index] ?? index;
    if (read === null) tally.refusedSpans.push({ index: sentIndex, reason: reading.problem ?? '' });
    else {
      collected.set(read.span.spanId, { read, index: sentIndex });
      addLinkOf(sent, links);
      for (const reason of reading.notes) tally.spanNotes.push({ index: sentIndex, reason });
      tally.dropped.push(...reading.dropped);
    }
  }
  reading.written = null;
  return collected;
}

/** The texts of free JSON in a span. */
function* writeAhead(span: Sent<SpanDraft> | undefined): Steps<ReadonlyMap<LosslessJson, string>> {
  const texts = new Map<LosslessJson, string>();
  if (span === undefined || isUnreadable(span)) return texts;
  const { input, output, params, telemetry } = span;
  for (const value of [contentOf(input), contentOf(output), params, telemetry]) {
    if (value !== undefined && !isUnreadable(value)) texts.set(value, yield* writeJsonInSteps(value));
  }
  return texts;
}

function contentOf(sent: Sent<TypedDraft>): Sent<LosslessJson> {
  return sent === undefined || isUnreadable(sent) ? undefined : sent.value;
}

function* collectEvaluations(
  draft: TraceDraft,
  reading: Reading,
  tally: Tally,
): Steps<ReadonlyMap<string, CollectedEvaluation>> {
  const items: DraftList<EvaluationDraft> = listOf(draft.evaluations);
  const collected = new Map<string, CollectedEvaluation>();
  for (let index = 0; index < items.length; index += 1) {
    if (index > 0) yield;
    const read = readEvaluation(items.at(index), reading);
    const sentIndex = draft.indexes?.evaluations[index] ?? index;
    if (read === null) tally.refusedEvaluations.push({ index: sentIndex, reason: reading.problem ?? '' });
    else collected.set(read.evaluation.evaluationId, read);
  }
  return collected;
}

function* collectMetadata({ metadata: drafts }: TraceDraft, reading: Reading, tally: Tally): Steps<string | null> {
  const { json, reasons, cuts } = yield* readMetadata(drafts, reading);
  tally.notes.push(...reasons);
  for (const _ of reasons) tally.dropped.push('metadata');
  tally.cuts += cuts;
  return json;
}

type SpanList = {
  readonly spans: readonly Span[];
  /** Sorted by span index. */
  readonly requests: readonly SpanRequest[];
  /** Span indexes in the request. */
  readonly indexes: readonly number[];
};

function listSpans(collected: ReadonlyMap<string, IndexedSpan>, tally: Tally): SpanList {
  const spans: Span[] = [];
  const requests: SpanRequest[] = [];
  const indexes: number[] = [];
  for (const { read, index } of collected.values()) {
    const { span, request, cuts } = read;
    indexes.push(index);
    if (request !== null) {
      const { gatewayRequestId, requestType, errorClass, httpStatus, rateVersion } = request;
      requests.push({ spanIndex: spans.length, gatewayRequestId, requestType, errorClass, httpStatus, rateVersion });
    }
    spans.push(span);
    tally.cuts += cuts;
  }
  return { spans, requests, indexes };
}

function listEvaluations(collected: ReadonlyMap<string, CollectedEvaluation>, tally: Tally): readonly Evaluation[] {
  const evaluations: Evaluation[] = [];
  for (const { evaluation, cuts } of collected.values()) {
    evaluations.push(evaluation);
    tally.cuts += cuts;
  }
  return evaluations;
}
