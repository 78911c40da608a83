/** How many bytes values take in an answer: UTF-8, with what JSON has to escape. */

import type { Evaluator } from './evaluator.ts';
import { isObject, parseFreeJson } from './free-json.ts';
import type { Evaluation, Span } from './trace.ts';
import { SUMMED } from './trace-aggregates.ts';

/** Text of one answer. What belongs to a list and has no room comes with the next page. */
export const ANSWER_MAX_BYTES = 8 * 1024 * 1024;
/** Of one text beside the lists of an answer: several of them leave room for a page. */
export const HEAD_TEXT_MAX_BYTES = 1_280 * 1024;

// Names of members, punctuation and instants, rounded up.
const SPAN_BYTES = 480;
const EVALUATION_BYTES = 460;
const EVALUATOR_BYTES = 600;
const FIELD_BYTES = 60;
const ESCAPED = /["\\\u0000-\u001f\u007f\u2028\u2029]/;
// Long texts are looked at in parts, so that one that is too large costs no more than one that is as large as may be.
const PART_CHARACTERS = 64 * 1024;

/** Of a text written as a JSON string, with its quotes; some number beyond `maxBytes` when it takes more than that. */
export function jsonStringBytes(text: string, maxBytes = Number.POSITIVE_INFINITY): number {
  let bytes = 2;
  for (let start = 0; start < text.length && bytes <= maxBytes; start += PART_CHARACTERS) {
    const part = text.length <= PART_CHARACTERS ? text : text.slice(start, start + PART_CHARACTERS);
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

/** The text itself when it has room beside the lists of an answer; else its beginning and a mark that says so. */
export function cutHeadText(text: string): string {
  if (jsonStringBytes(text, HEAD_TEXT_MAX_BYTES) <= HEAD_TEXT_MAX_BYTES) return text;
  let end = 0;
  let leftBytes = HEAD_TEXT_MAX_BYTES;
  for (;;) {
    const part = text.slice(end, end + PART_CHARACTERS);
    leftBytes -= jsonStringBytes(part);
    if (leftBytes < 0) break;
    end += part.length;
  }
  // Half of a character is none.
  if (/[\ud800-\udbff]$/.test(text.slice(0, end))) end -= 1;
  return `${text.slice(0, end)}…[truncated: ${Buffer.byteLength(text)} bytes]`;
}

/** An error as it is stored, with as much of its stack trace as has room beside the lists of an answer. */
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

/** Values that are stored as the JSON that is written. */
function jsons(...values: readonly (string | null)[]): number {
  let bytes = 0;
  for (const value of values) if (value !== null) bytes += Buffer.byteLength(value);
  return bytes;
}
