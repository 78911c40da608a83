/** One collected span: validated, normalised and priced, or refused. */

import { hash } from 'node:crypto';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { gatewayRequestId } from '../../events/request-event.ts';
import type { Prices } from '../../pricing/prices.ts';
import type { Price, PriceQuery } from '../../pricing/pricing.ts';
import { cutToCharacters } from '../../text-limits.ts';
import { type CallKind, callKindOf, requestTypeOf } from '../calls.ts';
import { SPAN_TYPES, type Span, type SpanRequest, type SpanType } from '../trace.ts';
import { ID_CHARACTERS_MAX, isValidId, normaliseSpanId, normaliseTraceId } from '../trace-ids.ts';
import { readDetails } from './collector-details.ts';
import {
  type ContextDraft,
  type DraftList,
  type ErrorDraft,
  isUnreadable,
  type Sent,
  type SpanDraft,
} from './collector-draft.ts';
import { findHttpStatus, readError, readErrorKind } from './collector-error.ts';
import { isBlank } from './collector-json.ts';
import { readMetrics, readResultCost, type SentMetrics } from './collector-metrics.ts';
import {
  beginItem,
  countGrown,
  leaveOut,
  type Reading,
  readFreeJson,
  readId,
  readInstant,
  readOptionalInstant,
  readShortText,
  readText,
  refuse,
  reject,
} from './collector-reading.ts';
import { readTypedValue } from './typed-value.ts';

/** The request of a span that has no index in the append yet. */
type CollectedRequest = Omit<SpanRequest, 'spanIndex'>;

export type CollectedSpan = {
  readonly span: Span;
  /** Null for spans that are not requests. */
  readonly request: CollectedRequest | null;
  /** Number of cut strings. */
  readonly cuts: number;
};

export type SpanDeps = { readonly prices: Pick<Prices, 'price' | 'measure'>; readonly emitRequests: boolean };

const NAME_CHARACTERS_MAX = 1024;
const SPAN_TYPE_SET: ReadonlySet<string> = new Set(SPAN_TYPES);
const ID_REASON = `must be a string of 1 to ${ID_CHARACTERS_MAX} characters`;
const TYPE_REASON = `must be one of: ${SPAN_TYPES.join(', ')}`;

/** The span; null when it was refused, with the reason in `reading`. */
export function readSpan(sent: Sent<SpanDraft>, reading: Reading, deps: SpanDeps): CollectedSpan | null {
  beginItem(reading, { toleratesFields: true });
  if (sent === undefined) return refuse(reading, '', 'is required');
  if (isUnreadable(sent)) return refuse(reading, sent.path, sent.reason);
  for (const { path, reason } of sent.dropped) leaveOut(reading, path, reason);
  // In the order of the contract's table, because only the first problem is reported.
  const spanId = readSpanId(sent.spanId, reading);
  const type = readType(sent.type, reading);
  const times = readTimes(sent, reading);
  checkTraceId(sent.traceId, reading);
  const parentId = readParentId(sent.parentId, reading);
  const name = readName(sent.name, reading);
  const vendor = readLabel(sent.vendor, 'vendor', reading);
  const model = readLabel(sent.model, 'model', reading);
  const inputJson = readTypedValue(sent.input, reading);
  const outputJson = readTypedValue(sent.output, reading);
  const paramsJson = readFreeJson(sent.params, 'params', reading);
  const metrics = readMetrics(sent.metrics, reading);
  const errorJson = readError(sent.error, reading);
  const contextsJson = readContexts(sent.contexts, reading);
  const telemetryJson = readFreeJson(sent.telemetry, 'telemetry', reading);
  if (reading.problem !== null || spanId === null || type === null || times === null) return null;
  const { startedAtMs } = times;
  const { tokens, tokensEstimated, cachedTokensInPrompt, otherJson: otherMetricsJson } = metrics;
  const query = priceQueryOf(sent, { model, vendor, startedAtMs, metrics });
  const price = deps.prices.price(query);
  const telemetry = sent.telemetry === undefined || isUnreadable(sent.telemetry) ? null : sent.telemetry;
  const call = callKindOf({ type, name, model, telemetry });
  const { totalInput, totalOutput, callRow, shareRates } = deps.prices.measure(query, {
    source: price.source,
    isCall: call !== null,
  });
  const span: Span = {
    spanId,
    parentId,
    type,
    name,
    vendor,
    model,
    startedAtMs,
    finishedAtMs: times.finishedAtMs,
    firstTokenAtMs: times.firstTokenAtMs,
    startedNs: times.startedNs,
    finishedNs: times.finishedNs,
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
    totalInput,
    totalOutput,
    callRow,
    shareRates,
    tokensEstimated,
    cachedTokensInPrompt,
    otherMetricsJson,
    errorJson,
    contextsJson,
    telemetryJson,
  };
  const isRequest = deps.emitRequests && call !== null;
  const request = isRequest ? requestOf(span, sent, { traceId: reading.traceId, price, call }) : null;
  return { span, request, cuts: reading.cuts };
}

