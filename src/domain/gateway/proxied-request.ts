/** A request through our gateway: what its records and its span tell. */

import type { LosslessObject } from '../../json/lossless-json.ts';
import type { RequestContent, RequestCost, RequestError, RequestUsage } from '../events/request-content.ts';
import type { ReportedRequest, RequestReport } from '../events/request-report.ts';
import type { ModelProviderKind, ModelProviderRecord } from '../model-providers/model-provider.ts';
import type { Prices } from '../pricing/prices.ts';
import { cutToCharacters } from '../text-limits.ts';
import { ANY_FACTS, type SpanDraft, type TraceDraft, type TypedDraft } from '../traces/collector/collector-draft.ts';
import type { PresentedKey } from '../virtual-keys/virtual-key.ts';
import type { AnswerFacts, ReadBody, RouteKind, TypedInput } from './dialects/dialect.ts';
import { costOfUsage, detailMetrics } from './request-cost.ts';
import { promptAttributes, promptIdsOf, TRY_LABEL, type TriedPrompt } from './tried-prompt.ts';

/** Where the span of a request goes. */
export type SpanPlace = {
  readonly traceId: string;
  /** Null: the span is the root of a trace of its own. */
  readonly parentId: string | null;
  readonly spanId: string;
};

export type ProxiedRequest = {
  readonly gatewayRequestId: string;
  readonly presented: PresentedKey;
  readonly route: RouteKind;
  readonly startedAtMs: number;
  readonly place: SpanPlace;
  /** Null: not read, because the request was refused before. */
  readonly body: ReadBody | null;
  readonly endUserId: string | null;
  readonly threadId: string | null;
  /** Of the caller's header. */
  readonly metadata: LosslessObject;
  /** Null: the request of a caller with the key. */
  readonly tried: TriedPrompt | null;
};

/** The provider that a request was sent to. */
export type Target = {
  readonly provider: Pick<ModelProviderRecord, 'id' | 'kind' | 'name'>;
  /** As the provider knows it. */
  readonly model: string;
};

/** How a request ended. */
export type Ending = {
  readonly endedAtMs: number;
  readonly firstTokenAtMs: number | null;
  readonly facts: AnswerFacts;
  /** Null: success. */
  readonly error: RequestError | null;
  readonly errorMessage: string | null;
  readonly target: Target | null;
  readonly fallbackCount: number;
  readonly cache: 'hit' | 'miss' | 'bypass';
  /** Whether the provider may have worked for it: else it costs nothing. */
  readonly isDispatched: boolean;
  /** Whether a provider began to answer it: then it has read the input. */
  readonly isAnswered: boolean;
};

const REQUEST_TYPES: Readonly<Record<RouteKind, string>> = {
  chat: 'chat',
  responses: 'responses',
  embeddings: 'embeddings',
  messages: 'messages',
  count_tokens: 'messages',
};

const VENDORS: Readonly<Record<ModelProviderKind, string | null>> = {
  openai: 'openai',
  azure_openai: 'azure',
  anthropic: 'anthropic',
  openai_compatible: null,
};

/** The name under which prices and spans know the services of a kind; null: it has many. */
export function vendorOf(kind: ModelProviderKind): string | null {
  return VENDORS[kind];
}

/** The name under which prices and spans know the service of a provider. */
export function vendorOfProvider({ kind, name }: Target['provider']): string {
  return vendorOf(kind) ?? name;
}

const BYTES_PER_TOKEN = 4;
const ID_CHARACTERS_MAX = 256;
const CLASS_CHARACTERS_MAX = 200;
const NO_COST: RequestCost = { nanoUsd: 0, rateVersion: null };

