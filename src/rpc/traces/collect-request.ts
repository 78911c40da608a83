/** CollectTraceRequest -> drafts of traces. Unset and empty fields count as absent. */

import type { DescEnum } from '@bufbuild/protobuf';
import {
  type CollectedEvaluation,
  type CollectedSpan,
  type CollectTraceRequest,
  EvaluationStatusSchema,
  type SpanContext,
  type SpanError,
  type SpanMetrics,
  SpanTypeSchema,
  type TypedValue,
} from '../../../gen/spandrel/v1/traces_pb.js';
import type { Fault } from '../../domain/fault.ts';
import type { Steps } from '../../domain/steps.ts';
import {
  type ContextDraft,
  type DraftList,
  type ErrorDraft,
  type EvaluationDraft,
  isUnreadable,
  type MetadataDraft,
  type MetricsDraft,
  type Sent,
  type SpanDraft,
  type TraceDraft,
  type TypedDraft,
  unreadable,
} from '../../domain/traces/collector/collector-draft.ts';
import { toTypedDraft } from '../../domain/traces/collector/typed-value.ts';
import type { LosslessJson, LosslessObject } from '../../json/lossless-json.ts';
import { holdsTooWide, TOO_WIDE_REASON } from '../../json/wide-json.ts';
import { fractionalMsOf } from '../epoch-ms.ts';
import { enumNames } from '../rest-shape.ts';
import { createMessageTexts, type MessageTexts } from './message-texts.ts';

/** `tooManyNumbers` creates the refusal of a request with too many numbers that must be kept as text. */
export function* readCollectRequest(request: CollectTraceRequest, tooManyNumbers: () => Fault): Steps<TraceDraft> {
  const texts = createMessageTexts(tooManyNumbers);
  for (const text of jsonTextsOf(request)) yield* texts.prepare(text);
  const { traceId, spans, evaluations, metadataJson, expectedOutputJson } = request;
  const firstTraceId = traceId === '' ? spans[0]?.traceId : traceId;
  return {
    traceId: texts.nonEmpty(firstTraceId ?? ''),
    spans: { length: spans.length, at: (index) => toSpanDraft(spans[index], texts) },
    evaluations: { length: evaluations.length, at: (index) => toEvaluationDraft(evaluations[index], texts) },
    metadata: metadataJson === undefined ? [] : [toMetadataDraft(metadataJson, texts)],
    expectedOutput:
      expectedOutputJson === undefined ? undefined : (texts.json(expectedOutputJson, 'expected_output') ?? undefined),
    facts: texts.facts,
  };
}

function* jsonTextsOf(request: CollectTraceRequest): Iterable<string | undefined> {
  yield* [request.metadataJson, request.expectedOutputJson];
  for (const { input, output, paramsJson, metrics } of request.spans) {
    yield* [input?.valueJson, output?.valueJson, paramsJson, metrics?.otherJson];
  }
  for (const { inputsJson, costJson } of request.evaluations) yield* [inputsJson, costJson];
}

function toSpanDraft(span: CollectedSpan | undefined, texts: MessageTexts): Sent<SpanDraft> {
  if (span === undefined) return undefined;
  const { timestamps: times } = span;
  return {
    spanId: texts.nonEmpty(span.spanId),
    traceId: texts.nonEmpty(span.traceId),
    parentId: texts.text(span.parentId),
    type: spellingOrNumber(SpanTypeSchema, span.type),
    name: texts.text(span.name),
    vendor: texts.text(span.vendor),
    model: texts.text(span.model),
    input: toTyped(span.input, 'input', texts),
    output: toTyped(span.output, 'output', texts),
    params: texts.object(span.paramsJson, 'params'),
    metrics: toMetricsDraft(span.metrics, texts),
    error: toErrorDraft(span.error, texts),
    contexts: toContextDrafts(span.contexts, texts),
    startedAt: fractionalMsOf(times?.startedAt),
    finishedAt: fractionalMsOf(times?.finishedAt),
    firstTokenAt: fractionalMsOf(times?.firstTokenAt),
    startedNs: undefined,
    finishedNs: undefined,
    rates: undefined,
    dropped: [],
    telemetry: undefined,
  };
}

/** Without a type, the type follows from the JSON value, as over REST. */
function toTyped(sent: TypedValue | undefined, field: string, texts: MessageTexts): Sent<TypedDraft> {
  if (sent === undefined) return undefined;
  const path = sent.type === '' ? field : `${field}.value`;
  const value = texts.json(sent.valueJson, path);
  if (isUnreadable(value)) return value;
  if (texts.facts.hasWide && holdsTooWide(value)) return unreadable(field, TOO_WIDE_REASON);
  return sent.type === '' ? toTypedDraft(value, field) : { type: texts.text(sent.type) ?? '', value, path };
}

