/** The error of a collected span or evaluation. */

import { numberOf } from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { cutToCharacters } from '../../text-limits.ts';
import { type ErrorDraft, isUnreadable, type Sent } from './collector-draft.ts';
import { cleanText, note, type Reading, readText, reject } from './collector-reading.ts';

const DEFAULT_MESSAGE = 'Unknown error';
const DEFAULT_KIND = 'error';
const KIND_CHARACTERS_MAX = 200;
const LINE_BREAK = /\r\n|\n|\r/;
/** An empty line takes three bytes of a request, and far more time of every read. */
const LINES_MAX = 10_000;

/** Compact JSON text of {"has_error":true,"message","stacktrace"}; null when there is none. */
export function readError(sent: Sent<ErrorDraft>, reading: Reading): string | null {
  if (sent === undefined) return null;
  if (isUnreadable(sent)) return reject(reading, sent.path, sent.reason);
  const message = readText(sent.message, reading) || DEFAULT_MESSAGE;
  const stacktrace = readStacktrace(sent.stacktrace, reading);
  return `{"has_error":true,"message":${JSON.stringify(message)},"stacktrace":${JSON.stringify(stacktrace)}}`;
}

function readStacktrace(sent: ErrorDraft['stacktrace'], reading: Reading): readonly string[] {
  if (sent === undefined) return [];
  if (typeof sent === 'string') return cutLines(cleanText(sent, reading).split(LINE_BREAK), reading);
  if (!isUnreadable(sent)) return cutLines(sent, reading).map((line) => cleanText(line, reading));
  reject(reading, sent.path, sent.reason);
  return [];
}

function cutLines(lines: readonly string[], reading: Reading): readonly string[] {
  if (lines.length <= LINES_MAX) return lines;
  note(reading, 'error.stacktrace', `has ${lines.length} lines; the first ${LINES_MAX} are kept`);
  return [...lines.slice(0, LINES_MAX), `…[truncated: ${lines.length} lines]`];
}

/** The kind of error, for statistics; `error` when none was sent. */
export function readErrorKind(kind: string | undefined): string {
  if (kind === undefined || kind === '') return DEFAULT_KIND;
  return cutToCharacters(kind.replaceAll('\0', '\ufffd'), KIND_CHARACTERS_MAX);
}

/** The first of these values that is an HTTP status. */
export function findHttpStatus(values: readonly (LosslessJson | undefined)[]): number | undefined {
  for (const value of values) {
    const status = numberOf(value);
    if (status !== null && Number.isInteger(status) && status >= 100 && status <= 599) return status;
  }
  return undefined;
}
