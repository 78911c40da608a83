/** Turns an OpenTelemetry span into a draft of the collector. */

import { isAbsent, numberOf } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { type MetricsDraft, type Sent, type SpanDraft, unreadable } from '../collector/collector-draft.ts';
import { METRIC_NAMES } from '../collector/collector-metrics.ts';
import type { AttributeJson } from './attribute-json.ts';
import {
  CACHE_CREATION_INPUT_TOKENS,
  CACHE_READ_INPUT_TOKENS,
  CACHED_TOKENS_IN_PROMPT,
  COMPLETION_TOKENS,
  COST,
  FIRST_TOKEN_DELAYS,
  FIRST_TOKEN_EVENTS,
  MODEL,
  PROMPT_TOKENS,
  PROMPT_TOKENS_WITH_CACHED,
  REASONING_TOKENS,
  TOKENS_ESTIMATED,
  VENDOR,
} from './attribute-table.ts';
import { failureOf } from './failure.ts';
import { type Attributes, type OtlpSpan, SPAN_KINDS, STATUS_CODES, toMs } from './span.ts';
import { typeOf } from './span-type.ts';
import { createView, first, type ReadAttribute, type SpanView } from './span-view.ts';
import { contextsOf, inputOf, outputOf, paramsOf } from './values.ts';

/** Texts that doubleOf makes of non-numbers. */
const NO_NUMBERS: ReadonlySet<LosslessJson> = new Set(['NaN', 'Infinity', '-Infinity']);

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
    input: inputOf(view),
    output: outputOf(view),
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
  const count = (sources: readonly ReadAttribute[], name: string) => toNumber(first(view, sources), `metrics.${name}`);
  const flag = (sources: readonly ReadAttribute[], name: string) => toBoolean(first(view, sources), `metrics.${name}`);
  const others = Object.entries(view.metrics).filter(([name]) => !METRIC_NAMES.has(name));
  const metrics: MetricsDraft = {
    promptTokens: toNumber(plain ?? withCached, 'metrics.prompt_tokens'),
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

type Times = Pick<SpanDraft, 'startedAt' | 'finishedAt' | 'firstTokenAt'>;

function timesOf(view: SpanView): Times {
  const { startNano, endNano } = view.span;
  const { started_at: startedAt, finished_at: finishedAt, first_token_at: firstTokenAt } = view.timestamps;
  return {
    startedAt: toNumber(startedAt, 'timestamps.started_at') ?? toMs(startNano),
    finishedAt: toNumber(finishedAt, 'timestamps.finished_at') ?? toMs(endNano === 0n ? startNano : endNano),
    firstTokenAt: toNumber(firstTokenAt, 'timestamps.first_token_at') ?? firstTokenOf(view.span),
  };
}

function firstTokenOf({ events, startNano, attributes }: OtlpSpan): Sent<number> {
  let earliest: bigint | undefined;
  for (const { name, timeNano } of events) {
    // An event without an instant is skipped.
    if (timeNano === 0n || !FIRST_TOKEN_EVENTS.has(name)) continue;
    if (earliest === undefined || timeNano < earliest) earliest = timeNano;
  }
  if (earliest !== undefined) return toMs(earliest);
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

function toText(value: LosslessJson | undefined, path: string): Sent<string> {
  if (isAbsent(value)) return undefined;
  return typeof value === 'string' ? value : unreadable(path, 'must be a string');
}

function toNumber(value: LosslessJson | undefined, path: string): Sent<number> {
  if (isAbsent(value) || NO_NUMBERS.has(value)) return undefined;
  return numberOf(value) ?? unreadable(path, 'must be a number');
}

function toBoolean(value: LosslessJson | undefined, path: string): Sent<boolean> {
  if (isAbsent(value)) return undefined;
  return typeof value === 'boolean' ? value : unreadable(path, 'must be a boolean');
}