type PricedFields = Pick<Span, 'model' | 'vendor' | 'startedAtMs'> & { readonly metrics: SentMetrics };

function priceQueryOf(
  { output, rates, metrics: sent, params }: SpanDraft,
  { model, vendor, startedAtMs, metrics }: PricedFields,
): PriceQuery {
  const members = sent === undefined || isUnreadable(sent) ? undefined : sent.others;
  return {
    model,
    vendor,
    startedAtMs,
    tokens: metrics.tokens,
    details: readDetails(members, params),
    explicitCostUsd: metrics.costUsd,
    cachedTokensInPrompt: metrics.cachedTokensInPrompt,
    resultCostUsd: output === undefined || isUnreadable(output) ? null : readResultCost(output),
    spanRates: rates ?? null,
  };
}

function readSpanId(sent: Sent<string>, reading: Reading): string | null {
  if (sent === undefined) return refuse(reading, 'span_id', 'is required');
  if (typeof sent === 'string' && isValidId(sent)) return normaliseSpanId(sent);
  return refuse(reading, 'span_id', ID_REASON);
}

function readType(sent: Sent<string>, reading: Reading): SpanType | null {
  if (sent === undefined) return refuse(reading, 'type', 'is required');
  if (isUnreadable(sent)) return refuse(reading, sent.path, sent.reason);
  return isSpanType(sent) ? sent : refuse(reading, 'type', TYPE_REASON);
}

function isSpanType(value: string): value is SpanType {
  return SPAN_TYPE_SET.has(value);
}

type SpanTimes = Pick<Span, 'startedAtMs' | 'finishedAtMs' | 'firstTokenAtMs' | 'startedNs' | 'finishedNs'>;

function readTimes(sent: SpanDraft, reading: Reading): SpanTimes | null {
  const start = readTime(sent, 'started', reading);
  const end = readTime(sent, 'finished', reading);
  const firstTokenAtMs = readFirstToken(sent.firstTokenAt, sent.telemetry !== undefined, reading);
  if (start === null || end === null) return null;
  return {
    startedAtMs: start.atMs,
    finishedAtMs: end.atMs,
    firstTokenAtMs,
    startedNs: start.ns,
    finishedNs: end.ns,
  };
}

function readTime(
  sent: SpanDraft,
  side: 'started' | 'finished',
  reading: Reading,
): { readonly atMs: number; readonly ns: number | null } | null {
  const field = `timestamps.${side}_at`;
  const { ownTimes } = sent;
  const toldAtMs = ownTimes === undefined ? null : readOptionalInstant(sent[`${side}At`], field, reading);
  if (toldAtMs !== null) return { atMs: toldAtMs, ns: sent[`${side}Ns`] ?? null };
  const own = ownTimes ?? sent;
  const atMs = readRequiredInstant(own[`${side}At`], field, reading);
  return atMs === null ? null : { atMs, ns: own[`${side}Ns`] ?? null };
}

/**
 * Clients that saw no token send 0, which must not refuse the span. In OpenTelemetry it is one of many attributes, which
 * never refuse the span.
 */
function readFirstToken(sent: Sent<number>, isAttribute: boolean, reading: Reading): number | null {
  const field = 'timestamps.first_token_at';
  if (sent === 0) return leaveOut(reading, field, '0 is not an instant and was left out');
  return isAttribute ? readOptionalInstant(sent, field, reading) : readInstant(sent, field, reading);
}

function readRequiredInstant(sent: Sent<number>, field: string, reading: Reading): number | null {
  return sent === undefined ? refuse(reading, field, 'is required') : readInstant(sent, field, reading);
}