/** What the admission of a request tells, and what an outcome tells anew. */
export function contentOf(request: ProxiedRequest, target: Target | null, occurredAtMs: number): RequestContent {
  const { presented, endUserId, place, body, route, metadata } = request;
  const { key } = presented;
  return {
    occurredAtMs,
    virtualKeyId: key.id,
    principalUserId: key.principalUserId,
    endUserId,
    traceId: place.traceId,
    model: toRecorded(target?.model ?? body?.model ?? null, ID_CHARACTERS_MAX),
    modelProviderId: target?.provider.id ?? null,
    requestType: REQUEST_TYPES[route],
    usage: null,
    error: null,
    durationMs: null,
    labelsJson: JSON.stringify(labelsOf(request)),
    metadataJson: JSON.stringify(metadata),
  };
}

function labelsOf({ presented, tried }: ProxiedRequest): readonly string[] {
  const { labels } = presented.key;
  return tried === null ? labels : [...labels, TRY_LABEL];
}

/** A text that others write, within the bounds of records; null: there is none. */
function toRecorded(text: string | null, charactersMax: number): string | null {
  return text === null || text === ''
    ? null
    : cutToCharacters(text.replaceAll('\0', '\ufffd').toWellFormed(), charactersMax);
}

/** The tokens of an ended request, and whether they are estimated because the provider told none; null: there were none. */
export function usageOf({ body }: ProxiedRequest, { facts, isAnswered }: Ending) {
  if (facts.usage !== null) return toldUsage(facts, facts.usage);
  if (!isAnswered || body === null) return null;
  const { textBytes, arrayTokens } = body.size;
  const usage: RequestUsage = {
    inputTokens: arrayTokens + Math.ceil(textBytes / BYTES_PER_TOKEN),
    outputTokens: Math.ceil(facts.outputBytes / BYTES_PER_TOKEN),
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: 0,
    reasoningTokens: 0,
  };
  return { usage, isEstimated: true };
}

/** A stream that broke off has told its output up to an earlier moment, or not at all. */
function toldUsage({ isComplete, outputBytes }: AnswerFacts, usage: RequestUsage) {
  const sent = Math.ceil(outputBytes / BYTES_PER_TOKEN);
  if (isComplete || sent <= usage.outputTokens) return { usage, isEstimated: false };
  return { usage: { ...usage, outputTokens: sent }, isEstimated: true };
}

/** The report that completes a request. */
export function reportOf(request: ProxiedRequest, ending: Ending, prices: Prices): RequestReport {
  const { presented, gatewayRequestId, startedAtMs, metadata } = request;
  const { project, organization } = presented;
  const { target, endedAtMs, error, isDispatched, cache } = ending;
  const counted = usageOf(request, ending);
  const usage = counted?.usage ?? null;
  const content: RequestContent = {
    ...contentOf(request, target, endedAtMs),
    usage,
    error: error && { ...error, class: toRecorded(error.class, CLASS_CHARACTERS_MAX) ?? 'provider_error' },
    durationMs: Math.max(0, Math.round(endedAtMs - startedAtMs)),
    ...(counted?.isEstimated && { metadataJson: JSON.stringify({ ...metadata, usage_estimated: true }) }),
  };
  const isFree = !isDispatched || cache === 'hit';
  const cost = usage === null || isFree ? null : costOf(prices, { usage, request, ending });
  const record: ReportedRequest = {
    projectId: project.id,
    projectNumber: project.number,
    gatewayRequestId,
    status: error === null ? 'success' : 'error',
    content,
    cost: isFree ? NO_COST : null,
    price: { model: content.model, usage, cost },
  };
  return {
    kind: 'requests',
    organizationId: organization.id,
    organizationNumber: organization.number,
    receivedAtMs: Math.round(endedAtMs),
    records: [record],
  };
}

type Costing = { readonly usage: RequestUsage; readonly request: ProxiedRequest; readonly ending: Ending };

