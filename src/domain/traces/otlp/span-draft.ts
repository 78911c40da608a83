/** Turns an OpenTelemetry span into a draft of the collector. */

import { isAbsent, numberOf, scalarText } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import type { ErrorDraft, MetricsDraft, Sent, SpanDraft } from '../collector/collector-draft.ts';
import { findHttpStatus } from '../collector/collector-error.ts';
import { toBoolean, toNumber, toText } from '../collector/collector-json.ts';
import { METRIC_NAMES } from '../collector/collector-metrics.ts';
import { SPAN_TYPES, type SpanType } from '../trace.ts';
import type { AttributeJson } from './attribute-json.ts';
import {
  CACHE_CREATION_INPUT_TOKENS,
  CACHE_READ_INPUT_TOKENS,
  CACHED_TOKENS_IN_PROMPT,
  COMPLETION_TOKENS,
  COST,
  FIRST_TOKEN_DELAYS,
  FIRST_TOKEN_EVENTS,
  FURTHER_METRICS,
  INPUT,
  MODEL,
  OUTPUT,
  PROMPT_TOKENS,
  PROMPT_TOKENS_WITH_CACHED,
  REASONING_TOKENS,
  TOKENS_ESTIMATED,
  VENDOR,
} from './attribute-table.ts';
import { toInstantMs } from './instants.ts';
import { type Attributes, type OtlpSpan, SPAN_KINDS, STATUS_CODES, STATUS_ERROR } from './span.ts';
import { createView, first, operationsOf, type ReadAttribute, type SpanView } from './span-view.ts';
import { contextsOf, paramsOf, typedValueOf } from './values.ts';

/** Texts that doubleOf makes of non-numbers. */
const NO_NUMBERS: ReadonlySet<LosslessJson | undefined> = new Set(['NaN', 'Infinity', '-Infinity']);

export function toSpanDraft(span: OtlpSpan, json: AttributeJson): SpanDraft {
  const view = createView(span, json);
  return {
    spanId: span.spanId,
    traceId: span.traceId,
    parentId: span.parentId,
    type: typeOf(span),
    name: span.name === '' ? undefined : span.name,
    vendor: vendorOf(view),
    model: toText(first(view, MODEL), 'model'),
    input: typedValueOf(view, 'input', INPUT),
    output: typedValueOf(view, 'output', OUTPUT),
    params: paramsOf(view),
    metrics: metricsOf(view),
    error: failureOf(span),
    contexts: contextsOf(view),
    ...timesOf(view),
    rates: ratesOf(span.attributes),
    telemetry: telemetryOf(span),
  };
}

function vendorOf(view: SpanView): Sent<string> {
  const vendor = first(view, VENDOR);
  // The ai package writes "openai.chat" where conventions have the bare name of the provider.
  const isVercel = typeof vendor === 'string' && vendor === view.span.attributes.get('ai.model.provider');
  return toText(isVercel ? vendor.split('.', 1)[0] : vendor, 'vendor');
}

function metricsOf(view: SpanView): MetricsDraft | undefined {
  const plain = first(view, PROMPT_TOKENS);
  const withCached = plain === undefined ? first(view, PROMPT_TOKENS_WITH_CACHED) : undefined;
  const count = (sources: readonly ReadAttribute[], name: string) => toFinite(first(view, sources), `metrics.${name}`);
  const flag = (sources: readonly ReadAttribute[], name: string) => toBoolean(first(view, sources), `metrics.${name}`);
  const others = Object.entries(view.metrics).filter(([name]) => !METRIC_NAMES.has(name));
  for (const [member, sources] of FURTHER_METRICS) {
    const value = view.metrics[member] === undefined ? first(view, sources) : undefined;
    if (value !== undefined && !NO_NUMBERS.has(value)) others.push([member, value]);
  }
  const metrics: MetricsDraft = {
    promptTokens: toFinite(plain ?? withCached, 'metrics.prompt_tokens'),
    completionTokens: count(COMPLETION_TOKENS, 'completion_tokens'),
    reasoningTokens: count(REASONING_TOKENS, 'reasoning_tokens'),
    cacheReadInputTokens: count(CACHE_READ_INPUT_TOKENS, 'cache_read_input_tokens'),
    cacheCreationInputTokens: count(CACHE_CREATION_INPUT_TOKENS, 'cache_creation_input_tokens'),
    cost: count(COST, 'cost'),
    tokensEstimated: flag(TOKENS_ESTIMATED, 'tokens_estimated'),
    cachedTokensInPrompt:
      flag(CACHED_TOKENS_IN_PROMPT, 'cached_tokens_in_prompt') ?? (withCached === undefined ? undefined : true),
    others: others.length === 0 ? undefined : Object.fromEntries(others),
  };
  return Object.values(metrics).every((value) => value === undefined) ? undefined : metrics;
}

