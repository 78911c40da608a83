/**
 * Converts messages of GatewayService to the JSON documents that are validated item by item, so that one set of rules
 * serves every transport. Unset and empty fields are left out.
 */

import type { DescEnum } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import {
  BudgetOnBreachSchema,
  BudgetScopeTypeSchema,
  BudgetWindowSchema,
  type GovernanceEvent,
  type ReportedRequest,
  ReportedRequestStatusSchema,
  type ReportedUsage,
  type ReportGovernanceEventsRequest,
  type ReportRequestsRequest,
} from '../../../gen/spandrel/v1/gateway_pb.js';
import { Fault, type JsonValue } from '../../domain/fault.ts';
import { UNREADABLE } from '../../json/free-json.ts';
import { NUMBER_TEXTS_MAX, parseJson, scanJson, tooManyNumberTexts } from '../../json/json-text.ts';
import type {} from '../../json/raw-json.ts';
import { TOO_WIDE } from '../../json/wide-json.ts';
import { fractionalMsOf } from '../epoch-ms.ts';
import { enumNames } from '../rest-shape.ts';

type Json = { [name: string]: unknown };

export function requestsToJson({ records }: ReportRequestsRequest): JsonValue {
  return { records: records.map(createRecordToJson()) } as JsonValue;
}

export function governanceEventsToJson({ events }: ReportGovernanceEventsRequest): JsonValue {
  return { events: events.map(eventToJson) } as JsonValue;
}

/** For the records of one message, which share the limits of one document. */
function createRecordToJson(): (record: ReportedRequest) => Json {
  let longIntegers = 0;
  return (record) => {
    const metadata = record.metadataJson === undefined ? undefined : readJson(record.metadataJson);
    longIntegers += metadata?.longIntegers ?? 0;
    if (longIntegers > NUMBER_TEXTS_MAX) throw tooManyNumberTexts();
    return recordToJson(record, metadata?.value);
  };
}

function recordToJson(record: ReportedRequest, metadata: unknown): Json {
  return {
    gateway_request_id: nonEmpty(record.gatewayRequestId),
    status: wordOf(ReportedRequestStatusSchema, record.status),
    project_id: record.projectId,
    occurred_at: toMs(record.occurredAt),
    virtual_key_id: nonEmpty(record.virtualKeyId),
    trace_id: nonEmpty(record.traceId),
    principal_user_id: record.principalUserId,
    end_user_id: record.endUserId,
    model: record.model,
    model_provider_id: record.modelProviderId,
    request_type: record.requestType,
    usage: record.usage === undefined ? undefined : usageToJson(record.usage),
    cost_usd: record.costUsd,
    error:
      record.error === undefined
        ? undefined
        : { class: nonEmpty(record.error.kind), http_status: record.error.httpStatus },
    duration_ms: toInteger(record.durationMs),
    labels: record.labels,
    metadata,
  };
}

function usageToJson(usage: ReportedUsage): Json {
  return {
    input_tokens: toInteger(usage.inputTokens),
    output_tokens: toInteger(usage.outputTokens),
    cache_read_input_tokens: toInteger(usage.cacheReadInputTokens),
    cache_creation_input_tokens: toInteger(usage.cacheCreationInputTokens),
    reasoning_tokens: toInteger(usage.reasoningTokens),
  };
}

function eventToJson({ type, occurredAt, subject }: GovernanceEvent): Json {
  return { type: nonEmpty(type), occurred_at: toMs(occurredAt), ...subjectToJson(subject) };
}

function subjectToJson({ case: kind, value }: GovernanceEvent['subject']): Json {
  switch (kind) {
    case 'virtualKey':
      return {
        virtual_key_id: value.virtualKeyId,
        name: value.name,
        display_prefix: value.displayPrefix,
        reason: value.reason,
      };
    case 'budget':
      return {
        budget_id: value.budgetId,
        scope_type: wordOf(BudgetScopeTypeSchema, value.scopeType),
        bucket_scope_id: value.bucketScopeId,
        virtual_key_id: value.virtualKeyId,
        anchor_project_id: value.anchorProjectId,
        end_user_id: value.endUserId,
        window: wordOf(BudgetWindowSchema, value.window),
        period_started_at: toMs(value.periodStartedAt),
        limit_usd: value.limitUsd,
        spent_usd: value.spentUsd,
        on_breach: wordOf(BudgetOnBreachSchema, value.onBreach),
      };
    case undefined:
      return {};
  }
}

function nonEmpty(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** An unknown enum number stays a number, and is refused like an unknown name. */
function wordOf(schema: DescEnum, value: number): string | number | undefined {
  if (value === 0) return undefined;
  return enumNames(schema).get(value) ?? value;
}

function toMs(instant: Timestamp | undefined): number | undefined {
  return instant === undefined ? undefined : fractionalMsOf(instant);
}

/** An integer beyond the safe integers keeps its digits as raw JSON. */
function toInteger(value: bigint | undefined): unknown {
  if (value === undefined) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(value));
}

/** Text that is no JSON makes only its own record unreadable. */
function readJson(text: string): { readonly value: unknown; readonly longIntegers: number } {
  const bytes = Buffer.from(text);
  const facts = scanJson(bytes);
  const longIntegers = facts.longIntegers.length;
  if (facts.isWide) return { value: TOO_WIDE, longIntegers };
  try {
    return { value: parseJson(bytes, facts, 'literals'), longIntegers };
  } catch (error) {
    if (error instanceof Fault && error.code !== 'validation_error') return { value: UNREADABLE, longIntegers };
    throw error;
  }
}