function toMetricsDraft(sent: SpanMetrics | undefined, texts: MessageTexts): Sent<MetricsDraft> {
  if (sent === undefined) return undefined;
  return {
    promptTokens: toNumber(sent.promptTokens),
    completionTokens: toNumber(sent.completionTokens),
    reasoningTokens: toNumber(sent.reasoningTokens),
    cacheReadInputTokens: toNumber(sent.cacheReadInputTokens),
    cacheCreationInputTokens: toNumber(sent.cacheCreationInputTokens),
    cost: toFinite(sent.cost, 'metrics.cost'),
    tokensEstimated: sent.tokensEstimated,
    cachedTokensInPrompt: sent.cachedTokensInPrompt,
    others: texts.object(sent.otherJson, 'metrics'),
  };
}

function toErrorDraft(sent: SpanError | undefined, texts: MessageTexts): ErrorDraft | undefined {
  if (sent === undefined) return undefined;
  const stacktrace = sent.stacktrace.map((line) => texts.text(line) ?? '');
  return { message: texts.text(sent.message), stacktrace, kind: undefined, httpStatus: undefined };
}

function toContextDrafts(sent: readonly SpanContext[], texts: MessageTexts): Sent<DraftList<ContextDraft>> {
  if (sent.length === 0) return undefined;
  return sent.map(({ documentId, chunkId, content }) => {
    return { documentId: texts.text(documentId), chunkId: texts.text(chunkId), content: texts.text(content) };
  });
}

function toEvaluationDraft(sent: CollectedEvaluation | undefined, texts: MessageTexts): Sent<EvaluationDraft> {
  if (sent === undefined) return undefined;
  const draft = {
    name: texts.nonEmpty(sent.name),
    evaluationId: texts.text(sent.evaluationId),
    evaluatorId: texts.text(sent.evaluatorId),
    spanId: texts.text(sent.spanId),
    type: texts.text(sent.type),
    threadId: texts.text(sent.evaluationThreadId),
    isGuardrail: sent.isGuardrail,
    status: spellingOrNumber(EvaluationStatusSchema, sent.status),
    passed: sent.passed,
    score: toFinite(sent.score, 'score'),
    label: texts.text(sent.label),
    details: texts.text(sent.details),
    inputs: sent.inputsJson === undefined ? undefined : (texts.json(sent.inputsJson, 'inputs') ?? undefined),
    cost: texts.object(sent.costJson, 'cost'),
    error: toErrorDraft(sent.error, texts),
    startedAt: fractionalMsOf(sent.timestamps?.startedAt),
    finishedAt: fractionalMsOf(sent.timestamps?.finishedAt),
  };
  return { ...draft, toJson: () => toEvaluationJson(draft, sent) };
}

/** The evaluation as REST writes it. */
function toEvaluationJson(draft: Omit<EvaluationDraft, 'toJson'>, sent: CollectedEvaluation): LosslessJson {
  const { error, timestamps } = sent;
  const members = {
    name: draft.name,
    evaluator_id: draft.evaluatorId,
    span_id: draft.spanId,
    type: draft.type,
    evaluation_thread_id: draft.threadId,
    is_guardrail: draft.isGuardrail,
    status: draft.status,
    passed: draft.passed,
    score: draft.score,
    label: draft.label,
    details: draft.details,
    inputs: draft.inputs,
    cost: draft.cost,
    error: error === undefined ? undefined : { message: error.message, stacktrace: error.stacktrace },
    timestamps: timestamps === undefined ? undefined : { started_at: draft.startedAt, finished_at: draft.finishedAt },
  };
  // An id is derived only from an evaluation that could be read completely.
  return members as LosslessObject;
}

function toMetadataDraft(json: string, texts: MessageTexts): Sent<MetadataDraft> {
  const members = texts.object(json, 'metadata');
  return members === undefined || isUnreadable(members) ? members : { members, pathPrefix: 'metadata.' };
}

function toFinite(value: number | undefined, path: string): Sent<number> {
  return value === undefined || Number.isFinite(value) ? value : unreadable(path, 'must be a number');
}

/** The REST spelling of an enum value; an unknown number stays a number, and is refused like an unknown spelling. */
function spellingOrNumber(schema: DescEnum, value: number): string | undefined {
  if (value === 0) return undefined;
  return enumNames(schema).get(value) ?? String(value);
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}
