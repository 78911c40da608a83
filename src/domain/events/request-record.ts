/** Turns what a span or report says of a request into its row and event, in the caller's transaction. */

import { parseFreeJson } from '../../json/free-json.ts';
import { type Charges, packCharges, unpackCharges } from '../budgets/charges.ts';
import { COUNTED_NOWHERE, chargeOutcome, countedBy, moveSpend } from '../budgets/counting.ts';
import type { MakeEvent, NewRequest, OrganizationLog, RequestRow } from './append-tables.ts';
import {
  completeContent,
  packAdmission,
  type RequestContent,
  type RequestCost,
  unpackAdmission,
} from './request-content.ts';
import { completedData, type EmittedData, factsOf, settledData, spendingOf } from './request-data.ts';
import { allRequestKeys, CORRECTIONS_MAX, type EventName, eventIdOf, isOwnRequestId } from './request-event.ts';
import type { RequestIdentity, RequestResult } from './request-report.ts';
import {
  nextRequestState,
  type RequestSignal,
  type RequestState,
  type RequestTransition,
  type StoredRequestState,
} from './request-state.ts';

/** From one span or record. */
export type RequestUpdate = RequestIdentity & {
  readonly organizationId: string;
  readonly receivedAtMs: number;
  readonly signal: Exclude<RequestSignal, { status: 'overdue' }>;
  /** May be slow: called only when the request may change. */
  readonly content: () => RequestContent;
  /** As reported. */
  readonly cost: RequestCost | null;
  /** Used when no cost is known. */
  readonly price: RequestCost | null;
  /** Of an admission: its estimate, and the leases that it is a part of. */
  readonly reserved?: Charges | null;
  /** Whether only other tokens or another cost make a resent span a correction: the two spans of a call differ in time. */
  readonly comparesSpending?: boolean;
};

/** The key and row of a request; without a row, a free key. */
type KeyedRow =
  | { readonly key: string; readonly index: number; readonly row: RequestRow }
  | { readonly key: string; readonly index: number; readonly row: undefined };

// The compared facts omit the instant.
const ANY_INSTANT = '';

/** Emits at most one event, and none when nothing changes. */
export function recordRequest(log: OrganizationLog, statement: RequestUpdate): RequestResult {
  const { gatewayRequestId } = statement;
  // A span that names a request of our gateway joins it, and changes nothing.
  if (isOfSpan(statement) && isOwnRequestId(gatewayRequestId)) return 'duplicate';
  const first = nextRequestState({ status: 'none' }, statement.signal);
  // Almost every request of a span is new and its id unused: then the id is the key, and one insert is enough.
  const isLikelyNew = log.lastKeyIndex === 0 && !(isReported(statement) && log.findRequest(gatewayRequestId));
  if (isLikelyNew && insertNew(log, statement, { key: gatewayRequestId, transition: first })) return first.result;
  const located = locate(log, statement);
  if (located.row !== undefined) return updateExisting(log, statement, located);
  insertNew(log, statement, { key: located.key, transition: first });
  log.lastKeyIndex = Math.max(log.lastKeyIndex, located.index);
  return first.result;
}

/** Settles a request that was admitted or renewed by an instant. False when it does not wait for an outcome any more. */
export function settleRequest(log: OrganizationLog, key: string, admittedByMs: number): boolean {
  const row = log.findRequest(key);
  if (row === undefined || row.receivedAtMs > admittedByMs) return false;
  const { state, emits } = nextRequestState(row.state, { status: 'overdue' });
  if (emits === null || row.admission === null) return false;
  const { admission, charges: chargesJson } = row;
  const { organizationId, projectId, content } = unpackAdmission(admission);
  const gatewayRequestId = row.gatewayRequestId ?? key;
  const kept = { admissionJson: admission, costNanoUsd: null, chargesJson };
  const change = { state: toStored(state), ...kept, receivedAtMs: null, emits };
  log.changeRequest(key, change, (created) => {
    const eventId = eventIdOf(key, { kind: 'settled' });
    const dataJson = settledData({ eventId, gatewayRequestId, organizationId, projectId }, content, created);
    return { id: eventId, type: 'gateway.request.settled', dataJson };
  });
  // Its cost is unknown: the estimate counts until an outcome comes.
  const charges = unpackCharges(chargesJson);
  moveSpend(log, { charges, isLeased: true }, charges);
  return true;
}

