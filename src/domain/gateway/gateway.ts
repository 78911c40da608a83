/** Accepts reports of gateways: requests with their costs, and events of keys and budgets. */

import { isArray, isObject } from '../../json/free-json.ts';
import { malformed } from '../../json/json-text.ts';
import { jsonTypeOf, type LosslessJson } from '../../json/lossless-json.ts';
import { TOO_WIDE, TOO_WIDE_REASON } from '../../json/wide-json.ts';
import type { Organization, Project } from '../caller.ts';
import type { RequestCost } from '../events/request-content.ts';
import type { RequestMeter } from '../events/request-meter.ts';
import type {
  Price,
  Priced,
  ReportedRequest,
  RequestReport,
  RequestResult,
  Unpriced,
} from '../events/request-report.ts';
import { type JsonValue, unavailableFault, validationFault } from '../fault.ts';
import { isNameable } from '../management/management-call.ts';
import type { PriceResolver, Prices } from '../pricing/prices.ts';
import type { RequestStore } from '../store.ts';
import type { ItemReading } from './gateway-reading.ts';
import { readRecord, type SentRecord, statusIn, unknownMembers } from './gateway-record.ts';
import { readGovernanceEvent } from './governance-event.ts';

type GatewayDeps = {
  readonly store: Pick<RequestStore, 'projectNumbers' | 'report' | 'reportGovernance'>;
  readonly prices: PriceResolver;
  /** Counts records never stored. */
  readonly meter: Pick<RequestMeter, 'reported'>;
};

/** Who reports, and when. */
export type GatewayCall = {
  readonly organization: Organization;
  /** The only project of a project key; null: an API key, whose records name their projects. */
  readonly project: Project | null;
  readonly nowMs: number;
};

export type Rejection = {
  readonly code: 'invalid_record' | 'project_not_found' | 'project_mismatch' | 'already_completed';
  readonly message: string;
};

/** The result of one record or event. */
export type ItemOutcome = {
  /** Null: invalid, or an event. */
  readonly status: ReportedRequest['status'] | null;
  readonly result: RequestResult;
  /** Why it is refused; null when it is accepted, also as a duplicate. */
  readonly rejection: Rejection | null;
  /** The paths of unknown members. */
  readonly unknown: readonly string[];
};

export type Gateway = {
  /** Judges each record alone and commits the valid ones together. Throws validation_error for a bad list. */
  reportRequests(body: JsonValue, call: GatewayCall): Promise<readonly ItemOutcome[]>;
  /** The same for events of virtual keys and budgets. */
  reportGovernanceEvents(body: JsonValue, call: Pick<GatewayCall, 'organization'>): Promise<readonly ItemOutcome[]>;
};

const ITEMS_MAX = 500;
// More than two are needed only when other reports change the same requests.
const ATTEMPTS_MAX = 10;
const RETRY_AFTER_SECONDS = 1;
const COMPLETED: Rejection = { code: 'already_completed', message: 'The success of the request was reported before.' };

export function createGateway(deps: GatewayDeps): Gateway {
  const { store } = deps;
  return {
    async reportRequests(body, call) {
      const items = openList(body, 'records');
      const read = items.map((item) => readItem(item, readRecord));
      const assigned = await assignProjects(store, read, call);
      const records = assigned.flatMap((each) => ('gatewayRequestId' in each ? [each] : []));
      const results = await storeRequests(deps, records, call);
      let next = 0;
      return assigned.map((each, index): ItemOutcome => {
        const unknown = unknownMembers(items[index]);
        if (!('gatewayRequestId' in each)) {
          const status = statusIn(items[index]);
          deps.meter.reported({ source: 'report', status: status ?? 'unknown', result: 'rejected' });
          return { status, result: 'rejected', rejection: each, unknown };
        }
        const result = results[next] ?? 'rejected';
        next += 1;
        return { status: each.status, result, rejection: result === 'rejected' ? COMPLETED : null, unknown };
      });
    },

    async reportGovernanceEvents(body, { organization }) {
      const read = openList(body, 'events').map((item) =>
        readItem(item, (reading) => readGovernanceEvent(reading, organization.id)),
      );
      const events = read.flatMap((each) => ('dataJson' in each ? [each] : []));
      const report = { kind: 'governance', organizationNumber: organization.number, events } as const;
      const results = events.length === 0 ? [] : await store.reportGovernance(report);
      let next = 0;
      return read.map((each): ItemOutcome => {
        if (!('dataJson' in each)) return { status: null, result: 'rejected', rejection: each, unknown: [] };
        const result = results[next] ?? 'rejected';
        next += 1;
        return { status: null, result, rejection: null, unknown: [] };
      });
    },
  };
}

