/** Reads drafts from the JSON of gateways. Numbers are read from the digits sent. */

import { isArray, isObject } from '../../json/free-json.ts';
import { malformed } from '../../json/json-text.ts';
import { jsonTypeOf, type LosslessJson, type LosslessObject } from '../../json/lossless-json.ts';
import { numberText, wholeNumberOf } from '../../json/whole-number.ts';
import { TOO_WIDE } from '../../json/wide-json.ts';
import { validationFault } from '../fault.ts';
import { usdTextToNano, usdTokenToNano } from '../pricing/money.ts';
import {
  type DraftList,
  type ErrorDraft,
  type GovernanceDraft,
  INVALID,
  type RequestDraft,
  type Sent,
  type UsageDraft,
  WIDE,
} from './gateway-draft.ts';

/** A member that may be absent. */
type Member = LosslessJson | undefined;

/** Throws malformed_request when the body is not an object, and validation_error when it holds no list of records. */
export function toRequestDrafts(body: LosslessJson): DraftList<RequestDraft> {
  return toItems(body, 'records', toRequestDraft);
}

/** As toRequestDrafts, of events. */
export function toGovernanceDrafts(body: LosslessJson): DraftList<GovernanceDraft> {
  return toItems(body, 'events', toGovernanceDraft);
}

function toItems<T>(body: LosslessJson, name: string, read: (item: LosslessObject) => T): DraftList<T> {
  if (!isObject(body)) throw malformed('The request body must be a JSON object.', 'not an object');
  const list = body[name];
  if (isArray(list)) return toList(list, (item) => toObject(item, read));
  const received = list === undefined ? 'undefined' : jsonTypeOf(list);
  const message = list === undefined ? `${name} is required` : `${name} must be an array`;
  throw validationFault('json', [{ field: name, type: 'invalid_type', message, expected: 'array', received }]);
}

function toRequestDraft(item: LosslessObject): RequestDraft {
  return {
    gatewayRequestId: toText(item.gateway_request_id),
    status: toText(item.status),
    projectId: toText(item.project_id),
    occurredAtMs: toInteger(item.occurred_at),
    virtualKeyId: toText(item.virtual_key_id),
    traceId: toText(item.trace_id),
    principalUserId: toText(item.principal_user_id),
    endUserId: toText(item.end_user_id),
    model: toText(item.model),
    modelProviderId: toText(item.model_provider_id),
    requestType: toText(item.request_type),
    usage: toObject(item.usage, toUsageDraft),
    costNanoUsd: toNanoUsd(item.cost_usd),
    error: toObject(item.error, toErrorDraft),
    durationMs: toInteger(item.duration_ms),
    labels: isArray(item.labels) ? toList(item.labels, toLabel) : toMisfit(item.labels),
    metadata: item.metadata,
  };
}

function toLabel(label: Member): Sent<string> {
  return typeof label === 'string' ? label : INVALID;
}

function toUsageDraft(usage: LosslessObject): UsageDraft {
  return {
    inputTokens: toInteger(usage.input_tokens),
    outputTokens: toInteger(usage.output_tokens),
    cacheReadInputTokens: toInteger(usage.cache_read_input_tokens),
    cacheCreationInputTokens: toInteger(usage.cache_creation_input_tokens),
    reasoningTokens: toInteger(usage.reasoning_tokens),
  };
}

function toErrorDraft(error: LosslessObject): ErrorDraft {
  return { class: toText(error.class), httpStatus: toInteger(error.http_status) };
}

function toGovernanceDraft(item: LosslessObject): GovernanceDraft {
  return {
    type: toText(item.type),
    occurredAtMs: toInteger(item.occurred_at),
    virtualKeyId: toText(item.virtual_key_id),
    name: toText(item.name),
    displayPrefix: toText(item.display_prefix),
    reason: toText(item.reason),
    budgetId: toText(item.budget_id),
    scopeType: toText(item.scope_type),
    bucketScopeId: toText(item.bucket_scope_id),
    anchorProjectId: toText(item.anchor_project_id),
    endUserId: toText(item.end_user_id),
    window: toText(item.window),
    periodStartedAtMs: toInteger(item.period_started_at),
    limitUsd: toText(item.limit_usd),
    spentUsd: toText(item.spent_usd),
    onBreach: toText(item.on_breach),
  };
}

function toText(value: Member): Sent<string> {
  return typeof value === 'string' ? value : toMisfit(value);
}

function toInteger(value: Member): Sent<number> {
  return wholeNumberOf(value ?? null) ?? toMisfit(value);
}

/** Of the decimal text of a string or a number. */
function toNanoUsd(value: Member): Sent<number> {
  if (typeof value === 'string') return usdTextToNano(value) ?? INVALID;
  return usdTokenToNano(numberText(value ?? null) ?? '') ?? toMisfit(value);
}

function toObject<T>(value: Member, read: (value: LosslessObject) => T): Sent<T> {
  return isObject(value) && value !== TOO_WIDE ? read(value) : toMisfit(value);
}

function toList<T>(list: readonly LosslessJson[], read: (item: Member) => Sent<T>): DraftList<T> {
  return { length: list.length, at: (index) => read(list[index]) };
}

/** What stands for a value of another type. */
function toMisfit(value: Member): Sent<never> {
  if (value === undefined || value === null) return value;
  return value === TOO_WIDE ? WIDE : INVALID;
}