/** Gives a request that waits for its outcome the whole grace period again. False when it does not wait. */
export function renewRequest(log: OrganizationLog, request: RequestIdentity, receivedAtMs: number): boolean {
  const { key, row } = locate(log, request);
  if (row?.state.status !== 'admitted') return false;
  log.renewRequest(key, Math.max(row.receivedAtMs, receivedAtMs));
  return true;
}

/** The row; undefined if the project has none. */
export function findRequest(log: OrganizationLog, claim: RequestIdentity): RequestRow | undefined {
  return locate(log, claim).row;
}

/** The key and row of a stored request; else the first free key. */
function locate(log: OrganizationLog, { projectId, projectNumber, gatewayRequestId }: RequestIdentity): KeyedRow {
  let free: KeyedRow | null = null;
  let index = 0;
  for (const key of allRequestKeys(gatewayRequestId, projectId)) {
    const row = log.findRequest(key);
    // The id of another request may equal a key of this one.
    if (row?.projectNumber === projectNumber && (row.gatewayRequestId ?? key) === gatewayRequestId) {
      return { key, index, row };
    }
    if (row === undefined) free ??= { key, index, row };
    // Retention may have freed an earlier key: the search goes as far as any request was stored.
    if (free !== null && index >= log.lastKeyIndex) return free;
    index += 1;
  }
  if (free === null) throw new Error('every key of a request is taken');
  return free;
}

type Insertion = { readonly key: string; readonly transition: RequestTransition };

function insertNew(log: OrganizationLog, statement: RequestUpdate, { key, transition }: Insertion): boolean {
  const { organizationId, projectId, projectNumber, gatewayRequestId, receivedAtMs } = statement;
  const { state, emits } = transition;
  const cost = statement.cost ?? statement.price;
  const charges =
    emits === null ? (statement.reserved ?? null) : chargeOutcome(log, statement, { cost, row: null, admitted: null });
  const row: NewRequest = {
    state: toStored(state),
    admissionJson:
      emits === null
        ? packAdmission({ organizationId, projectId, content: statement.content(), cost: statement.cost })
        : null,
    costNanoUsd: emits === null ? null : (cost?.nanoUsd ?? null),
    chargesJson: packCharges(charges),
    receivedAtMs,
    projectNumber,
    gatewayRequestId: key === gatewayRequestId ? null : gatewayRequestId,
  };
  const name: EventName = { kind: 'completed' };
  const event = emits === null ? null : outcomeEvent(statement, { key, name, content: statement.content, cost });
  if (!log.insertRequest(key, row, event)) return false;
  // What is reserved is a part of a lease, which the buckets hold already.
  if (emits !== null) moveSpend(log, COUNTED_NOWHERE, charges);
  return true;
}

function updateExisting(
  log: OrganizationLog,
  statement: RequestUpdate,
  { key, row }: { readonly key: string; readonly row: RequestRow },
): RequestResult {
  const { state, emits, result } = nextRequestState(row.state, statement.signal);
  if (emits === null) return result;
  const known = row.admission === null ? null : unpackAdmission(row.admission);
  const cost = statement.cost ?? known?.cost ?? statement.price;
  const content = () => (known === null ? statement.content() : completeContent(statement.content(), known.content));
  const name: EventName = emits === 'correction' ? { kind: emits, number: row.corrections + 1 } : { kind: emits };
  const event = outcomeEvent(statement, { key, name, content, cost });
  const factsIn = statement.comparesSpending === true ? spendingOf : factsOf;
  const isSame = isResentSpan(statement) && !differsFromEmitted(log, { key, event, factsIn });
  const isCapped = isResentSpan(statement) && row.corrections >= CORRECTIONS_MAX;
  // After the last correction the cost of the row may be another than that of the newest event.
  if (isSame && !isCapped) return 'duplicate';
  const charges = chargeOutcome(log, statement, { cost, row, admitted: known?.content ?? null });
  const counts = { costNanoUsd: cost?.nanoUsd ?? null, chargesJson: packCharges(charges) };
  const change = {
    state: toStored(state),
    admissionJson: mayBeCorrected(state) ? row.admission : null,
    ...counts,
    receivedAtMs: statement.receivedAtMs,
    emits,
  };
  if (isCapped) log.changeCost(key, counts);
  else log.changeRequest(key, change, event);
  moveSpend(log, countedBy(row), charges);
  if (!isCapped) return result;
  return isSame ? 'duplicate' : 'capped';
}

