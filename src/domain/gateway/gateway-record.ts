/** Validates one reported request field by field; a refusal names the path of the field. */

import {
  isArray,
  isObject,
  makeWellFormed,
  nestsDeeperThan,
  UNREADABLE,
  UNREADABLE_REASON,
} from '../../json/free-json.ts';
import { isBeyondDouble, type LosslessJson, type LosslessObject } from '../../json/lossless-json.ts';
import { numberText } from '../../json/whole-number.ts';
import { holdsTooWide, TOO_WIDE_REASON } from '../../json/wide-json.ts';
import { LABEL_CHARACTERS_MAX, LABELS_MAX, METADATA_BYTES_MAX } from '../events/event-metadata.ts';
import type { RequestCost, RequestError, RequestUsage } from '../events/request-content.ts';
import { isRequestId } from '../events/request-event.ts';
import type { ReportedRequest } from '../events/request-report.ts';
import { usdTextToNano, usdTokenToNano } from '../pricing/money.ts';
import { cutToCharacters, hasMoreBytesThan, hasMoreCharactersThan } from '../text-limits.ts';
import {
  fieldOf,
  type IntegerBounds,
  type ItemReading,
  readChoice,
  readCount,
  readInstant,
  readNullableInteger,
  readNullableText,
  readObject,
  readOptionalText,
  readText,
  refuse,
  within,
} from './gateway-reading.ts';

/** A valid record; `projectId` is null when not named. */
export type SentRecord = Pick<ReportedRequest, 'gatewayRequestId' | 'status' | 'content' | 'cost'> & {
  readonly projectId: string | null;
};

const STATUSES = ['admitted', 'success', 'error'] as const;
const ID = { min: 1, max: 256 } as const;
const TEXT_MAX = 256;
const REQUEST_TYPE = { min: 1, max: 64 } as const;
const ERROR_CLASS = { min: 1, max: 200 } as const;
const HTTP_STATUSES: IntegerBounds = { min: 100, max: 599 };
const TOKENS: IntegerBounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
const DURATIONS: IntegerBounds = { min: 0, max: 604_800_000 };
const METADATA_DEPTH_MAX = 32;
const SHOWN_NAME_CHARACTERS_MAX = 100;
const UNKNOWN_LISTED_MAX = 100;
const RECORD_MEMBERS: ReadonlySet<string> = new Set([
  'gateway_request_id',
  'status',
  'project_id',
  'occurred_at',
  'virtual_key_id',
  'trace_id',
  'principal_user_id',
  'end_user_id',
  'model',
  'model_provider_id',
  'request_type',
  'usage',
  'cost_usd',
  'error',
  'duration_ms',
  'labels',
  'metadata',
]);
const USAGE_MEMBERS: ReadonlySet<string> = new Set([
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'reasoning_tokens',
]);
const ERROR_MEMBERS: ReadonlySet<string> = new Set(['class', 'http_status']);
const UNKNOWN_ERROR: RequestError = { class: 'unknown', httpStatus: null };

/** Null when the record is refused, with the reason in `reading`. */
export function readRecord(reading: ItemReading): SentRecord | null {
  const gatewayRequestId = readRequestId(reading);
  const status = readChoice(reading, 'status', STATUSES);
  const projectId = readProjectId(reading);
  const content = {
    occurredAtMs: readInstant(reading, 'occurred_at'),
    virtualKeyId: readOptionalText(reading, 'virtual_key_id', TEXT_MAX),
    traceId: readOptionalText(reading, 'trace_id', TEXT_MAX),
    principalUserId: readNullableText(reading, 'principal_user_id', ID),
    endUserId: readNullableText(reading, 'end_user_id', ID),
    model: readNullableText(reading, 'model', ID),
    modelProviderId: readNullableText(reading, 'model_provider_id', ID),
    requestType: readNullableText(reading, 'request_type', REQUEST_TYPE),
    usage: readUsage(reading),
    error: status === 'error' ? readError(reading) : null,
    durationMs: readNullableInteger(reading, 'duration_ms', DURATIONS),
    labelsJson: readLabels(reading),
    metadataJson: readMetadata(reading),
  };
  const cost = readCost(reading);
  if (reading.problem !== null || status === null) return null;
  return { gatewayRequestId, status, projectId, content, cost };
}

/** The paths of unknown members: a misspelled cost would else be lost without a warning. */
export function unknownMembers(item: LosslessJson | undefined): readonly string[] {
  if (!isObject(item)) return [];
  const { usage, error } = item;
  return [
    ...listUnknown(item, RECORD_MEMBERS, ''),
    ...(isObject(usage) ? listUnknown(usage, USAGE_MEMBERS, 'usage.') : []),
    ...(isObject(error) ? listUnknown(error, ERROR_MEMBERS, 'error.') : []),
  ];
}

function listUnknown(item: LosslessObject, known: ReadonlySet<string>, path: string): readonly string[] {
  const unknown = Object.keys(item)
    .filter((name) => !known.has(name))
    .slice(0, UNKNOWN_LISTED_MAX);
  return unknown.map((name) => path + cutToCharacters(name, SHOWN_NAME_CHARACTERS_MAX));
}

