/** Validates one reported request field by field; a refusal names the path of the field. */

import { hasMorePartsThan, isArray, isObject, makeWellFormed, nestsDeeperThan } from '../../json/free-json.ts';
import { isBeyondDouble, type LosslessJson } from '../../json/lossless-json.ts';
import { holdsTooWide, TOO_WIDE_REASON } from '../../json/wide-json.ts';
import { LABEL_CHARACTERS_MAX, LABELS_MAX, METADATA_BYTES_MAX } from '../events/event-metadata.ts';
import type { RequestCost, RequestError, RequestUsage } from '../events/request-content.ts';
import { isOwnRequestId, isRequestId } from '../events/request-event.ts';
import type { ReportedRequest } from '../events/request-report.ts';
import { hasMoreBytesThan } from '../text-limits.ts';
import { INVALID, type RequestDraft, type Sent, WIDE } from './gateway-draft.ts';
import type { Bounds, ItemReading } from './gateway-reading.ts';

/** A valid record; `projectId` is null when not named. */
export type SentRecord = Pick<ReportedRequest, 'gatewayRequestId' | 'status' | 'content' | 'cost'> & {
  readonly projectId: string | null;
};

const STATUSES = ['admitted', 'success', 'error'] as const;
const ID: Bounds = { min: 1, max: 256 };
const OPTIONAL_ID: Bounds = { min: 0, max: 256 };
const REQUEST_TYPE: Bounds = { min: 1, max: 64 };
const ERROR_CLASS: Bounds = { min: 1, max: 200 };
const HTTP_STATUSES: Bounds = { min: 100, max: 599 };
const TOKENS: Bounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
const DURATIONS: Bounds = { min: 0, max: 604_800_000 };
const LABEL: Bounds = { min: 0, max: LABEL_CHARACTERS_MAX };
const METADATA_DEPTH_MAX = 32;
const TOO_LARGE = `must be at most ${METADATA_BYTES_MAX} bytes of compact JSON`;
const UNKNOWN_ERROR: RequestError = { class: 'unknown', httpStatus: null };

/** Null when the record is refused, with the reason in `reading`. */
export function readRecord(draft: RequestDraft, reading: ItemReading): SentRecord | null {
  const { virtualKeyId = '', traceId = '' } = draft;
  const gatewayRequestId = readRequestId(draft, reading);
  const status = reading.choice(draft.status, 'status', STATUSES);
  const projectId = readProjectId(draft, reading);
  const content = {
    occurredAtMs: reading.instant(draft.occurredAtMs, 'occurred_at'),
    virtualKeyId: reading.text(virtualKeyId, 'virtual_key_id', OPTIONAL_ID),
    traceId: reading.text(traceId, 'trace_id', OPTIONAL_ID),
    principalUserId: reading.nullableText(draft.principalUserId, 'principal_user_id', ID),
    endUserId: reading.nullableText(draft.endUserId, 'end_user_id', ID),
    model: reading.nullableText(draft.model, 'model', ID),
    modelProviderId: reading.nullableText(draft.modelProviderId, 'model_provider_id', ID),
    requestType: reading.nullableText(draft.requestType, 'request_type', REQUEST_TYPE),
    usage: readUsage(draft, reading),
    error: status === 'error' ? readError(draft, reading) : null,
    durationMs: reading.nullableInteger(draft.durationMs, 'duration_ms', DURATIONS),
    labelsJson: readLabels(draft, reading),
    metadataJson: readMetadata(draft, reading),
  };
  const cost = readCost(draft, reading);
  if (reading.problem() !== null || status === null) return null;
  return { gatewayRequestId, status, projectId, content, cost };
}

/** The status of a record, even of a refused one; null when invalid. */
export function statusIn(status: Sent<string>): SentRecord['status'] | null {
  return STATUSES.find((each) => each === status) ?? null;
}

function readRequestId({ gatewayRequestId }: RequestDraft, reading: ItemReading): string {
  const id = reading.text(gatewayRequestId, 'gateway_request_id', ID);
  if (!isRequestId(id)) {
    reading.refuse('gateway_request_id', 'must be printable ASCII characters without space and comma');
  }
  if (isOwnRequestId(id)) {
    reading.refuse('gateway_request_id', 'must not begin with gwreq_, as the ids of requests through this gateway do');
  }
  return id;
}

