/**
 * A CollectTraceRequest as the JSON document the collector judges, so that one set of rules serves
 * every transport.
 */

import type {
  CollectedEvaluation,
  CollectedSpan,
  CollectTraceRequest,
  SpanError,
  SpanMetrics,
  TypedValue,
} from '../../gen/spandrel/v1/traces_pb.js';
import { Fault, type JsonValue } from '../domain/fault.ts';
import { UNREADABLE } from '../domain/free-json.ts';
import { NUMBER_TEXTS_MAX, parseJson, scanJson, tooManyNumberTexts } from '../domain/json-text.ts';
import { TOO_WIDE } from '../domain/wide-json.ts';
import type { JsonFacts } from './method.ts';

type Json = { [name: string]: unknown };

export function collectRequestToJson(request: CollectTraceRequest): { value: JsonValue; facts: JsonFacts } {
  const parts = createParts();
  const value: Json = {};
  if (request.traceId !== '') value.trace_id = parts.text(request.traceId);
  value.spans = request.spans.map((span) => spanToJson(span, parts));
  value.evaluations = request.evaluations.map((evaluation) => evaluationToJson(evaluation, parts));
  if (request.metadataJson !== undefined) value.metadata = parts.json(request.metadataJson);
  if (request.expectedOutputJson !== undefined) value.expected_output = parts.json(request.expectedOutputJson);
  return { value: value as JsonValue, facts: parts.facts() };
}

type Parts = {
  text(text: string): string;
  json(text: string): unknown;
  facts(): JsonFacts;
};

/** Reads the parts of a message and remembers what a pass over the whole document would have found. */
function createParts(): Parts {
  let depth = 0;
  let hasEscapes = false;
  let hasWide = false;
  let size = 0;
  let longIntegers = 0;
  return {
    text(text) {
      size += Buffer.byteLength(text);
      // Protobuf text may hold U+0000 as it is, which JSON can only escape.
      if (text.includes('\0')) hasEscapes = true;
      return text;
    },
    // Text that is no JSON makes its own item unreadable, and no other.
    json(text) {
      const bytes = Buffer.from(text);
      const facts = scanJson(bytes);
      size += bytes.length;
      depth = Math.max(depth, facts.depth);
      hasEscapes ||= facts.hasEscapes;
      hasWide ||= facts.hasWide;
      longIntegers += facts.longIntegers.length;
      if (longIntegers > NUMBER_TEXTS_MAX) throw tooManyNumberTexts();
      if (facts.isWide) return TOO_WIDE;
      try {
        return parseJson(bytes, facts, 'values');
      } catch (error) {
        if (error instanceof Fault) return UNREADABLE;
        throw error;
      }
    },
    facts: () => ({ depth, hasEscapes, bytes: size, hasWide }),
  };
}

function spanToJson(span: CollectedSpan, parts: Parts): Json {
  const json: Json = {};
  put(json, 'span_id', span.spanId === '' ? undefined : span.spanId, parts);
  put(json, 'trace_id', span.traceId === '' ? undefined : span.traceId, parts);
  put(json, 'parent_id', span.parentId, parts);
  put(json, 'type', span.type === '' ? undefined : span.type, parts);
  put(json, 'name', span.name, parts);
  put(json, 'vendor', span.vendor, parts);
  put(json, 'model', span.model, parts);
  if (span.input) json.input = typedValueToJson(span.input, parts);
  if (span.output) json.output = typedValueToJson(span.output, parts);
  if (span.paramsJson !== undefined) json.params = parts.json(span.paramsJson);
  if (span.metrics) json.metrics = metricsToJson(span.metrics, parts);
  if (span.error) json.error = errorToJson(span.error, parts);
  if (span.contexts.length > 0) {
    json.contexts = span.contexts.map((context) => {
      const item: Json = { content: parts.text(context.content) };
      put(item, 'document_id', context.documentId, parts);
      put(item, 'chunk_id', context.chunkId, parts);
      return item;
    });
  }
  if (span.timestamps) {
    const { startedAt, finishedAt, firstTokenAt } = span.timestamps;
    json.timestamps = {
      started_at: toNumber(startedAt),
      finished_at: toNumber(finishedAt),
      first_token_at: toNumber(firstTokenAt),
    };
  }
  return json;
}

function typedValueToJson(value: TypedValue, parts: Parts): unknown {
  const content = parts.json(value.valueJson);
  // Without a type, JSON speaks for itself, as it does over REST.
  return value.type === '' ? content : { type: parts.text(value.type), value: content };
}

function metricsToJson(metrics: SpanMetrics, parts: Parts): unknown {
  const other = metrics.otherJson === undefined ? {} : parts.json(metrics.otherJson);
  if (other === TOO_WIDE) return TOO_WIDE;
  if (typeof other !== 'object' || other === null || Array.isArray(other) || other === UNREADABLE) return UNREADABLE;
  return {
    ...other,
    prompt_tokens: toNumber(metrics.promptTokens),
    completion_tokens: toNumber(metrics.completionTokens),
    reasoning_tokens: toNumber(metrics.reasoningTokens),
    cache_read_input_tokens: toNumber(metrics.cacheReadInputTokens),
    cache_creation_input_tokens: toNumber(metrics.cacheCreationInputTokens),
    tokens_estimated: metrics.tokensEstimated,
    cached_tokens_in_prompt: metrics.cachedTokensInPrompt,
    cost: metrics.cost,
  };
}

function errorToJson(error: SpanError, parts: Parts): Json {
  return { message: parts.text(error.message), stacktrace: error.stacktrace.map((line) => parts.text(line)) };
}

function evaluationToJson(evaluation: CollectedEvaluation, parts: Parts): Json {
  const json: Json = {
    is_guardrail: evaluation.isGuardrail,
    passed: evaluation.passed,
    score: evaluation.score,
  };
  put(json, 'evaluation_id', evaluation.evaluationId, parts);
  put(json, 'evaluator_id', evaluation.evaluatorId, parts);
  put(json, 'name', evaluation.name === '' ? undefined : evaluation.name, parts);
  put(json, 'type', evaluation.type, parts);
  put(json, 'span_id', evaluation.spanId, parts);
  put(json, 'evaluation_thread_id', evaluation.evaluationThreadId, parts);
  put(json, 'status', evaluation.status, parts);
  put(json, 'label', evaluation.label, parts);
  put(json, 'details', evaluation.details, parts);
  if (evaluation.inputsJson !== undefined) json.inputs = parts.json(evaluation.inputsJson);
  if (evaluation.costJson !== undefined) json.cost = parts.json(evaluation.costJson);
  if (evaluation.error) json.error = errorToJson(evaluation.error, parts);
  if (evaluation.timestamps) {
    const { startedAt, finishedAt } = evaluation.timestamps;
    json.timestamps = { started_at: toNumber(startedAt), finished_at: toNumber(finishedAt) };
  }
  return json;
}

function put(json: Json, name: string, text: string | undefined, parts: Parts): void {
  if (text !== undefined) json[name] = parts.text(text);
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}
