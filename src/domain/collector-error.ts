/** The error of a collected span or evaluation. */

import { isAbsent, type Reading, readText, refuse, tidyText } from './collector-reading.ts';
import { isArray, isObject, numberOf } from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import { cutToCharacters } from './text-limits.ts';

const DEFAULT_MESSAGE = 'Unknown error';
const DEFAULT_CLASS = 'error';
const CLASS_CHARACTERS_MAX = 200;
const LINE_BREAK = /\r\n|\n|\r/;

/** Compact JSON text of {"has_error":true,"message","stacktrace"}; null when there is none. */
export function readError(value: LosslessJson | undefined, field: string, reading: Reading): string | null {
  if (isAbsent(value)) return null;
  if (typeof value === 'string') return errorText(tidyText(value, reading), []);
  if (!isObject(value)) return refuse(reading, field, 'must be an object or a string');
  const message = readText(value.message, `${field}.message`, reading) ?? DEFAULT_MESSAGE;
  return errorText(message, readStacktrace(value.stacktrace, `${field}.stacktrace`, reading));
}

function errorText(message: string, stacktrace: readonly string[]): string {
  return `{"has_error":true,"message":${JSON.stringify(message)},"stacktrace":${JSON.stringify(stacktrace)}}`;
}

function readStacktrace(value: LosslessJson | undefined, field: string, reading: Reading): readonly string[] {
  if (isAbsent(value)) return [];
  if (typeof value === 'string') return tidyText(value, reading).split(LINE_BREAK);
  if (isArray(value) && value.every((line) => typeof line === 'string')) {
    return value.map((line) => tidyText(line, reading));
  }
  refuse(reading, field, 'must be an array of strings');
  return [];
}

/** What kind of error it was, for statistics: the type or name that SDKs put beside the message, else `error`. */
export function readErrorClass(error: LosslessJson | undefined): string {
  if (!isObject(error)) return DEFAULT_CLASS;
  for (const name of [error.type, error.name]) {
    if (typeof name === 'string' && name !== '') {
      return cutToCharacters(name.replaceAll('\0', '\ufffd'), CLASS_CHARACTERS_MAX);
    }
  }
  return DEFAULT_CLASS;
}

/** The HTTP status a provider answered with, when the error or the parameters of the call tell it. */
export function readHttpStatus(error: LosslessJson | undefined, params: LosslessObject | null): number | null {
  const told = isObject(error) ? [error.http_status, error.status_code, error.status] : [];
  for (const value of [...told, params?.http_status, params?.['http.response.status_code']]) {
    const status = numberOf(value);
    if (status !== null && Number.isInteger(status) && status >= 100 && status <= 599) return status;
  }
  return null;
}
