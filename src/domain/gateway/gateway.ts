/** Accepts reports of gateways: requests with their costs, and events of keys and budgets. */

import type { Organization, Project } from '../caller.ts';
import { isBudgetEvent } from '../events/event-type.ts';
import type { RequestStore } from '../events/log-port.ts';
import type { RequestCost } from '../events/request-content.ts';
import type { RequestMeter } from '../events/request-meter.ts';
import type { Price, Priced, ReportedRequest, RequestResult, Unpriced } from '../events/request-report.ts';
import { unavailableFault, validationFault } from '../fault.ts';
import { isPossibleId } from '../ids.ts';
import type { ManagementStore } from '../management/management.ts';
import type { ProjectStore } from '../management/management-port.ts';
import type { PriceResolver, Prices } from '../pricing/prices.ts';
import type { RunCooperatively, Steps } from '../steps.ts';
import type { DraftList, GovernanceDraft, RequestDraft, Sent } from './gateway-draft.ts';
import { createItemReading, type ItemReading } from './gateway-reading.ts';
import { readRecord, type SentRecord, statusIn } from './gateway-record.ts';
import { readGovernanceEvent } from './governance-event.ts';
import { costOfUsage } from './request-cost.ts';

type GatewayDeps = {
  readonly store: Pick<RequestStore, 'report' | 'reportGovernance'> &
    Pick<ProjectStore, 'numbers'> &
    Pick<ManagementStore, 'virtualKeyProjects' | 'budgetIds'>;
  readonly prices: PriceResolver;
  /** Reads the items of a report with pauses: together they may be megabytes. */
  readonly runCooperatively: RunCooperatively;
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
};

export type Gateway = {
  /** Judges each record alone and commits the valid ones together. Throws validation_error for a list of a wrong length. */
  reportRequests(list: DraftList<RequestDraft>, call: GatewayCall): Promise<readonly ItemOutcome[]>;
  /** The same for events of virtual keys and budgets. */
  reportGovernanceEvents(
    list: DraftList<GovernanceDraft>,
    call: Pick<GatewayCall, 'organization'>,
  ): Promise<readonly ItemOutcome[]>;
};

const ITEMS_MAX = 500;
// More than two are needed only when other reports change the same requests.
const ATTEMPTS_MAX = 10;
const RETRY_AFTER_SECONDS = 1;
const OWN_KEY: Rejection = {
  code: 'invalid_record',
  message: 'virtual_key_id: is a virtual key of this server, which emits the events of its own keys',
};
const OWN_BUDGET: Rejection = {
  code: 'invalid_record',
  message: 'budget_id: must not be a budget of the organization itself, whose events are emitted here',
};
const COMPLETED: Rejection = { code: 'already_completed', message: 'The success of the request was reported before.' };

export function createGateway(deps: GatewayDeps): Gateway {
  const { store } = deps;
  return {
    async reportRequests(list, call) {
      const { statuses, read } = await deps.runCooperatively(readRecords(list));
      const assigned = await assignProjects(store, read, call);
      const records = assigned.flatMap((each) => ('gatewayRequestId' in each ? [each] : []));
      const results = (await storeRequests(deps, records, call)).values();
      return assigned.map((each, index): ItemOutcome => {
        if (!('gatewayRequestId' in each)) {
          const status = statuses[index] ?? null;
          deps.meter.reported({ source: 'report', status: status ?? 'unknown', result: 'rejected' });
          return { status, result: 'rejected', rejection: each };
        }
        const result = results.next().value ?? 'rejected';
        return { status: each.status, result, rejection: result === 'rejected' ? COMPLETED : null };
      });
    },

    async reportGovernanceEvents(list, { organization }) {
      const read = await refuseOwn(store, organization, await deps.runCooperatively(readEvents(list, organization.id)));
      const events = read.flatMap((each) => ('dataJson' in each ? [each] : []));
      const report = {
        kind: 'governance',
        organizationNumber: organization.number,
        events: events.map(({ keyId: _, ...event }) => event),
      } as const;
      const results = (events.length === 0 ? [] : await store.reportGovernance(report)).values();
      return read.map((each): ItemOutcome => {
        if (!('dataJson' in each)) return { status: null, result: 'rejected', rejection: each };
        const result = results.next().value ?? 'rejected';
        return { status: null, result, rejection: null };
      });
    },
  };
}

type ReadRecords = {
  /** Also of refused records; null: none that is valid. */
  readonly statuses: readonly (SentRecord['status'] | null)[];
  readonly read: readonly (SentRecord | Rejection)[];
};