/** The status of a record, even of a refused one; null when invalid. */
export function statusIn(item: LosslessJson | undefined): SentRecord['status'] | null {
  return isObject(item) ? (STATUSES.find((status) => status === item.status) ?? null) : null;
}

function readRequestId(reading: ItemReading): string {
  const id = readText(reading, 'gateway_request_id', ID);
  if (!isRequestId(id)) {
    refuse(reading, 'gateway_request_id', 'must be printable ASCII characters without space and comma');
  }
  return id;
}

/** Any length is allowed: a text that is no id is unknown. */
function readProjectId(reading: ItemReading): string | null {
  const value = fieldOf(reading, 'project_id');
  if (value === undefined || typeof value === 'string') return value ?? null;
  return refuse(reading, 'project_id', 'must be a string');
}

function readUsage(reading: ItemReading): RequestUsage | null {
  if ((fieldOf(reading, 'usage') ?? null) === null) return null;
  const usage = within(reading, readObject(reading, 'usage') ?? {});
  const count = (name: string) => readCount(usage, `usage.${name}`, TOKENS);
  return {
    inputTokens: count('input_tokens'),
    outputTokens: count('output_tokens'),
    cacheReadInputTokens: count('cache_read_input_tokens'),
    cacheCreationInputTokens: count('cache_creation_input_tokens'),
    reasoningTokens: count('reasoning_tokens'),
  };
}

function readError(reading: ItemReading): RequestError {
  const error = readObject(reading, 'error');
  if (error === undefined) return UNKNOWN_ERROR;
  const part = within(reading, error);
  return {
    class: readText(part, 'error.class', ERROR_CLASS),
    httpStatus: readNullableInteger(part, 'error.http_status', HTTP_STATUSES),
  };
}

/** Reads the decimal text of a string or a number. */
function readCost(reading: ItemReading): RequestCost | null {
  const value = fieldOf(reading, 'cost_usd') ?? null;
  if (value === null) return null;
  const nanoUsd = typeof value === 'string' ? usdTextToNano(value) : usdTokenToNano(numberText(value) ?? '');
  if (nanoUsd === null) {
    return refuse(reading, 'cost_usd', 'must be a decimal number from 0 to 9007199.254740991');
  }
  return { nanoUsd, rateVersion: null };
}

function readLabels(reading: ItemReading): string {
  const value = fieldOf(reading, 'labels');
  if (value === undefined) return '[]';
  if (!isArray(value) || value.length > LABELS_MAX) {
    refuse(reading, 'labels', `must be an array of at most ${LABELS_MAX} strings`);
    return '[]';
  }
  for (const [index, label] of value.entries()) {
    if (typeof label !== 'string' || hasMoreCharactersThan(label, LABEL_CHARACTERS_MAX)) {
      refuse(reading, `labels.${index}`, `must be a string of 0 to ${LABEL_CHARACTERS_MAX} characters`);
    } else if (label.includes('\0')) refuse(reading, `labels.${index}`, 'must not hold U+0000');
  }
  return JSON.stringify(value);
}

function readMetadata(reading: ItemReading): string {
  const value = fieldOf(reading, 'metadata');
  if (value === undefined) return '{}';
  // Each value takes at least one byte, so more values than bytes are too large.
  if (countDownValues(value, METADATA_BYTES_MAX) < 0) return refuseMetadata(reading);
  const reason = metadataProblem(value);
  if (reason !== null || !isObject(value)) {
    refuse(reading, 'metadata', reason ?? 'must be an object');
    return '{}';
  }
  const text = JSON.stringify(makeWellFormed(value));
  return hasMoreBytesThan(text, METADATA_BYTES_MAX) ? refuseMetadata(reading) : text;
}

function refuseMetadata(reading: ItemReading): string {
  refuse(reading, 'metadata', `must be at most ${METADATA_BYTES_MAX} bytes of compact JSON`);
  return '{}';
}

/** Subtracts one for the value and for each value inside; stops once below zero. */
function countDownValues(value: LosslessJson, left: number): number {
  let rest = left - 1;
  const items = isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  for (const item of items) {
    if (rest < 0) return rest;
    rest = countDownValues(item, rest);
  }
  return rest;
}

function metadataProblem(value: LosslessJson): string | null {
  if (value === UNREADABLE) return UNREADABLE_REASON;
  if (nestsDeeperThan(value, METADATA_DEPTH_MAX)) return `must not be nested deeper than ${METADATA_DEPTH_MAX} levels`;
  if (holdsTooWide(value)) return TOO_WIDE_REASON;
  return holdsBeyondDouble(value) ? 'must not hold a number that is too large' : null;
}

function holdsBeyondDouble(value: LosslessJson): boolean {
  if (isArray(value)) return value.some(holdsBeyondDouble);
  if (isObject(value)) return Object.keys(value).some((key) => holdsBeyondDouble(value[key] ?? null));
  return value !== null && isBeyondDouble(value);
}