/** Any length is allowed: a text that is not an id is unknown. */
function readProjectId({ projectId }: RequestDraft, reading: ItemReading): string | null {
  return projectId === undefined ? null : reading.required(projectId, 'project_id', 'must be a string');
}

function readUsage({ usage: sent }: RequestDraft, reading: ItemReading): RequestUsage | null {
  const usage = sent === null || sent === undefined ? null : reading.required(sent, 'usage', 'must be an object');
  if (usage === null) return null;
  const count = (tokens: Sent<number>, name: string) =>
    tokens === undefined ? 0 : reading.integer(tokens, `usage.${name}`, TOKENS);
  return {
    inputTokens: count(usage.inputTokens, 'input_tokens'),
    outputTokens: count(usage.outputTokens, 'output_tokens'),
    cacheReadInputTokens: count(usage.cacheReadInputTokens, 'cache_read_input_tokens'),
    cacheCreationInputTokens: count(usage.cacheCreationInputTokens, 'cache_creation_input_tokens'),
    reasoningTokens: count(usage.reasoningTokens, 'reasoning_tokens'),
  };
}

function readError({ error: sent }: RequestDraft, reading: ItemReading): RequestError {
  const error = sent === undefined ? null : reading.required(sent, 'error', 'must be an object');
  if (error === null) return UNKNOWN_ERROR;
  return {
    class: reading.text(error.class, 'error.class', ERROR_CLASS),
    httpStatus: reading.nullableInteger(error.httpStatus, 'error.http_status', HTTP_STATUSES),
  };
}

function readCost({ costNanoUsd: sent }: RequestDraft, reading: ItemReading): RequestCost | null {
  if (sent === null || sent === undefined) return null;
  const nanoUsd = reading.required(sent, 'cost_usd', 'must be a decimal number from 0 to 9007199.254740991');
  return nanoUsd === null ? null : { nanoUsd, rateVersion: null };
}

function readLabels({ labels: sent = [] }: RequestDraft, reading: ItemReading): string {
  const reason = `must be an array of at most ${LABELS_MAX} strings`;
  const labels = reading.required(sent, 'labels', reason);
  if (labels === null || labels.length > LABELS_MAX) return reading.refuse('labels', reason) ?? '[]';
  const read = (index: number) => reading.text(labels.at(index), `labels.${index}`, LABEL);
  return JSON.stringify(Array.from({ length: labels.length }, (_, index) => read(index)));
}

function readMetadata({ metadata: sent = {} }: RequestDraft, reading: ItemReading): string {
  const refuse = (reason: string) => reading.refuse('metadata', reason) ?? '{}';
  if (sent === INVALID) return refuse('must be valid JSON');
  if (sent === WIDE) return refuse(TOO_WIDE_REASON);
  // Each value, the outermost too, takes at least one byte: more values than bytes are too large.
  if (hasMorePartsThan(sent, METADATA_BYTES_MAX - 1)) return refuse(TOO_LARGE);
  const reason = metadataProblem(sent);
  if (reason !== null || !isObject(sent)) return refuse(reason ?? 'must be an object');
  const text = JSON.stringify(makeWellFormed(sent));
  return hasMoreBytesThan(text, METADATA_BYTES_MAX) ? refuse(TOO_LARGE) : text;
}

function metadataProblem(value: LosslessJson): string | null {
  if (nestsDeeperThan(value, METADATA_DEPTH_MAX)) return `must not be nested deeper than ${METADATA_DEPTH_MAX} levels`;
  if (holdsTooWide(value)) return TOO_WIDE_REASON;
  return holdsBeyondDouble(value) ? 'must not hold a number that is too large' : null;
}

function holdsBeyondDouble(value: LosslessJson): boolean {
  if (isArray(value)) return value.some(holdsBeyondDouble);
  if (isObject(value)) return Object.keys(value).some((key) => holdsBeyondDouble(value[key] ?? null));
  return value !== null && isBeyondDouble(value);
}