function toFinite(value: LosslessJson | undefined, path: string): Sent<number> {
  return NO_NUMBERS.has(value) ? undefined : toNumber(value, path);
}

type Times = Pick<SpanDraft, 'startedAt' | 'finishedAt' | 'firstTokenAt'>;

function timesOf(view: SpanView): Times {
  const start = toInstantMs(view.span.startNano, 'startTimeUnixNano');
  const { endNano } = view.span;
  const end = endNano === 0n ? start : toInstantMs(endNano, 'endTimeUnixNano');
  const { started_at: startedAt, finished_at: finishedAt, first_token_at: firstTokenAt } = view.timestamps;
  return {
    startedAt: toFinite(startedAt, 'timestamps.started_at') ?? start,
    finishedAt: toFinite(finishedAt, 'timestamps.finished_at') ?? end,
    firstTokenAt: toFinite(firstTokenAt, 'timestamps.first_token_at') ?? firstTokenOf(view.span),
  };
}

function firstTokenOf({ events, startNano, attributes }: OtlpSpan): Sent<number> {
  let earliest: bigint | undefined;
  for (const { name, timeNano } of events) {
    // An event without an instant is skipped.
    if (timeNano === 0n || !FIRST_TOKEN_EVENTS.has(name)) continue;
    if (earliest === undefined || timeNano < earliest) earliest = timeNano;
  }
  if (earliest !== undefined) return toInstantMs(earliest, 'events.timeUnixNano');
  for (const [key, unitMs] of FIRST_TOKEN_DELAYS) {
    const delay = numberOf(attributes.get(key));
    if (delay !== null) return Number(startNano) / 1_000_000 + delay * unitMs;
  }
  return undefined;
}

function ratesOf(attributes: Attributes): SpanDraft['rates'] {
  const input = numberOf(attributes.get('langwatch.model.inputCostPerToken'));
  const output = numberOf(attributes.get('langwatch.model.outputCostPerToken'));
  return input === null && output === null
    ? undefined
    : { inputUsdPerToken: input ?? 0, outputUsdPerToken: output ?? 0 };
}

/** The OpenTelemetry data of the span; ids and instants as OpenTelemetry writes them in JSON. */
function telemetryOf(span: OtlpSpan): LosslessObject {
  return {
    attributes: Object.fromEntries(span.attributes),
    resource_attributes: Object.fromEntries(span.resource),
    scope: span.scope,
    kind: SPAN_KINDS[span.kind] ?? SPAN_KINDS[0],
    status: { code: STATUS_CODES[span.status.code] ?? STATUS_CODES[0], message: span.status.message },
    events: span.events.map(({ name, timeNano, attributes }) => ({
      name,
      time_unix_nano: String(timeNano),
      attributes: Object.fromEntries(attributes),
    })),
    links: span.links.map(({ traceId, spanId, traceState, attributes }) => ({
      trace_id: traceId,
      span_id: spanId,
      trace_state: traceState,
      attributes: Object.fromEntries(attributes),
    })),
  };
}

const UNKNOWN = 'Unknown error';