function* readRecords(list: DraftList<RequestDraft>): Steps<ReadRecords> {
  const statuses: (SentRecord['status'] | null)[] = [];
  const read: (SentRecord | Rejection)[] = [];
  for (const draft of draftsOf(list, 'records')) {
    statuses.push(typeof draft === 'object' && draft !== null ? statusIn(draft.status) : null);
    read.push(readItem(draft, readRecord));
    yield;
  }
  return { statuses, read };
}

type ReadEvent = NonNullable<ReturnType<typeof readGovernanceEvent>> & {
  /** Of the virtual key that the event is about; null: it is about a budget. */
  readonly keyId: string | null;
};

function* readEvents(
  list: DraftList<GovernanceDraft>,
  organizationId: string,
): Steps<readonly (ReadEvent | Rejection)[]> {
  const read: (ReadEvent | Rejection)[] = [];
  for (const draft of draftsOf(list, 'events')) {
    read.push(
      readItem(draft, (sent, reading) => {
        const event = readGovernanceEvent(sent, reading, organizationId);
        const isOfKey = event !== null && !isBudgetEvent(event.type) && typeof sent.virtualKeyId === 'string';
        return event && { ...event, keyId: isOfKey ? String(sent.virtualKeyId) : null };
      }),
    );
    yield;
  }
  return read;
}

/** Nobody else can tell what happened to a virtual key or a budget of this server. */
async function refuseOwn(
  store: GatewayDeps['store'],
  { id }: Organization,
  read: readonly (ReadEvent | Rejection)[],
): Promise<readonly (ReadEvent | Rejection)[]> {
  const named = new Set(read.flatMap((each) => ('keyId' in each && each.keyId !== null ? [each.keyId] : [])));
  const keyIds = [...named].filter(isPossibleId);
  const budgetIds = [...new Set(read.map(budgetIdOf).filter((budgetId) => budgetId !== null))];
  const keys = keyIds.length === 0 ? [] : await store.virtualKeyProjects(id, keyIds);
  const ownKeys = new Set(keys.map((key) => key.id));
  const ownBudgets = new Set(budgetIds.length === 0 ? [] : await store.budgetIds(id, budgetIds));
  return read.map((each) => {
    if (ownBudgets.has(budgetIdOf(each) ?? '')) return OWN_BUDGET;
    return 'keyId' in each && each.keyId !== null && ownKeys.has(each.keyId) ? OWN_KEY : each;
  });
}

/** An id that a budget here may have. */
const OWN_ID = /^(budget_[0-9A-Za-z]{21}):/;

function budgetIdOf(event: ReadEvent | Rejection): string | null {
  return 'dataJson' in event && isBudgetEvent(event.type) ? (OWN_ID.exec(event.id)?.[1] ?? null) : null;
}

/** Makes the drafts of a list of a valid length, one by one. */
function* draftsOf<D>(list: DraftList<D>, name: string): Iterable<Sent<D>> {
  const { length } = list;
  if (length >= 1 && length <= ITEMS_MAX) {
    for (let index = 0; index < length; index += 1) yield list.at(index);
    return;
  }
  const expected = `1 to ${ITEMS_MAX} items`;
  const message = `${name} must have ${expected}`;
  throw validationFault('json', [{ field: name, type: 'invalid_length', message, expected }]);
}

function readItem<D, T>(item: Sent<D>, read: (draft: D, reading: ItemReading) => T | null): T | Rejection {
  const reading = createItemReading();
  const draft = reading.required(item, '(root)', 'must be an object');
  const value = draft === null ? null : read(draft, reading);
  return value ?? invalid(reading.problem() ?? '(root): cannot be read');
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
  const ids = project === null ? [...new Set(named)].filter(isPossibleId) : [];
  const numbers = ids.length === 0 ? new Map<string, number>() : await store.numbers(organization.id, ids);
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
  const { id: organizationId, number: organizationNumber } = organization;
  const report = { kind: 'requests', receivedAtMs: nowMs, organizationId, organizationNumber } as const;
  let records = assigned.map((record) => ({ ...record, price: priceOf(prices, record, record.content) }));
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const reported = await store.report({ ...report, records });
    if (reported.kind === 'reported') return reported.results;
    records = repriced(prices, records, reported.records);
  }
  throw unavailableFault('Others keep telling of the same requests; try again.', RETRY_AFTER_SECONDS);
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

function costOf(prices: Prices, { content }: AssignedRecord, { model, usage }: Priced): RequestCost | null {
  if (usage === null) return null;
  const unsaid = { vendor: null, isCachedInInput: null, details: undefined };
  return costOfUsage(prices, { model, atMs: content.occurredAtMs, usage, ...unsaid });
}