function checkTraceId(sent: Sent<string>, reading: Reading): void {
  if (sent === undefined) return;
  if (isUnreadable(sent)) refuse(reading, sent.path, sent.reason);
  else if (normaliseTraceId(sent) !== reading.traceId) {
    refuse(reading, 'trace_id', 'differs from the trace id of the request');
  }
}

function readParentId(sent: Sent<string>, reading: Reading): string | null {
  // Some exporters write the missing parent of a root as an empty id.
  const parentId = sent === '' ? null : readId(sent, 'parent_id', reading);
  return parentId === null ? null : normaliseSpanId(parentId);
}

/** A name of many. SDKs write words such as "unknown" where they have none. */
function readLabel(sent: Sent<string>, field: string, reading: Reading): string | null {
  const label = readShortText(sent, field, reading);
  return isBlank(label) ? null : label;
}

function readName(sent: Sent<string>, reading: Reading): string | null {
  const name = readText(sent, reading);
  return isBlank(name) ? null : cutToCharacters(name, NAME_CHARACTERS_MAX);
}

type Around = { readonly traceId: string; readonly price: Price; readonly call: NonNullable<CallKind> };

function requestOf(span: Span, sent: SpanDraft, { traceId, price, call }: Around): CollectedRequest {
  const params = sent.params === undefined || isUnreadable(sent.params) ? null : sent.params;
  const failure = sent.error === undefined || isUnreadable(sent.error) ? null : sent.error;
  return {
    gatewayRequestId: gatewayRequestId(traceId, span.spanId, params),
    requestType: requestTypeOf(call, span.inputJson),
    errorClass: failure === null ? null : readErrorKind(failure.kind),
    httpStatus: failure === null ? null : httpStatusOf(failure, params),
    rateVersion: price.rateVersion,
  };
}

/** From the error, or else from the parameters of the call. */
function httpStatusOf({ httpStatus }: ErrorDraft, params: LosslessObject | null): number | null {
  return findHttpStatus([httpStatus, params?.http_status, params?.['http.response.status_code']]) ?? null;
}

/** Compact JSON text of [{"document_id","chunk_id","content"}]; null when there is none. */
function readContexts(sent: Sent<DraftList<ContextDraft>>, reading: Reading): string | null {
  if (sent === undefined) return null;
  if (isUnreadable(sent)) return reject(reading, sent.path, sent.reason);
  if (sent.length === 0 || !countGrown(sent.length, 'contexts', reading)) return null;
  const texts: string[] = [];
  for (let index = 0; index < sent.length && reading.problem === null; index += 1) {
    const text = readContext(sent.at(index), `contexts[${index}]`, reading);
    // Contexts without one of them would be other contexts.
    if (text === null) return null;
    texts.push(text);
  }
  return `[${texts.join(',')}]`;
}

/** null: the context cannot be read. */
function readContext(sent: Sent<ContextDraft>, field: string, reading: Reading): string | null {
  if (typeof sent === 'string') {
    // Equal texts get the same document id.
    const documentId = JSON.stringify(hash('md5', sent, 'hex'));
    return contextText(documentId, 'null', readFreeJson(sent, field, reading) ?? '""');
  }
  if (sent === undefined || isUnreadable(sent)) {
    return reject(reading, sent?.path ?? field, sent?.reason ?? 'is required');
  }
  const { documentId, chunkId, content } = sent;
  const wrong = [documentId, chunkId, content].find(isUnreadable);
  if (wrong !== undefined) return reject(reading, wrong.path, wrong.reason);
  if (content === undefined) return reject(reading, `${field}.content`, 'is required');
  const documentText = readFreeJson(documentId, `${field}.document_id`, reading) ?? 'null';
  const chunkText = readFreeJson(chunkId, `${field}.chunk_id`, reading) ?? 'null';
  return contextText(documentText, chunkText, readContent(content, `${field}.content`, reading));
}

function contextText(documentId: string, chunkId: string, content: string): string {
  return `{"document_id":${documentId},"chunk_id":${chunkId},"content":${content}}`;
}

function readContent(sent: Sent<LosslessJson>, field: string, reading: Reading): string {
  const text = readFreeJson(sent, field, reading) ?? '""';
  return typeof sent === 'string' ? text : JSON.stringify(text);
}
