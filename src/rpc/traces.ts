/** TraceService: message <-> domain values. */

import { create, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import {
  type TraceEvaluationSchema,
  TraceFormat,
  type TraceSchema,
  type TraceService,
  TraceSpanSchema,
} from '../../gen/spandrel/v1/traces_pb.js';
import type { Project } from '../domain/caller.ts';
import type { TraceDraft } from '../domain/collector-draft.ts';
import { toTraceDraft } from '../domain/collector-json.ts';
import { Fault } from '../domain/fault.ts';
import { NUMBER_TEXTS_REASON, tooManyNumberTexts } from '../domain/json-text.ts';
import { nanoToUsdNumber } from '../domain/money.ts';
import type { ProjectSettingsService } from '../domain/project-settings.ts';
import type { Evaluation, Span, TraceRecord } from '../domain/trace.ts';
import type { Traces, TraceView } from '../domain/traces.ts';
import { TOO_WIDE_REASON } from '../domain/wide-json.ts';
import { readCollectRequest } from './collect-request.ts';
import type { Implementation, Run } from './method.ts';
import { createProjectSettingsRpc } from './project-settings.ts';
import { projectOf } from './scope.ts';

const SPANS_PER_TURN = 1000;
/** By what is wrong with the body. */
const UNREADABLE_MESSAGES: ReadonlyMap<unknown, string> = new Map([
  ['nested too deep', 'Validation error: body nested deeper than 128 levels'],
  ['not a JSON media type', 'Invalid body, expecting json; send the header Content-Type: application/json'],
]);

export type TraceRpcDeps = {
  readonly traces: Traces;
  readonly settings: ProjectSettingsService;
  readonly platformUrl: (project: Project, traceId: string) => string;
};

export function createTraceRpc({ traces, settings, platformUrl }: TraceRpcDeps): Implementation<typeof TraceService> {
  const collectDraft = (draft: TraceDraft): Run<(typeof TraceService)['method']['collectTrace']> => {
    return async (context) => {
      const at = { project: projectOf(context), nowMs: context.nowMs };
      return { message: 'Trace received successfully.', partialSuccess: await traces.collect(draft, at) };
    };
  };
  return {
    collectTrace: {
      spelling: 'values',
      anyMediaType: true,
      readMessage: (request) => collectDraft(readCollectRequest(request, () => rewordUnreadable(tooManyNumberTexts()))),
      readJson: (body, facts) => collectDraft(toTraceDraft(body, facts)),
      reword: rewordUnreadable,
    },
    getTrace: {
      async handle(request, context) {
        const project = projectOf(context);
        const asDigest = request.format === TraceFormat.DIGEST || request.llmMode === 'true' || request.llmMode === '1';
        if (asDigest) {
          const { record, evaluations, text } = await traces.digest(
            project,
            { traceId: request.traceId, countAnswer: context.countAnswer },
            context.nowMs,
          );
          const digest = {
            traceId: record.traceId,
            formattedTrace: text,
            timestamps: timestampsOf(record),
            metadataJson: record.metadataJson,
            evaluations: evaluations.map(evaluationMessage),
            platformUrl: platformUrl(project, record.traceId),
          };
          return { view: { case: 'digest', value: digest } };
        }
        const view = await traces.get(
          project,
          {
            traceId: request.traceId,
            spansLimit: request.spansLimit ?? null,
            spansCursor: request.spansCursor,
            countAnswer: context.countAnswer,
          },
          context.nowMs,
        );
        const trace = traceMessage(view, project, platformUrl);
        return { view: { case: 'trace', value: { ...trace, spans: await spanMessages(view) } } };
      },
    },
    ...createProjectSettingsRpc(settings),
  };
}

/** The collector says what is wrong with an unreadable body in its own words, in both texts. */
function rewordUnreadable(fault: Fault): Fault {
  if (fault.code === 'validation_error') {
    const isWide = fault.message.includes(TOO_WIDE_REASON);
    const message = `Validation error: body ${isWide ? TOO_WIDE_REASON : NUMBER_TEXTS_REASON}`;
    return new Fault('validation_error', message, { kind: 'bad_request', flatError: message });
  }
  if (fault.code !== 'malformed_request') return fault;
  const message = UNREADABLE_MESSAGES.get(fault.meta.detail) ?? 'Invalid body, expecting json';
  return new Fault('malformed_request', message, { flatError: message });
}

function traceMessage(
  view: TraceView,
  project: Project,
  platformUrl: TraceRpcDeps['platformUrl'],
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
    asciiTree: view.asciiTree,
    platformUrl: platformUrl(project, record.traceId),
    ...set('expectedOutput', view.expectedOutput),
    ...set('error', fromJson(view.errorJson, errorMessage)),
    ...set('spansNextCursor', view.nextSpansCursor),
  };
}

