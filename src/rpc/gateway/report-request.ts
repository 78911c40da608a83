/** Messages of GatewayService -> drafts. Required texts that are empty count as not sent. */

import type { DescEnum } from '@bufbuild/protobuf';
import {
  BudgetOnBreachSchema,
  BudgetScopeTypeSchema,
  type BudgetSubject,
  BudgetWindowSchema,
  type GovernanceEvent,
  type ReportedRequest,
  ReportedRequestStatusSchema,
  type ReportedUsage,
  type ReportGovernanceEventsRequest,
  type ReportRequestsRequest,
  type VirtualKeySubject,
} from '../../../gen/spandrel/v1/gateway_pb.js';
import { Fault } from '../../domain/fault.ts';
import {
  type DraftList,
  type GovernanceDraft,
  INVALID,
  type RequestDraft,
  type Sent,
  type UsageDraft,
  WIDE,
} from '../../domain/gateway/gateway-draft.ts';
import { usdTextToNano } from '../../domain/pricing/money.ts';
import { NUMBER_TEXTS_MAX, parseJson, scanJson, tooManyNumberTexts } from '../../json/json-text.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';
import { fractionalMsOf } from '../epoch-ms.ts';
import { enumNames } from '../rest-shape.ts';

/** Sixteen times what compact metadata may have: an escape takes six characters. */
const METADATA_CHARACTERS_MAX = 65_536;

export function readRequests({ records }: ReportRequestsRequest): DraftList<RequestDraft> {
  const readMetadata = createMetadataReader();
  return toList(records, (record) => ({
    gatewayRequestId: nonEmpty(record.gatewayRequestId),
    status: spellingOrInvalid(ReportedRequestStatusSchema, record.status),
    projectId: record.projectId,
    occurredAtMs: fractionalMsOf(record.occurredAt),
    virtualKeyId: record.virtualKeyId,
    traceId: record.traceId,
    principalUserId: record.principalUserId,
    endUserId: record.endUserId,
    model: record.model,
    modelProviderId: record.modelProviderId,
    requestType: record.requestType,
    usage: record.usage && toUsageDraft(record.usage),
    costNanoUsd: record.costUsd === undefined ? undefined : (usdTextToNano(record.costUsd) ?? INVALID),
    error: record.error && { class: nonEmpty(record.error.kind), httpStatus: record.error.httpStatus },
    durationMs: toNumber(record.durationMs),
    labels: record.labels,
    metadata: readMetadata(record),
  }));
}

function toList<Item, Draft>(items: readonly Item[], toDraft: (item: Item) => Draft): DraftList<Draft> {
  return {
    length: items.length,
    at(index) {
      const item = items[index];
      return item && toDraft(item);
    },
  };
}

function toUsageDraft(usage: ReportedUsage): UsageDraft {
  return {
    inputTokens: Number(usage.inputTokens),
    outputTokens: Number(usage.outputTokens),
    cacheReadInputTokens: Number(usage.cacheReadInputTokens),
    cacheCreationInputTokens: Number(usage.cacheCreationInputTokens),
    reasoningTokens: Number(usage.reasoningTokens),
  };
}

export function readGovernanceEvents({ events }: ReportGovernanceEventsRequest): DraftList<GovernanceDraft> {
  return toList(events, toGovernanceDraft);
}

function toGovernanceDraft({ type, occurredAt, subject }: GovernanceEvent): GovernanceDraft {
  const key: Partial<VirtualKeySubject> = subject.case === 'virtualKey' ? subject.value : {};
  const budget: Partial<BudgetSubject> = subject.case === 'budget' ? subject.value : {};
  return {
    type: nonEmpty(type),
    occurredAtMs: fractionalMsOf(occurredAt),
    virtualKeyId: key.virtualKeyId ?? budget.virtualKeyId,
    name: key.name,
    displayPrefix: key.displayPrefix,
    reason: key.reason,
    budgetId: budget.budgetId,
    scopeType: spellingOrInvalid(BudgetScopeTypeSchema, budget.scopeType),
    bucketScopeId: budget.bucketScopeId,
    anchorProjectId: budget.anchorProjectId,
    endUserId: budget.endUserId,
    window: spellingOrInvalid(BudgetWindowSchema, budget.window),
    periodStartedAtMs: fractionalMsOf(budget.periodStartedAt),
    limitUsd: budget.limitUsd,
    spentUsd: budget.spentUsd,
    onBreach: spellingOrInvalid(BudgetOnBreachSchema, budget.onBreach),
  };
}

function nonEmpty(text: string): string | undefined {
  return text === '' ? undefined : text;
}

function spellingOrInvalid(schema: DescEnum, value = 0): Sent<string> {
  return value === 0 ? undefined : (enumNames(schema).get(value) ?? INVALID);
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** Space between the members does not count. */
function surelyExceeds(metadataJson: string): boolean {
  return (
    metadataJson.length > METADATA_CHARACTERS_MAX &&
    metadataJson.replaceAll(/\s+/g, '').length > METADATA_CHARACTERS_MAX
  );
}

/** For the records of one message, which share the limits of one document. Bad JSON makes only its own record invalid. */
function createMetadataReader(): (record: ReportedRequest) => Sent<LosslessJson> {
  let longIntegers = 0;
  return ({ metadataJson }) => {
    if (metadataJson === undefined) return undefined;
    const bytes = Buffer.from(metadataJson);
    const facts = scanJson(bytes);
    longIntegers += facts.longIntegers.length;
    if (longIntegers > NUMBER_TEXTS_MAX) throw tooManyNumberTexts();
    if (facts.isWide) return WIDE;
    // The compact text of such an object is too large in any case, so it is not parsed.
    if (surelyExceeds(metadataJson)) return { metadataJson };
    try {
      return parseJson(bytes, facts, 'literals');
    } catch (error) {
      if (error instanceof Fault && error.code !== 'validation_error') return INVALID;
      throw error;
    }
  };
}
