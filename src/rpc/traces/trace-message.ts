/** Stored traces -> messages. */

import { create, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type CostSource,
  CostSourceSchema,
  EvaluationStatus,
  SpanType,
  type TraceEvaluationSchema,
  type TraceSchema,
  TraceSpanSchema,
} from '../../../gen/spandrel/v1/traces_pb.js';
import type { Project } from '../../domain/caller.ts';
import { nanoToUsdNumber } from '../../domain/pricing/money.ts';
import type { Evaluation, Span, TraceRecord } from '../../domain/traces/trace.ts';
import type { TraceView } from '../../domain/traces/traces.ts';
import { enumSpellings } from '../rest-shape.ts';

/** The URL of a trace in the console. */
export type PlatformUrl = (project: Project, traceId: string) => string;

const SPANS_PER_TURN = 1000;
/** Of JSON that is parsed: its items become messages. */
const CHARACTERS_PER_TURN = 262_144;

const spanTypes: Readonly<Record<Span['type'], SpanType>> = {
  span: SpanType.SPAN,
  llm: SpanType.LLM,
  chain: SpanType.CHAIN,
  tool: SpanType.TOOL,
  agent: SpanType.AGENT,
  rag: SpanType.RAG,
  guardrail: SpanType.GUARDRAIL,
  evaluation: SpanType.EVALUATION,
  workflow: SpanType.WORKFLOW,
  component: SpanType.COMPONENT,
  module: SpanType.MODULE,
  server: SpanType.SERVER,
  client: SpanType.CLIENT,
  producer: SpanType.PRODUCER,
  consumer: SpanType.CONSUMER,
  task: SpanType.TASK,
  unknown: SpanType.UNKNOWN,
};

const evaluationStatuses: Readonly<Record<Evaluation['status'], EvaluationStatus>> = {
  scheduled: EvaluationStatus.SCHEDULED,
  in_progress: EvaluationStatus.IN_PROGRESS,
  processed: EvaluationStatus.PROCESSED,
  skipped: EvaluationStatus.SKIPPED,
  error: EvaluationStatus.ERROR,
};

const costSources: ReadonlyMap<string, CostSource> = enumSpellings(CostSourceSchema);

/** Everything that a view of a trace can show. */
export async function traceWithSpans(view: TraceView, project: Project, platformUrl: PlatformUrl) {
  const spans = await messagesOfSpans(view.spans, view.record.traceId);
  return { ...traceMessage(view, project, platformUrl), spans };
}

function traceMessage(
  view: TraceView,
  project: Project,
  platformUrl: PlatformUrl,
): MessageInitShape<typeof TraceSchema> {
  const { record, choice } = view;
  return {
    traceId: record.traceId,
    projectId: project.id,
    name: choice.name,
    metadataJson: record.metadataJson,
    models: [...choice.models],
    timestamps: timestampsOf(record),
    input: { value: view.input },
    output: { value: view.output },
    metrics: metricsOf(record),
    evaluations: view.evaluations.map(evaluationMessage),
    spanCount: BigInt(record.spanCount),
    nextPageToken: view.nextSpansCursor ?? '',
    asciiTree: view.asciiTree,
    platformUrl: platformUrl(project, record.traceId),
    ...set('expectedOutput', view.expectedOutput),
    ...set('error', fromJson(view.errorJson, errorMessage)),
  };
}

export function timestampsOf(record: TraceRecord) {
  return {
    startedAt: timestampFromMs(record.startedAtMs ?? record.insertedAtMs),
    insertedAt: timestampFromMs(record.insertedAtMs),
    updatedAt: timestampFromMs(record.updatedAtMs),
  };
}

function metricsOf(record: TraceRecord) {
  return {
    unpricedSpans: BigInt(record.unpricedSpans),
    tokensEstimated: record.tokensEstimated,
    ...setInteger('firstTokenMs', record.firstTokenMs),
    ...setInteger('totalTimeMs', record.totalTimeMs),
    ...tokensOf(record),
    ...set('totalCost', record.totalCostNanoUsd === null ? null : nanoToUsdNumber(record.totalCostNanoUsd)),
  };
}

function tokensOf(of: TraceRecord | Span) {
  return {
    ...setInteger('promptTokens', of.promptTokens),
    ...setInteger('completionTokens', of.completionTokens),
    ...setInteger('reasoningTokens', of.reasoningTokens),
    ...setInteger('cacheReadInputTokens', of.cacheReadInputTokens),
    ...setInteger('cacheCreationInputTokens', of.cacheCreationInputTokens),
  };
}

/** Converts spans in steps, with turns of the event loop for other requests: a page may have 10,000 of them. */
export async function messagesOfSpans(
  spans: readonly Span[],
  traceId: string,
): Promise<MessageShape<typeof TraceSpanSchema>[]> {
  const messages: MessageShape<typeof TraceSpanSchema>[] = [];
  let begunAt = 0;
  let characters = 0;
  for (const span of spans) {
    messages.push(create(TraceSpanSchema, spanMessage(span, traceId)));
    characters += (span.errorJson?.length ?? 0) + (span.contextsJson?.length ?? 0);
    if (messages.length - begunAt < SPANS_PER_TURN && characters < CHARACTERS_PER_TURN) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    begunAt = messages.length;
    characters = 0;
  }
  return messages;
}

