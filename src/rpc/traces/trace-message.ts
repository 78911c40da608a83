/** Stored traces -> messages. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  CostSource,
  EvaluationStatus,
  type SpanContext,
  type SpanError,
  type SpanMetrics,
  SpanType,
  type TraceEvaluationSchema,
  type TraceSchema,
  type TraceSpan,
  type TypedValue,
} from '../../../gen/spandrel/v1/traces_pb.js';
import type { Project } from '../../domain/caller.ts';
import { nanoToUsdNumber } from '../../domain/pricing/money.ts';
import type { ShownEvaluation } from '../../domain/traces/shown-inputs.ts';
import type { Span, TraceRecord } from '../../domain/traces/trace.ts';
import type { TraceView } from '../../domain/traces/traces.ts';
import { numbersOf } from '../enums.ts';
import { toTimestamp } from '../epoch-ms.ts';
import { eventMessage } from '../feedback/feedback.ts';
import { unsetNulls } from '../field-values.ts';

/** The URL of a trace in the console. */
export type PlatformUrl = (project: Project, traceId: string) => string;

const SPANS_PER_TURN = 1000;
/** Of JSON that is parsed: its items become messages. */
const CHARACTERS_PER_TURN = 262_144;

const SPAN_TYPES = numbersOf(SpanType);
export const EVALUATION_STATUSES = numbersOf(EvaluationStatus);
const COST_SOURCES: { readonly [source: string]: CostSource } = numbersOf(CostSource);

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
    events: view.events.map((event) => eventMessage(event, project)),
    annotationCount: view.annotationCount,
    evaluations: view.evaluations.map(evaluationMessage),
    spanCount: BigInt(record.spanCount),
    nextPageToken: view.nextSpansCursor ?? '',
    asciiTree: view.asciiTree,
    platformUrl: platformUrl(project, record.traceId),
    expectedOutput: view.expectedOutput ?? undefined,
    error: errorMessage(view.errorJson),
  };
}

/** What digests and summaries have in common. */
export function digestMessage(
  { record, evaluations }: Pick<TraceView, 'record' | 'evaluations'>,
  formattedTrace: string,
  platformUrl: string,
) {
  return {
    traceId: record.traceId,
    formattedTrace,
    timestamps: timestampsOf(record),
    metadataJson: record.metadataJson,
    evaluations: evaluations.map(evaluationMessage),
    platformUrl,
  };
}

function timestampsOf(record: TraceRecord) {
  return {
    startedAt: timestampFromMs(record.startedAtMs ?? record.insertedAtMs),
    insertedAt: timestampFromMs(record.insertedAtMs),
    updatedAt: timestampFromMs(record.updatedAtMs),
  };
}

function metricsOf(record: TraceRecord) {
  return {
    firstTokenMs: integer(record.firstTokenMs),
    totalTimeMs: integer(record.totalTimeMs),
    promptTokens: integer(record.promptTokens),
    completionTokens: integer(record.completionTokens),
    reasoningTokens: integer(record.reasoningTokens),
    cacheReadInputTokens: integer(record.cacheReadInputTokens),
    cacheCreationInputTokens: integer(record.cacheCreationInputTokens),
    totalCost: record.totalCostNanoUsd === null ? undefined : nanoToUsdNumber(record.totalCostNanoUsd),
    unpricedSpans: BigInt(record.unpricedSpans),
    tokensEstimated: record.tokensEstimated,
  };
}

/** Converts spans in steps, with turns of the event loop for other requests: a page may have 10,000 of them. */
export async function messagesOfSpans(spans: readonly Span[], traceId: string): Promise<TraceSpan[]> {
  const messages: TraceSpan[] = [];
  let begunAt = 0;
  let characters = 0;
  for (const span of spans) {
    messages.push(spanMessage(span, traceId));
    characters += (span.errorJson?.length ?? 0) + (span.contextsJson?.length ?? 0);
    if (messages.length - begunAt < SPANS_PER_TURN && characters < CHARACTERS_PER_TURN) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    begunAt = messages.length;
    characters = 0;
  }
  return messages;
}