function openList(body: LosslessJson, name: string): readonly LosslessJson[] {
  if (!isObject(body)) throw malformed('The request body must be a JSON object.', 'not an object');
  const list = body[name];
  if (!isArray(list)) {
    const received = list === undefined ? 'undefined' : jsonTypeOf(list);
    const message = list === undefined ? `${name} is required` : `${name} must be an array`;
    throw validationFault('json', [{ field: name, type: 'invalid_type', message, expected: 'array', received }]);
  }
  if (list.length >= 1 && list.length <= ITEMS_MAX) return list;
  const expected = `1 to ${ITEMS_MAX} items`;
  const message = `${name} must have ${expected}`;
  throw validationFault('json', [{ field: name, type: 'invalid_length', message, expected }]);
}

function readItem<T>(item: LosslessJson, read: (reading: ItemReading) => T | null): T | Rejection {
  if (!isObject(item)) return invalid('(root): must be an object');
  if (item === TOO_WIDE) return invalid(`(root): ${TOO_WIDE_REASON}`);
  const reading: ItemReading = { item, problem: null };
  return read(reading) ?? invalid(reading.problem ?? '(root): cannot be read');
}

function invalid(message: string): Rejection {
  return { code: 'invalid_record', message };
}

type AssignedRecord = Omit<ReportedRequest, 'price'>;

/** Finds the project of each record. */
async function assignProjects(
  store: GatewayDeps['store'],
  read: readonly (SentRecord | Rejection)[],
  { organization, project }: GatewayCall,
): Promise<readonly (AssignedRecord | Rejection)[]> {
  const named = read.flatMap((each) => ('content' in each && each.projectId !== null ? [each.projectId] : []));
  const ids = project === null ? [...new Set(named)].filter(isNameable) : [];
  const numbers = ids.length === 0 ? new Map<string, number>() : await store.projectNumbers(organization.id, ids);
  return read.map((each) => {
    if (!('content' in each)) return each;
    const { projectId } = each;
    if (project !== null) {
      if (projectId === null || projectId === project.id) {
        return { ...each, projectId: project.id, projectNumber: project.number };
      }
      return { code: 'project_mismatch', message: 'project_id: must be the project of the key' };
    }
    if (projectId === null) return invalid('project_id: is required');
    const projectNumber = numbers.get(projectId);
    if (projectNumber === undefined) return { code: 'project_not_found', message: 'project_id: is not known' };
    return { ...each, projectId, projectNumber };
  });
}

/** Results are in record order. */
async function storeRequests(
  { store, prices: priceResolver }: GatewayDeps,
  assigned: readonly AssignedRecord[],
  { organization, nowMs }: GatewayCall,
): Promise<readonly RequestResult[]> {
  if (assigned.length === 0) return [];
  const named = assigned.flatMap(({ content: { model } }) => model ?? []);
  const prices = await priceResolver.of(organization, () => named);
  const report = { kind: 'requests', receivedAtMs: nowMs, ...organizationOf(organization) } as const;
  let records = assigned.map((record) => ({ ...record, price: priceOf(prices, record, record.content) }));
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const reported = await store.report({ ...report, records });
    if (reported.kind === 'reported') return reported.results;
    records = repriced(prices, records, reported.records);
  }
  throw unavailableFault('Others keep telling of the same requests; try again.', RETRY_AFTER_SECONDS);
}

function organizationOf({ id, number }: Organization): Pick<RequestReport, 'organizationId' | 'organizationNumber'> {
  return { organizationId: id, organizationNumber: number };
}

function repriced(
  prices: Prices,
  records: readonly ReportedRequest[],
  unpriced: readonly Unpriced[],
): ReportedRequest[] {
  const byIndex = new Map(unpriced.map((each) => [each.index, each]));
  return records.map((record, index) => {
    const priced = byIndex.get(index);
    return priced === undefined ? record : { ...record, price: priceOf(prices, record, priced) };
  });
}

function priceOf(prices: Prices, record: AssignedRecord, { model, usage }: Priced): Price {
  return { model, usage, cost: record.status === 'admitted' ? null : costOf(prices, record, { model, usage }) };
}

/** Prices it like a span of that instant. */
function costOf(prices: Prices, { content }: AssignedRecord, { model, usage }: Priced): RequestCost | null {
  if (usage === null) return null;
  const { costNanoUsd, rateVersion } = prices.price({
    model,
    vendor: null,
    startedAtMs: content.occurredAtMs,
    tokens: {
      prompt: usage.inputTokens,
      completion: usage.outputTokens,
      reasoning: usage.reasoningTokens,
      cacheRead: usage.cacheReadInputTokens,
      cacheCreation: usage.cacheCreationInputTokens,
    },
    explicitCostUsd: null,
    cachedTokensInPrompt: null,
    resultCostUsd: null,
    spanRates: null,
  });
  return costNanoUsd === null ? null : { nanoUsd: costNanoUsd, rateVersion };
}
