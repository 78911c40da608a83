/** Collecting: one request becomes what storage commits as a whole, and a report of what was left out. */

import type { Project } from './caller.ts';
import { type CollectedEvaluation, readEvaluation } from './collector-evaluation.ts';
import {
  beginItem,
  type CollectFacts,
  type CollectorLimits,
  createReading,
  isAbsent,
  type Reading,
  readFreeJson,
  tidyText,
} from './collector-reading.ts';
import { type CollectedSpan, readSpan, type SpanDeps } from './collector-span.ts';
import { Fault, type JsonValue } from './fault.ts';
import { isArray, isObject, makeWellFormed } from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import type { Pricing } from './pricing.ts';
import type { Evaluation, Span, SpanRequest, TraceAppend, TraceAppended } from './trace.ts';
import { ID_CHARACTERS_MAX, isValidId, normaliseTraceId } from './trace-ids.ts';
import { readMetadata } from './trace-metadata.ts';

export type { CollectFacts, CollectorLimits } from './collector-reading.ts';

export type CollectorDeps = { readonly limits: CollectorLimits; readonly pricing: Pricing };

export type Collected = {
  readonly append: TraceAppend;
  readonly rejectedSpans: number;
  readonly rejectedEvaluations: number;
  /** One for each rejected span first, then evaluations, metadata, and what was cut. */
  readonly reasons: readonly string[];
  /** Where in the request the spans of the append were. */
  readonly spanPlaces: readonly number[];
};

export type CollectReport = {
  readonly rejectedSpans: number;
  readonly rejectedEvaluations: number;
  readonly errorMessage: string;
};

/** Where and when a request arrived. */
export type Arrival = {
  readonly project: Project;
  readonly nowMs: number;
  /** Traces of the project that came in before are past their term; null: none is. */
  readonly goneBeforeMs: number | null;
};

const TOLD_REASONS_MAX = 100;

/**
 * Judges a body item by item. Throws a Fault when it is no collector request at all, or when nothing
 * of it can be stored.
 */
export function collect(body: JsonValue, facts: CollectFacts, at: Arrival, deps: CollectorDeps): Collected {
  try {
    return judge(body, facts, at, deps);
  } catch (error) {
    throw error instanceof Fault ? namingTrace(error, postedTraceId(body)) : error;
  }
}

function judge(body: JsonValue, facts: CollectFacts, at: Arrival, deps: CollectorDeps): Collected {
  const { sent, spans, evaluations } = openBody(body, facts, deps.limits);
  const traceId = readTraceId(sent, spans);
  const reading = createReading({ limits: deps.limits, facts, receivedAtMs: at.nowMs, traceId });
  const tally: Tally = { rejectedSpans: 0, rejectedEvaluations: 0, reasons: [], leftOut: [], cuts: 0 };
  const spanDeps = { pricing: deps.pricing, emitRequests: at.project.emitRequestEvents };
  const collectedSpans = collectSpans(spans, { reading, tally, deps: spanDeps });
  const collectedEvaluations = collectEvaluations(evaluations, reading, tally);
  const carriesItems = spans.length + evaluations.length > 0;
  const keepsItems = collectedSpans.size + collectedEvaluations.size > 0;
  if (carriesItems && !keepsItems) throw nothingStored(tally.reasons);

  for (const reason of tally.leftOut) tally.reasons.push(reason);
  const metadata = readMetadata(sent, reading);
  for (const reason of metadata.reasons) tally.reasons.push(reason);
  tally.cuts += metadata.cuts;
  const expectedOutput = readExpectedOutput(sent.expected_output, reading, tally);
  if (!keepsItems && metadata.json === null && expectedOutput === undefined) {
    throw nothingStored([...tally.reasons, 'nothing to store']);
  }
  const placed = placeSpans(collectedSpans, tally);
  const append: TraceAppend = {
    projectId: at.project.id,
    projectNumber: at.project.number,
    organizationId: at.project.organizationId,
    organizationNumber: at.project.organizationNumber,
    traceId,
    receivedAtMs: at.nowMs,
    goneBeforeMs: at.goneBeforeMs,
    spansMax: deps.limits.spansPerTraceMax,
    metadataJson: metadata.json,
    expectedOutput,
    spans: placed.spans,
    requests: placed.requests,
    evaluations: placeEvaluations(collectedEvaluations, tally),
  };
  if (tally.cuts > 0) {
    tally.reasons.push(`${tally.cuts} string(s) truncated to ${deps.limits.stringMaxBytes} bytes`);
  }
  const { rejectedSpans, rejectedEvaluations, reasons } = tally;
  return { append, rejectedSpans, rejectedEvaluations, spanPlaces: placed.places, reasons };
}