/** Most outcomes that are reported have an admission. */
function isReported({ signal }: RequestUpdate): boolean {
  return 'source' in signal && signal.source === 'report';
}

function isOfSpan({ signal }: RequestUpdate): boolean {
  return 'source' in signal && signal.source !== 'report';
}

function isResentSpan({ signal }: RequestUpdate): boolean {
  return 'source' in signal && signal.source === 'resent_span';
}

type Comparison = {
  readonly key: string;
  readonly event: MakeEvent;
  readonly factsIn: (data: EmittedData) => string;
};

/** Whether a resent span differs from the newest event. */
function differsFromEmitted(log: OrganizationLog, { key, event, factsIn }: Comparison): boolean {
  const emitted = log.findEmitted(key);
  if (emitted === undefined) return false;
  return factsIn(emitted) !== factsIn(parseFreeJson(event(ANY_INSTANT).dataJson) as EmittedData);
}

/** How the newest event of a request of a span is to read. */
type Correction = (emitted: EmittedData) => { readonly content: RequestContent; readonly cost: RequestCost | null };

type Corrected = RequestIdentity & Pick<RequestUpdate, 'organizationId' | 'receivedAtMs'>;

/**
 * Corrects a request by its newest event. Emits nothing when that event tells the same tokens and cost already. Null:
 * the event is gone.
 */
export function correctRequest(log: OrganizationLog, request: Corrected, correct: Correction): RequestResult | null {
  const { key, row } = locate(log, request);
  const emitted = row === undefined ? undefined : log.findEmitted(key);
  if (emitted === undefined) return null;
  const { content, cost } = correct(emitted);
  const status = emitted.status === 'error' ? 'error' : 'success';
  const { organizationId, receivedAtMs, projectId, projectNumber, gatewayRequestId } = request;
  return recordRequest(log, {
    ...{ organizationId, receivedAtMs, projectId, projectNumber, gatewayRequestId },
    signal: { status, source: 'resent_span' },
    content: () => content,
    cost,
    price: null,
    comparesSpending: true,
  });
}

/** Changes the cost that the request of a span counts, and emits nothing. False when it has that cost already. */
export function changeRequestCost(log: OrganizationLog, request: RequestIdentity, costNanoUsd: number | null): boolean {
  const { key, row } = locate(log, request);
  if (row === undefined || row.costNanoUsd === costNanoUsd) return false;
  if (!('source' in row.state) || row.state.source !== 'span') return false;
  const before = countedBy(row);
  const charges = before.charges && { ...before.charges, nanoUsd: costNanoUsd ?? 0 };
  moveSpend(log, before, charges);
  log.changeCost(key, { costNanoUsd, chargesJson: packCharges(charges) });
  return true;
}

/** Whether another outcome may follow, which takes missing fields from the admission. */
function mayBeCorrected(state: RequestState): boolean {
  return 'source' in state && (state.source === 'span' || state.status === 'error');
}

type Outcome = {
  readonly key: string;
  readonly name: EventName;
  readonly content: () => RequestContent;
  readonly cost: RequestCost | null;
};

function outcomeEvent(statement: RequestUpdate, { key, name, content, cost }: Outcome): MakeEvent {
  const { organizationId, projectId, gatewayRequestId, signal } = statement;
  return () => {
    if (signal.status === 'admitted') throw new Error('an admission is not an outcome');
    const eventId = eventIdOf(key, name);
    const identity = { eventId, gatewayRequestId, organizationId, projectId };
    const dataJson = completedData(identity, { status: signal.status, content: content(), cost });
    return { id: eventId, type: 'gateway.request.completed', dataJson };
  };
}

function toStored(state: RequestState): StoredRequestState {
  if (state.status === 'none') throw new Error('a request without a state is stored');
  return state;
}