/** Of what the span says, too: both have one cost. */
function costOf(prices: Prices, { usage, request, ending: { facts, target } }: Costing): RequestCost | null {
  return costOfUsage(prices, {
    model: target?.model ?? null,
    vendor: target && vendorOfProvider(target.provider),
    atMs: request.startedAtMs,
    usage,
    isCachedInInput: facts.isCachedInInput,
    details: detailMetrics(request.body, facts),
  });
}

/** The trace with the span of an ended request. Texts are left out where the key captures metadata alone. */
export function spanOf(request: ProxiedRequest, ending: Ending): TraceDraft {
  const { place, endUserId, threadId, metadata, presented, tried } = request;
  const labels = labelsOf(request);
  const members: LosslessObject = {
    ...metadata,
    virtual_key_id: presented.key.id,
    ...(endUserId !== null && { user_id: endUserId }),
    ...(threadId !== null && { thread_id: threadId }),
    ...(labels.length > 0 && { labels: [...labels] }),
    ...(tried !== null && { prompt_ids: promptIdsOf(tried) }),
  };
  return {
    traceId: place.traceId,
    spans: [draftSpan(request, ending)],
    evaluations: undefined,
    metadata: [{ members, pathPrefix: 'metadata.' }],
    expectedOutput: undefined,
    facts: ANY_FACTS,
  };
}

function draftSpan(request: ProxiedRequest, ending: Ending): SpanDraft {
  const { place, route, body, presented, startedAtMs, tried } = request;
  const { facts, target, error, errorMessage, endedAtMs, firstTokenAtMs, cache, fallbackCount } = ending;
  const hasTexts = presented.key.config.capture === 'full';
  const counted = usageOf(request, ending);
  const model = target?.model ?? body?.model;
  return {
    spanId: place.spanId,
    traceId: undefined,
    parentId: place.parentId ?? undefined,
    type: 'llm',
    name: `${route} ${body?.model ?? ''}`.trim(),
    vendor: target === null ? undefined : vendorOfProvider(target.provider),
    model,
    input: hasTexts && body !== null ? typed(body.input, 'input') : undefined,
    output: hasTexts && facts.output !== null ? typed(facts.output, 'output') : undefined,
    params: {
      ...(hasTexts && body?.params),
      ...(tried !== null && promptAttributes(tried)),
      gateway_request_id: request.gatewayRequestId,
      gateway: {
        provider: target?.provider.name ?? null,
        model_asked: body?.model ?? null,
        fallback_count: fallbackCount,
        cache,
        virtual_key_id: presented.key.id,
        ...(counted?.isEstimated && { usage_estimated: true }),
      },
    },
    metrics: counted === null ? undefined : metricsOf(counted, request, ending),
    error:
      error === null
        ? undefined
        : {
            message: errorMessage ?? error.class ?? 'error',
            stacktrace: undefined,
            kind: error.class ?? undefined,
            httpStatus: error.httpStatus ?? undefined,
          },
    contexts: undefined,
    startedAt: startedAtMs,
    finishedAt: endedAtMs,
    firstTokenAt: firstTokenAtMs ?? undefined,
    startedNs: undefined,
    finishedNs: undefined,
    rates: undefined,
    dropped: [],
    telemetry: undefined,
  };
}

type Counted = NonNullable<ReturnType<typeof usageOf>>;

function metricsOf(
  { usage, isEstimated }: Counted,
  { body }: ProxiedRequest,
  { facts, cache }: Ending,
): SpanDraft['metrics'] {
  return {
    tokensEstimated: isEstimated,
    promptTokens: usage.inputTokens,
    completionTokens: usage.outputTokens,
    reasoningTokens: usage.reasoningTokens,
    cacheReadInputTokens: usage.cacheReadInputTokens,
    cacheCreationInputTokens: usage.cacheCreationInputTokens,
    cachedTokensInPrompt: facts.isCachedInInput,
    cost: cache === 'hit' ? 0 : undefined,
    others: detailMetrics(body, facts),
  };
}

function typed({ type, value }: TypedInput, path: string): TypedDraft {
  return { type, value, path };
}