function timestampsOf(record: TraceRecord) {
  return {
    startedAt: BigInt(record.startedAtMs ?? record.insertedAtMs),
    insertedAt: BigInt(record.insertedAtMs),
    updatedAt: BigInt(record.updatedAtMs),
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

/** Made in parts, with room for others in between: a page may have 10,000 of them. */
async function spanMessages({ spans, record }: TraceView): Promise<MessageShape<typeof TraceSpanSchema>[]> {
  const messages: MessageShape<typeof TraceSpanSchema>[] = [];
  for (const span of spans) {
    messages.push(create(TraceSpanSchema, spanMessage(span, record.traceId)));
    if (messages.length % SPANS_PER_TURN === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return messages;
}

function spanMessage(span: Span, traceId: string): MessageInitShape<typeof TraceSpanSchema> {
  return {
    spanId: span.spanId,
    traceId,
    type: span.type,
    name: span.name ?? span.type,
    timestamps: {
      startedAt: BigInt(span.startedAtMs),
      finishedAt: BigInt(span.finishedAtMs),
      ...setInteger('firstTokenAt', span.firstTokenAtMs),
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

/** Null when the step carried no metrics and has no cost. */
function spanMetrics(span: Span) {
  const tokens = tokensOf(span);
  const sent = Object.keys(tokens).length > 0 || span.tokensEstimated || span.cachedTokensInPrompt !== null;
  if (!sent && span.otherMetricsJson === null && span.costNanoUsd === null && span.costSource === null) return null;
  return {
    ...tokens,
    ...(span.tokensEstimated ? { tokensEstimated: true } : {}),
    ...set('cachedTokensInPrompt', span.cachedTokensInPrompt),
    ...set('cost', span.costNanoUsd === null ? null : nanoToUsdNumber(span.costNanoUsd)),
    ...set('costSource', span.costSource),
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

function errorMessage(error: ErrorShape) {
  return { hasError: true, message: error.message, stacktrace: error.stacktrace };
}

type ContextShape = { document_id: string | null; chunk_id: string | null; content: string };

function contextMessage(context: ContextShape) {
  return { content: context.content, ...set('documentId', context.document_id), ...set('chunkId', context.chunk_id) };
}

function evaluationMessage(evaluation: Evaluation): MessageInitShape<typeof TraceEvaluationSchema> {
  return {
    evaluationId: evaluation.evaluationId,
    evaluatorId: evaluation.evaluatorId,
    name: evaluation.name,
    isGuardrail: evaluation.isGuardrail,
    status: evaluation.status,
    timestamps: {
      insertedAt: BigInt(evaluation.insertedAtMs),
      ...setInteger('startedAt', evaluation.startedAtMs),
      ...setInteger('finishedAt', evaluation.finishedAtMs),
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

/** Our own stored text: its shape was made by the collector. */
function fromJson<T, M>(json: string | null, read: (value: T) => M): M | null {
  return json === null ? null : read(JSON.parse(json) as T);
}

/** A member only when there is a value: unset stays unset. */
function set<K extends string, V>(name: K, value: V | null): { [P in K]?: V } {
  return value === null ? {} : ({ [name]: value } as { [P in K]: V });
}

function setInteger<K extends string>(name: K, value: number | null): { [P in K]?: bigint } {
  return set(name, value === null ? null : BigInt(value));
}
