/** How many bytes values take in an answer: UTF-8, with JSON escapes. */

import { isObject, parseFreeJson } from '../json/free-json.ts';
import type { Evaluator } from './evaluators/evaluator.ts';
import type { Evaluation, Span } from './traces/trace.ts';
import { SUMMED } from './traces/trace-aggregates.ts';

/** Bytes of text in one answer. Items of a list that do not fit go to the next page. */
export const ANSWER_MAX_BYTES = 8 * 1024 * 1024;
/** Bytes of one text beside the lists of an answer. The limit leaves room for several such texts and a page. */
export const HEAD_TEXT_MAX_BYTES = 1_280 * 1024;

// Rounded up: member names, punctuation and instants.
const SPAN_BYTES = 480;
const EVALUATION_BYTES = 460;
const EVALUATOR_BYTES = 600;
const FIELD_BYTES = 60;
const ESCAPED = /["\\\u0000-\u001f\u007f\u2028\u2029]/;
// Long texts are measured in chunks, so that measuring a text that is far too large stops early.
const CHUNK_CHARACTERS = 64 * 1024;

/** Bytes of the text as a JSON string with its quotes. Above `maxBytes` the result is any larger number. */
export function jsonStringBytes(text: string, maxBytes = Number.POSITIVE_INFINITY): number {
  let bytes = 2;
  for (let start = 0; start < text.length && bytes <= maxBytes; start += CHUNK_CHARACTERS) {
    const part = text.length <= CHUNK_CHARACTERS ? text : text.slice(start, start + CHUNK_CHARACTERS);
    bytes += ESCAPED.test(part) ? Buffer.byteLength(JSON.stringify(part)) - 2 : Buffer.byteLength(part);
  }
  return bytes;
}

export function spanBytes(span: Span, traceId: string): number {
  return (
    SPAN_BYTES +
    texts(traceId, span.spanId, span.parentId, span.name, span.vendor, span.model) +
    jsons(span.inputJson, span.outputJson, span.paramsJson, span.otherMetricsJson) +
    jsons(span.errorJson, span.contextsJson, span.telemetryJson) +
    SUMMED.reduce((sum, name) => sum + digits(span[name]), 0)
  );
}

export function evaluationBytes(evaluation: Evaluation): number {
  const { evaluationId, evaluatorId, name, type, spanId, label, details, monitorId } = evaluation;
  return (
    EVALUATION_BYTES +
    texts(evaluationId, evaluatorId, name, type, spanId, label, details, monitorId) +
    jsons(evaluation.errorJson, evaluation.inputsJson, evaluation.costJson)
  );
}

export function evaluatorBytes(evaluator: Evaluator): number {
  const { id, projectId, name, slug, workflowId, workflowName, workflowIcon, copiedFromEvaluatorId } = evaluator;
  const fields = [...evaluator.fields, ...evaluator.outputFields];
  return (
    EVALUATOR_BYTES +
    texts(id, id, projectId, name, slug, workflowId, workflowName, workflowIcon, copiedFromEvaluatorId) +
    jsons(evaluator.configJson) +
    fields.reduce((sum, { identifier, type }) => sum + FIELD_BYTES + texts(identifier, type), 0)
  );
}

/** The text itself when it fits beside the lists of an answer; else its beginning and a truncation mark. */
export function cutHeadText(text: string): string {
  if (jsonStringBytes(text, HEAD_TEXT_MAX_BYTES) <= HEAD_TEXT_MAX_BYTES) return text;
  let end = 0;
  let leftBytes = HEAD_TEXT_MAX_BYTES;
  for (;;) {
    const part = text.slice(end, end + CHUNK_CHARACTERS);
    leftBytes -= jsonStringBytes(part);
    if (leftBytes < 0) break;
    end += part.length;
  }
  // Never cut a surrogate pair in half.
  if (/[\ud800-\udbff]$/.test(text.slice(0, end))) end -= 1;
  return `${text.slice(0, end)}…[truncated: ${Buffer.byteLength(text)} bytes]`;
}

/** A stored error, with its stack trace cut to what fits beside the lists of an answer. */
export function cutHeadError(errorJson: string): string {
  if (errorJson.length <= HEAD_TEXT_MAX_BYTES && Buffer.byteLength(errorJson) <= HEAD_TEXT_MAX_BYTES) return errorJson;
  const error = parseFreeJson(errorJson);
  const message = isObject(error) && typeof error.message === 'string' ? cutHeadText(error.message) : '';
  const sent = isObject(error) && Array.isArray(error.stacktrace) ? error.stacktrace : [];
  let leftBytes = HEAD_TEXT_MAX_BYTES - jsonStringBytes(message);
  const stacktrace: string[] = [];
  for (const line of sent) {
    if (typeof line === 'string') leftBytes -= jsonStringBytes(line, HEAD_TEXT_MAX_BYTES) + 1;
    if (leftBytes < 0) break;
    stacktrace.push(String(line));
  }
  return JSON.stringify({ has_error: true, message, stacktrace });
}

function texts(...values: readonly (string | null)[]): number {
  let bytes = 0;
  for (const value of values) if (value !== null) bytes += jsonStringBytes(value);
  return bytes;
}

function digits(value: number | null): number {
  return value === null ? 0 : String(value).length;
}

/** Values that are stored as the JSON text that the answer contains. */
function jsons(...values: readonly (string | null)[]): number {
  let bytes = 0;
  for (const value of values) if (value !== null) bytes += Buffer.byteLength(value);
  return bytes;
}