/** undefined: no error. */
function failureOf({ status, attributes, events }: OtlpSpan): ErrorDraft | undefined {
  if (status.code !== STATUS_ERROR && attributes.get('error.has_error') !== true) return undefined;
  const exception = events.findLast(({ name }) => name === 'exception')?.attributes;
  const messages = [
    exception?.get('exception.message'),
    attributes.get('exception.message'),
    attributes.get('error.message'),
    status.message,
  ];
  const stacktrace = textOf(exception?.get('exception.stacktrace')) ?? textOf(attributes.get('exception.stacktrace'));
  const kinds = [exception?.get('exception.type'), attributes.get('exception.type'), attributes.get('error.type')];
  return {
    message: messages.map(textOf).find((text) => text !== undefined) ?? UNKNOWN,
    stacktrace,
    kind: kinds.map(textOf).find((text) => text !== undefined),
    httpStatus: findHttpStatus([attributes.get('http.response.status_code'), attributes.get('http.status_code')]),
  };
}

/** SDKs write an empty text for none. Ignores arrays and objects: their text would escape the cut of strings. */
function textOf(value: LosslessJson | undefined): string | undefined {
  if (isAbsent(value) || value === '') return undefined;
  return typeof value === 'string' ? value : (scalarText(value) ?? undefined);
}

const NAMED: ReadonlyMap<LosslessJson | undefined, SpanType> = new Map(SPAN_TYPES.map((type) => [type, type]));

const OPENINFERENCE: ReadonlyMap<string, SpanType> = new Map([
  ['retriever', 'rag'],
  ['embedding', 'component'],
  ['reranker', 'component'],
  ['prompt', 'component'],
  ['evaluator', 'evaluation'],
]);

const GEN_AI_OPERATIONS: ReadonlyMap<LosslessJson | undefined, SpanType> = new Map([
  ['chat', 'llm'],
  ['text_completion', 'llm'],
  ['generate_content', 'llm'],
  ['embeddings', 'component'],
  ['execute_tool', 'tool'],
  ['invoke_agent', 'agent'],
  ['create_agent', 'agent'],
]);

const REQUEST_TYPES: ReadonlyMap<LosslessJson | undefined, SpanType> = new Map([
  ['chat', 'llm'],
  ['completion', 'llm'],
  ['embedding', 'component'],
  ['rerank', 'component'],
]);

const VERCEL_LLM = /^ai\.(generate|stream)(Text|Object)(\.do(Generate|Stream))?$/;

export function typeOf(span: OtlpSpan): SpanType {
  const { attributes } = span;
  return (
    NAMED.get(attributes.get('langwatch.span.type')) ??
    openInferenceType(attributes.get('openinference.span.kind')) ??
    NAMED.get(attributes.get('traceloop.span.kind')) ??
    GEN_AI_OPERATIONS.get(attributes.get('gen_ai.operation.name')) ??
    REQUEST_TYPES.get(attributes.get('llm.request.type')) ??
    vercelType(operationsOf(span)) ??
    NAMED.get(attributes.get('langwatch.type')) ??
    NAMED.get(attributes.get('type')) ??
    typeByKeys(attributes) ??
    'span'
  );
}

function openInferenceType(kind: LosslessJson | undefined): SpanType | undefined {
  if (typeof kind !== 'string') return undefined;
  const name = kind.toLowerCase();
  return OPENINFERENCE.get(name) ?? NAMED.get(name);
}

function vercelType(operations: readonly LosslessJson[]): SpanType | undefined {
  for (const operation of operations) {
    if (typeof operation !== 'string') continue;
    if (VERCEL_LLM.test(operation)) return 'llm';
    if (operation === 'ai.toolCall') return 'tool';
    if (operation.startsWith('ai.embed')) return 'component';
  }
  return undefined;
}

/** The type by attribute keys that mention a tool, an agent or a model. */
function typeByKeys(attributes: Attributes): SpanType | undefined {
  let hasModelKey = false;
  let hasAgentKey = false;
  for (const key of attributes.keys()) {
    if (key.startsWith('gen_ai.tool.')) return 'tool';
    if (key.startsWith('gen_ai.agent.')) hasAgentKey = true;
    else if (key.startsWith('gen_ai.') || key.startsWith('llm.') || key.startsWith('ai.model.')) hasModelKey = true;
  }
  if (hasAgentKey) return 'agent';
  return hasModelKey ? 'llm' : undefined;
}
