/** The data of request events, as compact JSON. The order of the members is part of the contract. */

import { isObject, numberOf, parseFreeJson } from '../../json/free-json.ts';
import type { LosslessObject } from '../../json/lossless-json.ts';
import { nanoToUsdText } from '../pricing/money.ts';
import type { RequestEventType } from './event-type.ts';
import type { RequestContent, RequestCost, RequestError, RequestUsage } from './request-content.ts';

/** The ids of an event and its request. */
type RequestEventName = {
  readonly eventId: string;
  readonly gatewayRequestId: string;
  readonly organizationId: string;
  readonly projectId: string;
};

type RequestOutcome = {
  readonly status: 'success' | 'error';
  readonly content: RequestContent;
  readonly cost: RequestCost | null;
};

/** The data of a completed event, corrections included. */
export function completedData(name: RequestEventName, { status, content, cost }: RequestOutcome): string {
  const { usage, error, durationMs } = content;
  return (
    headText(name, 'gateway.request.completed', new Date(content.occurredAtMs).toISOString()) +
    identityText(content) +
    `,"usage":${usageText(usage)},"cost":${costText(cost)},"status":"${status}"` +
    ',"needs_reconciliation":null,"settle_reason":null' +
    `,"error":${status === 'error' ? errorText(error) : 'null'},"duration_ms":${durationMs}${tailText(content)}`
  );
}

/** The data of a completed event, read. */
export type EmittedData = LosslessObject;

export function readEmitted(envelope: string): EmittedData {
  const { data } = parseFreeJson(envelope) as LosslessObject;
  return data as LosslessObject;
}

/** The tokens and the cost of an event: omits the rate version, which alone does not change the cost. */
export function spendingOf({ usage, cost }: EmittedData): string {
  return JSON.stringify([usage, isObject(cost) ? cost.nano_usd : null]);
}

/** The fields that a resent span may change. */
export function factsOf(data: EmittedData): string {
  const { status, end_user_id: endUserId, model, duration_ms: durationMs } = data;
  return spendingOf(data) + JSON.stringify([status, endUserId, model, durationMs]);
}

/** The content of a completed event, for another event of the same request. */
export function contentOf(data: EmittedData): RequestContent {
  const text = (name: string) => (typeof data[name] === 'string' ? data[name] : null);
  const { usage, error, duration_ms: durationMs, labels, metadata } = data;
  return {
    occurredAtMs: Date.parse(text('occurred_at') ?? ''),
    virtualKeyId: text('virtual_key_id') ?? '',
    principalUserId: text('principal_user_id'),
    endUserId: text('end_user_id'),
    traceId: text('trace_id') ?? '',
    model: text('model'),
    modelProviderId: text('model_provider_id'),
    requestType: text('request_type'),
    usage: isObject(usage) ? usageOf(usage) : null,
    error: isObject(error)
      ? { class: typeof error.class === 'string' ? error.class : null, httpStatus: numberOf(error.http_status) }
      : null,
    durationMs: numberOf(durationMs),
    labelsJson: JSON.stringify(labels ?? []),
    metadataJson: JSON.stringify(metadata ?? {}),
  };
}

function usageOf(usage: LosslessObject): RequestUsage {
  return {
    inputTokens: numberOf(usage.input_tokens) ?? 0,
    outputTokens: numberOf(usage.output_tokens) ?? 0,
    cacheReadInputTokens: numberOf(usage.cache_read_input_tokens) ?? 0,
    cacheCreationInputTokens: numberOf(usage.cache_creation_input_tokens) ?? 0,
    reasoningTokens: numberOf(usage.reasoning_tokens) ?? 0,
  };
}

/** The data of a settled event, which occurs when it is created; its cost is unknown, not zero. */
export function settledData(name: RequestEventName, content: RequestContent, created: string): string {
  return (
    headText(name, 'gateway.request.settled', created) +
    identityText(content) +
    ',"usage":null,"cost":null,"status":"settled"' +
    ',"needs_reconciliation":true,"settle_reason":"confirmation_deadline_expired"' +
    `,"error":null,"duration_ms":null${tailText(content)}`
  );
}

function headText(name: RequestEventName, type: RequestEventType, occurredAt: string): string {
  const { eventId, gatewayRequestId, organizationId, projectId } = name;
  return (
    `{"event_id":${JSON.stringify(eventId)},"event_type":"${type}"` +
    `,"gateway_request_id":${JSON.stringify(gatewayRequestId)},"occurred_at":"${occurredAt}"` +
    `,"organization_id":${JSON.stringify(organizationId)},"project_id":${JSON.stringify(projectId)}`
  );
}

function identityText(content: RequestContent): string {
  const { virtualKeyId, principalUserId, endUserId, traceId, model, modelProviderId, requestType } = content;
  return (
    `,"virtual_key_id":${quote(virtualKeyId)},"principal_user_id":${quote(principalUserId)}` +
    `,"end_user_id":${quote(endUserId)},"trace_id":${quote(traceId)},"model":${quote(model)}` +
    `,"model_provider_id":${quote(modelProviderId)},"request_type":${quote(requestType)}`
  );
}

/** Fast path: most texts are null or empty. */
function quote(text: string | null): string {
  if (text === null) return 'null';
  return text === '' ? '""' : JSON.stringify(text);
}

function tailText({ labelsJson, metadataJson }: RequestContent): string {
  return `,"labels":${labelsJson},"metadata":${metadataJson}}`;
}

function usageText(usage: RequestUsage | null): string {
  if (usage === null) return 'null';
  return (
    `{"input_tokens":${usage.inputTokens},"output_tokens":${usage.outputTokens}` +
    `,"cache_read_input_tokens":${usage.cacheReadInputTokens}` +
    `,"cache_creation_input_tokens":${usage.cacheCreationInputTokens},"reasoning_tokens":${usage.reasoningTokens}}`
  );
}

function costText(cost: RequestCost | null): string {
  if (cost === null) return 'null';
  const { nanoUsd, rateVersion } = cost;
  return `{"total_usd":"${nanoToUsdText(nanoUsd)}","nano_usd":${nanoUsd},"rate_version":${JSON.stringify(rateVersion)}}`;
}

function errorText(error: RequestError | null): string {
  return error === null ? 'null' : `{"class":${JSON.stringify(error.class)},"http_status":${error.httpStatus}}`;
}