/** A whole message without an initializer, which would be copied member by member. */
function spanMessage(span: Span, traceId: string): TraceSpan {
  return {
    $typeName: 'spandrel.v1.TraceSpan',
    spanId: span.spanId,
    traceId,
    parentId: span.parentId ?? undefined,
    type: SPAN_TYPES[span.type],
    name: span.name ?? span.type,
    vendor: span.vendor ?? undefined,
    model: span.model ?? undefined,
    input: typedValue(span.inputJson),
    output: typedValue(span.outputJson),
    paramsJson: span.paramsJson ?? undefined,
    metrics: spanMetrics(span),
    error: errorMessage(span.errorJson),
    contexts: span.contextsJson === null ? [] : contextMessages(span.contextsJson),
    timestamps: {
      $typeName: 'spandrel.v1.SpanTimestamps',
      startedAt: timestampFromMs(span.startedAtMs),
      firstTokenAt: toTimestamp(span.firstTokenAtMs),
      finishedAt: timestampFromMs(span.finishedAtMs),
    },
    telemetryJson: span.telemetryJson ?? undefined,
  };
}

/** Undefined for a span without metrics and cost. */
function spanMetrics(span: Span): SpanMetrics | undefined {
  const { promptTokens, completionTokens, reasoningTokens, cacheReadInputTokens, cacheCreationInputTokens } = span;
  const { cachedTokensInPrompt, costNanoUsd, costSource, otherMetricsJson, tokensEstimated } = span;
  const tokens =
    promptTokens ?? completionTokens ?? reasoningTokens ?? cacheReadInputTokens ?? cacheCreationInputTokens;
  const isSent = (tokens ?? cachedTokensInPrompt ?? otherMetricsJson ?? costNanoUsd ?? costSource) !== null;
  if (!isSent && !tokensEstimated) return undefined;
  return {
    $typeName: 'spandrel.v1.SpanMetrics',
    promptTokens: integer(promptTokens),
    completionTokens: integer(completionTokens),
    reasoningTokens: integer(reasoningTokens),
    cacheReadInputTokens: integer(cacheReadInputTokens),
    cacheCreationInputTokens: integer(cacheCreationInputTokens),
    tokensEstimated: tokensEstimated ? true : undefined,
    cachedTokensInPrompt: cachedTokensInPrompt ?? undefined,
    cost: costNanoUsd === null ? undefined : nanoToUsdNumber(costNanoUsd),
    costSource: costSource === null ? undefined : COST_SOURCES[costSource],
    otherJson: otherMetricsJson ?? undefined,
  };
}

/** Stored as {"type":..,"value":..} in this order; the value's text is cut out, not parsed, so it stays as stored. */
function typedValue(json: string | null): TypedValue | undefined {
  if (json === null) return undefined;
  const valueAt = endOfString(json, '{"type":'.length);
  return {
    $typeName: 'spandrel.v1.TypedValue',
    type: textOf(json.slice('{"type":"'.length, valueAt - 1)),
    valueJson: json.slice(valueAt + ',"value":'.length, -1),
  };
}

/** A JSON string without its quotes as text. */
function textOf(json: string): string {
  return json.includes('\\') ? String(JSON.parse(`"${json}"`)) : json;
}

/** The index after a JSON string that starts at `start`. */
function endOfString(json: string, start: number): number {
  let index = start + 1;
  while (json[index] !== '"') index += json[index] === '\\' ? 2 : 1;
  return index + 1;
}

/** Parses text that the collector has stored, so its shape is known. */
export function errorMessage(json: string | null): SpanError | undefined {
  if (json === null) return undefined;
  const { message, stacktrace } = JSON.parse(json) as Pick<SpanError, 'message' | 'stacktrace'>;
  return { $typeName: 'spandrel.v1.SpanError', message, stacktrace };
}

type ContextShape = { document_id: string | null; chunk_id: string | null; content: string };

function contextMessages(json: string): SpanContext[] {
  return (JSON.parse(json) as ContextShape[]).map((context) => ({
    $typeName: 'spandrel.v1.SpanContext',
    documentId: context.document_id ?? undefined,
    chunkId: context.chunk_id ?? undefined,
    content: context.content,
  }));
}

export function evaluationMessage(evaluation: ShownEvaluation): MessageInitShape<typeof TraceEvaluationSchema> {
  const { status, errorJson, shownInputsJson, insertedAtMs, startedAtMs, finishedAtMs, ...rest } = evaluation;
  return {
    ...unsetNulls(rest),
    status: EVALUATION_STATUSES[status],
    timestamps: {
      insertedAt: timestampFromMs(insertedAtMs),
      startedAt: toTimestamp(startedAtMs),
      finishedAt: toTimestamp(finishedAtMs),
    },
    error: errorMessage(errorJson),
    inputsJson: shownInputsJson ?? undefined,
  };
}

function integer(value: number | null): bigint | undefined {
  return value === null ? undefined : BigInt(value);
}
