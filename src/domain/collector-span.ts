/** One collected span: validated, normalised and priced, or refused. */

import { readContexts } from './collector-contexts.ts';
import { readError, readErrorClass, readHttpStatus } from './collector-error.ts';
import { readMetrics, readResultCost, type SentMetrics } from './collector-metrics.ts';
import {
  beginItem,
  isAbsent,
  type Reading,
  readArray,
  readFreeJson,
  readId,
  readInstant,
  readObject,
  readShortText,
  readText,
  refuse,
  refuseTooWide,
} from './collector-reading.ts';
import { isObject, numberOf } from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import type { Price, Pricing } from './pricing.ts';
import { gatewayRequestId } from './request-event.ts';
import { cutToCharacters } from './text-limits.ts';
import { SPAN_TYPES, type Span, type SpanRequest, type SpanType } from './trace.ts';
import { normaliseSpanId, normaliseTraceId } from './trace-ids.ts';
import { isChat, readTypedValue, readTypedValues } from './typed-value.ts';

/** The request behind a span, before its span has a place in the append. */
export type CollectedRequest = Omit<SpanRequest, 'spanIndex'>;

export type CollectedSpan = {
  readonly span: Span;
  /** Null for spans that are no requests. */
  readonly request: CollectedRequest | null;
  /** Strings that were cut. */
  readonly cuts: number;
};

export type SpanDeps = { readonly pricing: Pricing; readonly emitRequests: boolean };

const NAME_CHARACTERS_MAX = 1024;
const SPAN_TYPE_SET: ReadonlySet<string> = new Set(SPAN_TYPES);
const TYPE_REASON = `must be one of: ${SPAN_TYPES.join(', ')}`;

/** The span; null when it was refused, with the reason in `reading`. */
export function readSpan(item: LosslessJson | undefined, reading: Reading, deps: SpanDeps): CollectedSpan | null {
  beginItem(reading);
  if (!isObject(item)) return refuse(reading, '', 'must be an object');
  if (refuseTooWide(item, reading)) return null;
  // In the order of the contract's table, because the first problem is the one that is told.
  const spanId = readSpanId(item, reading);
  const type = readType(item.type, reading);
  const times = readTimes(item.timestamps, reading);
  checkTraceId(item.trace_id, reading);
  const parentId = readParentId(item.parent_id, reading);
  const name = readName(item.name, reading);
  const vendor = readShortText(item.vendor, 'vendor', reading);
  const model = readShortText(item.model, 'model', reading);
  const inputJson = readTypedValue(item.input, 'input', reading);
  const outputJson = readOutput(item, reading);
  const params = readObject(item.params, 'params', reading);
  const paramsJson = params === null ? null : readFreeJson(params, 'params', reading);
  const metrics = readMetrics(item.metrics, reading);
  const errorJson = readError(item.error, 'error', reading);
  const contextsJson = readContexts(item.contexts, reading);
  if (reading.problem !== null || spanId === null || type === null || times === null) return null;
  const { startedAtMs, finishedAtMs, firstTokenAtMs } = times;
  const { tokens, tokensEstimated, cachedTokensInPrompt, otherJson: otherMetricsJson } = metrics;
  const price = priceSpan(deps.pricing, { model, vendor, startedAtMs, metrics, output: item.output });
  const span: Span = {
    spanId,
    parentId,
    type,
    name,
    vendor,
    model,
    startedAtMs,
    finishedAtMs,
    firstTokenAtMs,
    inputJson,
    outputJson,
    paramsJson,
    promptTokens: tokens.prompt,
    completionTokens: tokens.completion,
    reasoningTokens: tokens.reasoning,
    cacheReadInputTokens: tokens.cacheRead,
    cacheCreationInputTokens: tokens.cacheCreation,
    costNanoUsd: price.costNanoUsd,
    costSource: price.source,
    tokensEstimated,
    cachedTokensInPrompt,
    otherMetricsJson,
    errorJson,
    contextsJson,
  };
  const isRequest = deps.emitRequests && type === 'llm';
  const request = isRequest ? requestOf(span, { traceId: reading.traceId, params, error: item.error, price }) : null;
  return { span, request, cuts: reading.cuts };
}

type PricedFields = {
  readonly model: string | null;
  readonly vendor: string | null;
  readonly startedAtMs: number;
  readonly metrics: SentMetrics;
  readonly output: LosslessJson | undefined;
};

