/** How many bytes the parts of a trace take in an answer, and cutting the texts that are too long for one. */

import { isObject, parseFreeJson } from '../../json/free-json.ts';
import { CHUNK_CHARACTERS, jsonStringBytes, jsonStringsBytes, jsonTextsBytes } from '../../json/json-size.ts';
import { type Evaluation, type Span, SUMMED } from './trace.ts';

/** Bytes of text in one answer. Items of a list that do not fit go to the next page. */
export const RESPONSE_MAX_BYTES = 8 * 1024 * 1024;
/** Bytes of one text beside the lists of an answer. The limit leaves room for several such texts and a page. */
const HEAD_TEXT_MAX_BYTES = 1_280 * 1024;
/** What is stored of an expected output, without the mark where it was cut. All of it is shown. */
export const EXPECTED_OUTPUT_MAX_BYTES = HEAD_TEXT_MAX_BYTES;

// Rounded up: member names, punctuation and instants.
const SPAN_BYTES = 480;
const EVALUATION_BYTES = 460;
const LINE_BYTES = 40;
const LINE_END = '","';

export function spanBytes(span: Span, traceId: string): number {
  return (
    SPAN_BYTES +
    jsonStringsBytes(traceId, span.spanId, span.parentId, span.name, span.vendor, span.model) +
    jsonTextsBytes(span.inputJson, span.outputJson, span.paramsJson, span.otherMetricsJson) +
    jsonTextsBytes(span.errorJson, span.contextsJson, span.telemetryJson) +
    SUMMED.reduce((sum, name) => sum + digits(span[name]), 0)
  );
}

export function evaluationBytes(evaluation: Evaluation): number {
  const { evaluationId, evaluatorId, name, type, spanId, label, details, monitorId } = evaluation;
  return (
    EVALUATION_BYTES +
    jsonStringsBytes(evaluationId, evaluatorId, name, type, spanId, label, details, monitorId) +
    jsonTextsBytes(evaluation.errorJson, evaluation.inputsJson, evaluation.costJson)
  );
}

/** About what a loaded span takes in memory, whatever of it is shown. */
export function textUnits(span: Span): number {
  const { inputJson, outputJson, errorJson, paramsJson, contextsJson, telemetryJson } = span;
  const texts = [inputJson, outputJson, errorJson, paramsJson, contextsJson, telemetryJson];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}

/** What the lines of a stack trace count beside their text: a page of empty lines would take long to build. */
export function linesBytes({ errorJson }: Span | Evaluation): number {
  const text = errorJson ?? '';
  let count = 0;
  for (let at = text.indexOf(LINE_END); at >= 0; at = text.indexOf(LINE_END, at + 1)) count += 1;
  return count * LINE_BYTES;
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

function digits(value: number | null): number {
  return value === null ? 0 : String(value).length;
}