function spanMessage(span: Span, traceId: string): MessageInitShape<typeof TraceSpanSchema> {
  return {
    spanId: span.spanId,
    traceId,
    type: spanTypes[span.type],
    name: span.name ?? span.type,
    timestamps: {
      startedAt: timestampFromMs(span.startedAtMs),
      finishedAt: timestampFromMs(span.finishedAtMs),
      ...setInstant('firstTokenAt', span.firstTokenAtMs),
    },
    contexts: fromJson(span.contextsJson, (items: ContextShape[]) => items.map(contextMessage)) ?? [],
    ...set('parentId', span.parentId),
    ...set('vendor', span.vendor),
    ...set('model', span.model),
    ...set('input', typedValue(span.inputJson)),
    ...set('output', typedValue(span.outputJson)),
    ...set('paramsJson', span.paramsJson),
    ...set('metrics', spanMetrics(span)),
    ...set('error', fromJson(span.errorJson, errorMessage)),
    ...set('telemetryJson', span.telemetryJson),
  };
}

/** Null for a span without metrics and cost. */
function spanMetrics(span: Span) {
  const tokens = tokensOf(span);
  const sent = Object.keys(tokens).length > 0 || span.tokensEstimated || span.cachedTokensInPrompt !== null;
  if (!sent && span.otherMetricsJson === null && span.costNanoUsd === null && span.costSource === null) return null;
  return {
    ...tokens,
    ...(span.tokensEstimated ? { tokensEstimated: true } : {}),
    ...set('cachedTokensInPrompt', span.cachedTokensInPrompt),
    ...set('cost', span.costNanoUsd === null ? null : nanoToUsdNumber(span.costNanoUsd)),
    ...set('costSource', span.costSource === null ? null : (costSources.get(span.costSource) ?? null)),
    ...set('otherJson', span.otherMetricsJson),
  };
}

/** Stored as {"type":..,"value":..} in this order; the value's text is cut out, not parsed, so it stays as stored. */
function typedValue(json: string | null): { type: string; valueJson: string } | null {
  if (json === null) return null;
  const valueAt = endOfString(json, '{"type":'.length);
  const type: unknown = JSON.parse(json.slice('{"type":'.length, valueAt));
  return { type: String(type), valueJson: json.slice(valueAt + ',"value":'.length, -1) };
}

/** The index after a JSON string that starts at `start`. */
function endOfString(json: string, start: number): number {
  let index = start + 1;
  while (json[index] !== '"') index += json[index] === '\\' ? 2 : 1;
  return index + 1;
}

type ErrorShape = { message: string; stacktrace: string[] };

export function errorMessage(error: ErrorShape) {
  return { message: error.message, stacktrace: error.stacktrace };
}

type ContextShape = { document_id: string | null; chunk_id: string | null; content: string };

function contextMessage(context: ContextShape) {
  return { content: context.content, ...set('documentId', context.document_id), ...set('chunkId', context.chunk_id) };
}

export function evaluationMessage(evaluation: Evaluation): MessageInitShape<typeof TraceEvaluationSchema> {
  return {
    evaluationId: evaluation.evaluationId,
    evaluatorId: evaluation.evaluatorId,
    name: evaluation.name,
    isGuardrail: evaluation.isGuardrail,
    status: evaluationStatuses[evaluation.status],
    timestamps: {
      insertedAt: timestampFromMs(evaluation.insertedAtMs),
      ...setInstant('startedAt', evaluation.startedAtMs),
      ...setInstant('finishedAt', evaluation.finishedAtMs),
    },
    ...set('type', evaluation.type),
    ...set('spanId', evaluation.spanId),
    ...set('passed', evaluation.passed),
    ...set('score', evaluation.score),
    ...set('label', evaluation.label),
    ...set('details', evaluation.details),
    ...set('error', fromJson(evaluation.errorJson, errorMessage)),
    ...set('inputsJson', evaluation.inputsJson),
    ...set('costJson', evaluation.costJson),
    ...set('monitorId', evaluation.monitorId),
  };
}

/** Parses text that the collector has stored, so its shape is known. */
export function fromJson<T, M>(json: string | null, read: (value: T) => M): M | null {
  return json === null ? null : read(JSON.parse(json) as T);
}

/** Leaves a member out when it has no value. */
export function set<K extends string, V>(name: K, value: V | null): { [P in K]?: V } {
  return value === null ? {} : ({ [name]: value } as { [P in K]: V });
}

function setInteger<K extends string>(name: K, value: number | null): { [P in K]?: bigint } {
  return set(name, value === null ? null : BigInt(value));
}

function setInstant<K extends string>(name: K, valueMs: number | null): { [P in K]?: Timestamp } {
  return set(name, valueMs === null ? null : timestampFromMs(valueMs));
}