/** What the sender hears once the append is stored. Throws when the trace had room for nothing of it. */
export function reportCollected(
  { append, rejectedSpans, rejectedEvaluations, spanPlaces, reasons }: Collected,
  { metadataNotes, refusedSpans = [] }: TraceAppended,
): CollectReport {
  const refused = refusedSpans.map(
    (index) => `spans[${spanPlaces[index]}]: too many spans, maximum of ${append.spansMax} per trace`,
  );
  const told = [...reasons.toSpliced(rejectedSpans, 0, ...refused), ...metadataNotes];
  const isStored = refused.length < append.spans.length || append.evaluations.length > 0;
  if (refused.length > 0 && !isStored) throw namingTrace(nothingStored(told), append.traceId);
  return { rejectedSpans: rejectedSpans + refused.length, rejectedEvaluations, errorMessage: reportText(told) };
}

function nothingStored(reasons: readonly string[]): Fault {
  return refusal('validation_error', `Validation error: ${reportText(reasons)}`);
}

/** The reasons as one text of bounded length. */
function reportText(reasons: readonly string[]): string {
  if (reasons.length <= TOLD_REASONS_MAX) return reasons.join('; ');
  return [...reasons.slice(0, TOLD_REASONS_MAX), `and ${reasons.length - TOLD_REASONS_MAX} more`].join('; ');
}

type Tally = {
  rejectedSpans: number;
  rejectedEvaluations: number;
  readonly reasons: string[];
  /** Of fields without which their items are kept. */
  readonly leftOut: string[];
  cuts: number;
};

type OpenBody = {
  readonly sent: LosslessObject;
  readonly spans: readonly LosslessJson[];
  readonly evaluations: readonly LosslessJson[];
};

function openBody(body: LosslessJson, facts: CollectFacts, limits: CollectorLimits): OpenBody {
  if (!isObject(body)) throw refusal('malformed_request', 'Invalid body, expecting json');
  const sent = facts.hasEscapes ? makeWellFormed(body) : body;
  const spans = readItems(sent.spans, 'spans');
  const evaluations = readItems(sent.evaluations, 'evaluations');
  checkCount(spans, 'spans', limits.spansMax);
  checkCount(evaluations, 'evaluations', limits.evaluationsMax);
  return { sent, spans, evaluations };
}

function readItems(value: LosslessJson | undefined, field: string): readonly LosslessJson[] {
  if (isAbsent(value)) return [];
  if (isArray(value)) return value;
  throw refusal('validation_error', `Invalid '${field}' field, expecting array`);
}

function checkCount(items: readonly LosslessJson[], field: string, countMax: number): void {
  if (items.length <= countMax) return;
  throw new Fault('payload_too_large', `Too many ${field}, maximum of ${countMax} per request`);
}

/** The family of the collector prints one text in both members, whatever the code. */
function refusal(code: 'malformed_request' | 'validation_error', message: string): Fault {
  return new Fault(code, message, { kind: 'bad_request', flatError: message });
}

/** A refusal that says which trace it is about: errors have ids of their own. */
function namingTrace(fault: Fault, traceId: string | null): Fault {
  if (traceId === null) return fault;
  const { code, message, kind, flatError } = fault;
  return new Fault(code, message, { kind, flatError, meta: { ...fault.meta, postedTraceId: traceId } });
}

