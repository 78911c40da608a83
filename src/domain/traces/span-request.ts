/** The request behind an llm span: its id, and what the span reports about it. */

import { isObject } from '../../json/free-json.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';
import type { EventMetadata } from '../events/event-metadata.ts';
import type { RequestContent, RequestUsage } from '../events/request-content.ts';
import { gatewayRequestId } from '../events/request-event.ts';
import type { Span, SpanRequest } from './trace.ts';

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
  const isCounted =
    promptTokens !== null ||
    completionTokens !== null ||
    reasoningTokens !== null ||
    cacheReadInputTokens !== null ||
    cacheCreationInputTokens !== null;
  if (!isCounted) return null;
  return {
    inputTokens: promptTokens ?? 0,
    outputTokens: completionTokens ?? 0,
    cacheReadInputTokens: cacheReadInputTokens ?? 0,
    cacheCreationInputTokens: cacheCreationInputTokens ?? 0,
    reasoningTokens: reasoningTokens ?? 0,
  };
}
