/** The data of request events, as compact JSON. The order of the members is part of the contract. */

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

/** The fields that a resent span may change. */
export type EmittedFacts = readonly unknown[];

/** From the data of a completed event. Omits the rate version: it alone does not change the cost. */
function factsOf(data: Record<string, unknown>): EmittedFacts {
  const { usage, cost, status, end_user_id: endUserId, model, duration_ms: durationMs } = data;
  const { nano_usd: nanoUsd } = (cost ?? { nano_usd: null }) as { nano_usd: number | null };
  return [usage, nanoUsd, status, endUserId, model, durationMs];
}

/** The facts in an event's envelope. */
export function factsInEnvelope(envelope: string): EmittedFacts {
  return factsOf((JSON.parse(envelope) as { data: Record<string, unknown> }).data);
}

/** The facts in the data of an event. */
export function factsInData(dataJson: string): EmittedFacts {
  return factsOf(JSON.parse(dataJson) as Record<string, unknown>);
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
