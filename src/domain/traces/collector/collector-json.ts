/** Reads drafts from the JSON of the collector. */

import { isAbsent, isArray, isObject, makeWellFormed, numberOf, scalarText } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { findTooWide, TOO_WIDE, TOO_WIDE_REASON } from '../../../json/wide-json.ts';
import {
  type ContextDraft,
  type DraftFacts,
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
} from './collector-draft.ts';
import { findHttpStatus } from './collector-error.ts';
import { refusal } from './collector-report.ts';
import { dateTextHint } from './instant-hints.ts';
import { toListDraft, toTypedDraft } from './typed-value.ts';

/** A member that may be absent. */
type Member = LosslessJson | undefined;

/** Metadata that older clients put beside the spans. */
const TOP_LEVEL_KEYS = ['user_id', 'thread_id', 'customer_id', 'labels'];

/** Throws malformed_request when the body is not an object. */
export function toTraceDraft(body: LosslessJson, facts: DraftFacts): TraceDraft {
  if (!isObject(body)) throw refusal('malformed_request', 'Invalid body, expecting json');
  const sent = facts.hasEscapes ? makeWellFormed(body) : body;
  return {
    traceId: toText(traceIdIn(sent), 'trace_id'),
    spans: toList(sent.spans, 'spans', (item) => toItem(item, facts, toSpanDraft)),
    evaluations: toList(sent.evaluations, 'evaluations', (item) => toItem(item, facts, toEvaluationDraft)),
    metadata: [toMetadataDraft(sent)],
    expectedOutput: sent.expected_output ?? undefined,
    facts,
  };
}

/** Of the request, or else of its first span. */
function traceIdIn({ trace_id: traceId, spans }: LosslessObject): Member {
  return isAbsent(traceId) && isArray(spans) ? spans.find(isObject)?.trace_id : traceId;
}

function toItem<T>(item: Member, facts: DraftFacts, read: (item: LosslessObject) => T): Sent<T> {
  if (!isObject(item)) return unreadable('', 'must be an object');
  const wideMember = facts.hasWide ? findTooWide(item) : null;
  return wideMember === null ? read(item) : unreadable(wideMember, TOO_WIDE_REASON);
}

function toSpanDraft(item: LosslessObject): SpanDraft {
  const times = toObject(item.timestamps, 'timestamps');
  const isTimed = times !== undefined && !isUnreadable(times);
  return {
    spanId: toText(isAbsent(item.span_id) ? item.id : item.span_id, 'span_id'),
    traceId: toText(item.trace_id, 'trace_id'),
    parentId: toText(item.parent_id, 'parent_id'),
    type: toText(item.type, 'type'),
    name: toText(item.name, 'name'),
    vendor: toText(item.vendor, 'vendor'),
    model: toText(item.model, 'model'),
    input: toTypedDraft(item.input, 'input'),
    output: isAbsent(item.output) ? toOutputs(unlessBlank(item.outputs)) : toTypedDraft(item.output, 'output'),
    params: toObject(unlessBlank(item.params), 'params'),
    metrics: toMetricsDraft(item.metrics),
    error: toErrorDraft(item.error),
    contexts: toContextDrafts(item.contexts),
    startedAt: isTimed ? toInstant(times.started_at, 'timestamps.started_at') : times,
    finishedAt: isTimed ? toInstant(times.finished_at, 'timestamps.finished_at') : times,
    firstTokenAt: isTimed ? toInstant(times.first_token_at, 'timestamps.first_token_at') : times,
    startedNs: undefined,
    finishedNs: undefined,
    rates: undefined,
    dropped: [],
    telemetry: undefined,
  };
}

function toOutputs(value: Member): Sent<TypedDraft> {
  if (isAbsent(value)) return undefined;
  return isArray(value) ? toListDraft(value, 'outputs') : unreadable('outputs', 'must be an array');
}

function toMetricsDraft(value: Member): Sent<MetricsDraft> {
  const sent = toObject(unlessBlank(value), 'metrics');
  if (sent === undefined || isUnreadable(sent)) return sent;
  return {
    promptTokens: toFigure(sent.prompt_tokens, 'metrics.prompt_tokens'),
    completionTokens: toFigure(sent.completion_tokens, 'metrics.completion_tokens'),
    reasoningTokens: toFigure(sent.reasoning_tokens, 'metrics.reasoning_tokens'),
    cacheReadInputTokens: toFigure(sent.cache_read_input_tokens, 'metrics.cache_read_input_tokens'),
    cacheCreationInputTokens: toFigure(sent.cache_creation_input_tokens, 'metrics.cache_creation_input_tokens'),
    cost: toFigure(sent.cost, 'metrics.cost'),
    tokensEstimated: toBoolean(sent.tokens_estimated, 'metrics.tokens_estimated'),
    cachedTokensInPrompt: toBoolean(sent.cached_tokens_in_prompt, 'metrics.cached_tokens_in_prompt'),
    others: sent,
  };
}

function toErrorDraft(value: Member): Sent<ErrorDraft> {
  if (isBlank(value)) return undefined;
  if (typeof value === 'string') {
    return { message: value, stacktrace: undefined, kind: undefined, httpStatus: undefined };
  }
  if (!isObject(value)) return unreadable('error', 'must be an object or a string');
  return {
    message: toText(unlessBlank(value.message), 'error.message'),
    stacktrace: toLines(value.stacktrace),
    // SDKs put one of these beside the message.
    kind: [value.type, value.name].find(isNonEmptyText),
    httpStatus: findHttpStatus([value.http_status, value.status_code, value.status]),
  };
}

