/** What is known of a request beside its ids: told by a span or a report, and kept from its admission on. */

import type { EventMetadata } from './event-metadata.ts';
import type { Span, SpanRequest } from './trace.ts';

/** Whole numbers of tokens. */
export type RequestUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly reasoningTokens: number;
};

export type RequestError = { readonly class: string | null; readonly httpStatus: number | null };

export type RequestCost = {
  readonly nanoUsd: number;
  /** Of the price list; null when somebody else than the list says what it cost. */
  readonly rateVersion: string | null;
};

/** Null, and an empty text, list or object, stand for what nobody has told. */
export type RequestContent = {
  readonly occurredAtMs: number;
  readonly virtualKeyId: string;
  readonly principalUserId: string | null;
  readonly endUserId: string | null;
  readonly traceId: string;
  readonly model: string | null;
  readonly modelProviderId: string | null;
  readonly requestType: string | null;
  readonly usage: RequestUsage | null;
  readonly error: RequestError | null;
  readonly durationMs: number | null;
  /** Compact JSON text of a list of strings. */
  readonly labelsJson: string;
  /** Compact JSON text of an object. */
  readonly metadataJson: string;
};

/** What is kept of an admitted request until nothing more can come of it. */
export type Admission = {
  readonly organizationId: string;
  readonly projectId: string;
  readonly content: RequestContent;
  readonly cost: RequestCost | null;
};

export function packAdmission(admission: Admission): string {
  return JSON.stringify(admission);
}

export function unpackAdmission(text: string): Admission {
  return JSON.parse(text) as Admission;
}

/** What an outcome says, and of its request what it leaves out. When it was, and what went wrong, is its own to say. */
export function completeContent(told: RequestContent, known: RequestContent): RequestContent {
  return {
    occurredAtMs: told.occurredAtMs,
    virtualKeyId: told.virtualKeyId === '' ? known.virtualKeyId : told.virtualKeyId,
    principalUserId: told.principalUserId ?? known.principalUserId,
    endUserId: told.endUserId ?? known.endUserId,
    traceId: told.traceId === '' ? known.traceId : told.traceId,
    model: told.model ?? known.model,
    modelProviderId: told.modelProviderId ?? known.modelProviderId,
    requestType: told.requestType ?? known.requestType,
    usage: told.usage ?? known.usage,
    error: told.error,
    durationMs: told.durationMs ?? known.durationMs,
    labelsJson: told.labelsJson === '[]' ? known.labelsJson : told.labelsJson,
    metadataJson: told.metadataJson === '{}' ? known.metadataJson : told.metadataJson,
  };
}

export function isSameUsage(one: RequestUsage | null, other: RequestUsage | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.inputTokens === other.inputTokens &&
    one.outputTokens === other.outputTokens &&
    one.cacheReadInputTokens === other.cacheReadInputTokens &&
    one.cacheCreationInputTokens === other.cacheCreationInputTokens &&
    one.reasoningTokens === other.reasoningTokens
  );
}

export type SpanTelling = {
  readonly traceId: string;
  readonly span: Span;
  readonly request: SpanRequest;
  readonly metadata: EventMetadata;
};

export function contentOfSpan({ traceId, span, request, metadata }: SpanTelling): RequestContent {
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