function postedTraceId(body: LosslessJson): string | null {
  if (!isObject(body)) return null;
  const value = traceIdIn(body, isArray(body.spans) ? body.spans : []);
  return typeof value === 'string' && isValidId(value) ? value : null;
}

function traceIdIn(sent: LosslessObject, spans: readonly LosslessJson[]): LosslessJson | undefined {
  return isAbsent(sent.trace_id) ? spans.find(isObject)?.trace_id : sent.trace_id;
}

function readTraceId(sent: LosslessObject, spans: readonly LosslessJson[]): string {
  const value = traceIdIn(sent, spans);
  if (isAbsent(value)) throw refusal('validation_error', 'Trace ID not defined');
  if (typeof value === 'string' && isValidId(value)) return normaliseTraceId(value);
  const reason = `trace_id: must be a string of 1 to ${ID_CHARACTERS_MAX} characters`;
  throw refusal('validation_error', `Validation error: ${reason}`);
}

type SpanContext = { readonly reading: Reading; readonly tally: Tally; readonly deps: SpanDeps };

type PlacedSpan = { readonly read: CollectedSpan; readonly place: number };

/** By id, so that of two equal ids the later one stays. */
function collectSpans(items: readonly LosslessJson[], context: SpanContext): ReadonlyMap<string, PlacedSpan> {
  const { reading, tally, deps } = context;
  const collected = new Map<string, PlacedSpan>();
  for (let index = 0; index < items.length; index += 1) {
    const read = readSpan(items[index], reading, deps);
    if (read !== null) {
      collected.set(read.span.spanId, { read, place: index });
      if (reading.leftOut !== null) tally.leftOut.push(`spans[${index}]${reading.leftOut}`);
      continue;
    }
    tally.rejectedSpans += 1;
    tally.reasons.push(`spans[${index}]${reading.problem ?? ''}`);
  }
  return collected;
}

function collectEvaluations(
  items: readonly LosslessJson[],
  reading: Reading,
  tally: Tally,
): ReadonlyMap<string, CollectedEvaluation> {
  const collected = new Map<string, CollectedEvaluation>();
  for (let index = 0; index < items.length; index += 1) {
    const read = readEvaluation(items[index], reading);
    if (read !== null) {
      collected.set(read.evaluation.evaluationId, read);
      continue;
    }
    tally.rejectedEvaluations += 1;
    tally.reasons.push(`evaluations[${index}]${reading.problem ?? ''}`);
  }
  return collected;
}

/** A text is kept as it is, anything else as its compact JSON; undefined when none was sent. */
function readExpectedOutput(value: LosslessJson | undefined, reading: Reading, tally: Tally): string | undefined {
  if (isAbsent(value)) return undefined;
  beginItem(reading);
  const text = typeof value === 'string' ? tidyText(value, reading) : readFreeJson(value, 'expected_output', reading);
  if (text === null) {
    tally.reasons.push((reading.problem ?? '').slice(1));
    return undefined;
  }
  tally.cuts += reading.cuts;
  return text;
}

/** The spans, and the requests behind them by their place. */
function placeSpans(
  collected: ReadonlyMap<string, PlacedSpan>,
  tally: Tally,
): { readonly spans: readonly Span[]; readonly requests: readonly SpanRequest[]; readonly places: readonly number[] } {
  const spans: Span[] = [];
  const requests: SpanRequest[] = [];
  const places: number[] = [];
  for (const { read, place } of collected.values()) {
    const { span, request, cuts } = read;
    places.push(place);
    if (request !== null) {
      const { gatewayRequestId, requestType, errorClass, httpStatus, rateVersion } = request;
      requests.push({ spanIndex: spans.length, gatewayRequestId, requestType, errorClass, httpStatus, rateVersion });
    }
    spans.push(span);
    tally.cuts += cuts;
  }
  return { spans, requests, places };
}

function placeEvaluations(collected: ReadonlyMap<string, CollectedEvaluation>, tally: Tally): readonly Evaluation[] {
  const evaluations: Evaluation[] = [];
  for (const { evaluation, cuts } of collected.values()) {
    evaluations.push(evaluation);
    tally.cuts += cuts;
  }
  return evaluations;
}