function isNonEmptyText(value: Member): value is string {
  return typeof value === 'string' && value !== '';
}

function toLines(value: Member): ErrorDraft['stacktrace'] {
  if (isBlank(value)) return undefined;
  if (typeof value === 'string' || (isArray(value) && value.every((line) => typeof line === 'string'))) return value;
  return unreadable('error.stacktrace', 'must be an array of strings');
}

export function toContextDrafts(value: Member): Sent<DraftList<ContextDraft>> {
  return toList(unlessBlank(value), 'contexts', toContextDraft);
}

function toContextDraft(item: Member, index: number): Sent<ContextDraft> {
  const path = `contexts[${index}]`;
  if (typeof item === 'string') return item;
  if (!isObject(item)) return unreadable(path, 'must be a string or an object');
  return {
    documentId: toContextId(item.document_id, `${path}.document_id`),
    chunkId: toContextId(item.chunk_id, `${path}.chunk_id`),
    content: item.content ?? undefined,
  };
}

function toContextId(value: Member, path: string): Sent<string> {
  if (isAbsent(value)) return undefined;
  const text = typeof value === 'boolean' ? null : typeof value === 'string' ? value : scalarText(value);
  return text ?? unreadable(path, 'must be a string or a number');
}

export function toEvaluationDraft(item: LosslessObject): EvaluationDraft {
  const times = toObject(item.timestamps, 'timestamps');
  const isTimed = times !== undefined && !isUnreadable(times);
  return {
    name: toText(item.name, 'name'),
    evaluationId: toText(item.evaluation_id, 'evaluation_id'),
    evaluatorId: toText(item.evaluator_id, 'evaluator_id'),
    spanId: toText(item.span_id, 'span_id'),
    type: toText(item.type, 'type'),
    threadId: toText(item.evaluation_thread_id, 'evaluation_thread_id'),
    isGuardrail: toBoolean(item.is_guardrail, 'is_guardrail'),
    status: toText(unlessBlank(item.status), 'status'),
    passed: toBoolean(item.passed, 'passed'),
    score: toNumber(unlessBlank(item.score), 'score'),
    label: toText(item.label, 'label'),
    details: toText(item.details, 'details'),
    inputs: item.inputs ?? undefined,
    cost: toObject(unlessBlank(item.cost), 'cost'),
    error: toErrorDraft(item.error),
    startedAt: isTimed ? toInstant(times.started_at, 'timestamps.started_at') : times,
    finishedAt: isTimed ? toInstant(times.finished_at, 'timestamps.finished_at') : times,
    toJson: () => item,
  };
}

function toMetadataDraft(sent: LosslessObject): Sent<MetadataDraft> {
  const { metadata } = sent;
  if (metadata === TOO_WIDE) return unreadable('metadata', TOO_WIDE_REASON);
  if (isObject(metadata)) return { members: metadata, pathPrefix: 'metadata.' };
  if (!isBlank(metadata)) return unreadable('metadata', 'must be an object');
  const keys = TOP_LEVEL_KEYS.filter((key) => !isAbsent(sent[key]));
  if (keys.length === 0) return undefined;
  return { members: Object.fromEntries(keys.map((key) => [key, sent[key] ?? null])), pathPrefix: '' };
}

export function toText(value: Member, path: string): Sent<string> {
  if (isAbsent(value)) return undefined;
  return typeof value === 'string' ? value : unreadable(path, 'must be a string');
}

export function toNumber(value: Member, path: string): Sent<number> {
  if (isAbsent(value)) return undefined;
  return numberOf(value) ?? unreadable(path, 'must be a number');
}

function toInstant(value: Member, path: string): Sent<number> {
  const instant = toNumber(value, path);
  return isUnreadable(instant) ? unreadable(path, `${instant.reason}${dateTextHint(value)}`) : instant;
}

const NUMERIC = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i;

/** A number, also one that was sent as text. Blank text counts as not sent. */
export function toFigure(value: Member, path: string): Sent<number> {
  if (isBlank(value)) return undefined;
  const number = typeof value === 'string' && NUMERIC.test(value) ? Number(value) : numberOf(value);
  return number === null || !Number.isFinite(number) ? unreadable(path, 'must be a number') : number;
}

/** Words that SDKs write for a missing value. */
const BLANKS: ReadonlySet<string> = new Set(['', 'none', 'null', 'unknown', 'undefined']);
const BLANK_CHARACTERS_MAX = 9;

/** Whether a value says nothing. 0 and false say something. */
export function isBlank(value: Member): value is string | null | undefined {
  if (typeof value !== 'string') return value === undefined || value === null;
  return value.length <= BLANK_CHARACTERS_MAX && BLANKS.has(value.toLowerCase());
}

function unlessBlank(value: Member): Member {
  return isBlank(value) ? undefined : value;
}

export function toBoolean(value: Member, path: string): Sent<boolean> {
  if (isBlank(value)) return undefined;
  return typeof value === 'boolean' ? value : unreadable(path, 'must be a boolean');
}

function toObject(value: Member, path: string): Sent<LosslessObject> {
  if (isAbsent(value)) return undefined;
  return isObject(value) ? value : unreadable(path, 'must be an object');
}

/** Makes drafts one by one: together they may take more memory than the items. */
function toList<T>(value: Member, path: string, read: (item: Member, index: number) => Sent<T>): Sent<DraftList<T>> {
  if (isAbsent(value)) return undefined;
  if (!isArray(value)) return unreadable(path, 'must be an array');
  return { length: value.length, at: (index) => read(value[index], index) };
}