function priceSpan(pricing: Pricing, { model, vendor, startedAtMs, metrics, output }: PricedFields): Price {
  return pricing.price({
    model,
    vendor,
    startedAtMs,
    tokens: metrics.tokens,
    explicitCostUsd: metrics.costUsd,
    cachedTokensInPrompt: metrics.cachedTokensInPrompt,
    resultCostUsd: readResultCost(output),
    spanRates: null,
  });
}

function readSpanId(item: LosslessObject, reading: Reading): string | null {
  const value = isAbsent(item.span_id) ? item.id : item.span_id;
  if (isAbsent(value)) return refuse(reading, 'span_id', 'is required');
  const spanId = readId(value, 'span_id', reading);
  return spanId === null ? null : normaliseSpanId(spanId);
}

function readType(value: LosslessJson | undefined, reading: Reading): SpanType | null {
  if (isAbsent(value)) return refuse(reading, 'type', 'is required');
  if (typeof value !== 'string') return refuse(reading, 'type', 'must be a string');
  return isSpanType(value) ? value : refuse(reading, 'type', TYPE_REASON);
}

function isSpanType(value: string): value is SpanType {
  return SPAN_TYPE_SET.has(value);
}

type SpanTimes = Pick<Span, 'startedAtMs' | 'finishedAtMs' | 'firstTokenAtMs'>;

function readTimes(value: LosslessJson | undefined, reading: Reading): SpanTimes | null {
  const sent = readObject(value, 'timestamps', reading);
  const startedAtMs = readRequiredInstant(sent?.started_at, 'timestamps.started_at', reading);
  const finishedAtMs = readRequiredInstant(sent?.finished_at, 'timestamps.finished_at', reading);
  const firstTokenAtMs = readFirstToken(sent?.first_token_at, reading);
  return startedAtMs === null || finishedAtMs === null ? null : { startedAtMs, finishedAtMs, firstTokenAtMs };
}

/** 0 is what clients send that never saw a token: no reason to lose the span. */
function readFirstToken(value: LosslessJson | undefined, reading: Reading): number | null {
  const field = 'timestamps.first_token_at';
  if (isAbsent(value) || numberOf(value) !== 0) return readInstant(value, field, reading);
  reading.leftOut = `.${field}: 0 is no instant and was left out`;
  return null;
}

function readRequiredInstant(value: LosslessJson | undefined, field: string, reading: Reading): number | null {
  return isAbsent(value) ? refuse(reading, field, 'is required') : readInstant(value, field, reading);
}

function checkTraceId(value: LosslessJson | undefined, reading: Reading): void {
  if (isAbsent(value)) return;
  if (typeof value !== 'string') refuse(reading, 'trace_id', 'must be a string');
  else if (normaliseTraceId(value) !== reading.traceId) {
    refuse(reading, 'trace_id', 'differs from the trace id of the request');
  }
}

function readParentId(value: LosslessJson | undefined, reading: Reading): string | null {
  // Some exporters write the missing parent of a root as an empty id.
  const parentId = value === '' ? null : readId(value, 'parent_id', reading);
  return parentId === null ? null : normaliseSpanId(parentId);
}

function readName(value: LosslessJson | undefined, reading: Reading): string | null {
  const name = readText(value, 'name', reading);
  return name === null ? null : cutToCharacters(name, NAME_CHARACTERS_MAX);
}

function readOutput(item: LosslessObject, reading: Reading): string | null {
  if (!isAbsent(item.output)) return readTypedValue(item.output, 'output', reading);
  return readTypedValues(readArray(item.outputs, 'outputs', reading), 'outputs', reading);
}

type RequestSigns = {
  readonly traceId: string;
  readonly params: LosslessObject | null;
  readonly error: LosslessJson | undefined;
  readonly price: Price;
};

function requestOf(span: Span, { traceId, params, error, price }: RequestSigns): CollectedRequest {
  const failed = span.errorJson !== null;
  return {
    gatewayRequestId: gatewayRequestId(traceId, span.spanId, params),
    requestType: isChat(span.inputJson) ? 'chat' : null,
    errorClass: failed ? readErrorClass(error) : null,
    httpStatus: failed ? readHttpStatus(error, params) : null,
    rateVersion: price.rateVersion,
  };
}
