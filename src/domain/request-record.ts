/** Turns what somebody says about a request into its row and event, inside the transaction that stores what was said. */

import type { LogTables, MakeEvent, NewRequest, RequestRow } from './append-tables.ts';
import {
  type Admission,
  completeContent,
  packAdmission,
  type RequestContent,
  type RequestCost,
  unpackAdmission,
} from './request-content.ts';
import { completedData, factsInData, settledData, type ToldFacts } from './request-data.ts';
import { allRequestKeys, CORRECTIONS_MAX, type EventName, eventIdOf } from './request-event.ts';
import type { RequestResult } from './request-report.ts';
import {
  nextRequestState,
  type RequestNews,
  type RequestState,
  type RequestTransition,
  type StoredRequestState,
} from './request-state.ts';

/** What one span or record says. */
export type RequestStatement = Claim & {
  readonly organizationId: string;
  readonly receivedAtMs: number;
  readonly news: Exclude<RequestNews, { status: 'overdue' }>;
  /** May be slow: it is asked for only when something comes of it. */
  readonly content: () => RequestContent;
  /** As the teller says. */
  readonly cost: RequestCost | null;
  /** What it costs when nobody says. */
  readonly price: RequestCost | null;
};

/** Whose request is meant. */
export type Claim = {
  readonly projectId: string;
  readonly projectNumber: number;
  readonly gatewayRequestId: string;
};

/** Where a request is kept, or could be when there is no row. */
type Place =
  | { readonly key: string; readonly index: number; readonly row: RequestRow }
  | { readonly key: string; readonly index: number; readonly row: undefined };

// What is compared does not say when it was emitted.
const ANY_INSTANT = '';

/** Emits at most one event, and none for news that change nothing. */
export function recordRequest(log: LogTables, statement: RequestStatement): RequestResult {
  const { gatewayRequestId } = statement;
  const first = nextRequestState({ status: 'none' }, statement.news);
  // Almost every request is new and nobody else's: then its id is its key, and one insert settles it.
  if (log.lastKeyIndex === 0 && insertNew(log, statement, { key: gatewayRequestId, transition: first })) {
    return first.result;
  }
  const place = locate(log, statement);
  if (place.row !== undefined) return continueOwn(log, statement, place);
  insertNew(log, statement, { key: place.key, transition: first });
  log.lastKeyIndex = Math.max(log.lastKeyIndex, place.index);
  return first.result;
}

/** Ends the wait for an outcome. False when there is nothing left to wait for. */
export function settleRequest(log: LogTables, key: string): boolean {
  const row = log.findRequest(key);
  if (row === undefined) return false;
  const { state, emits } = nextRequestState(row.state, { status: 'overdue' });
  if (emits === null || row.admission === null) return false;
  const { admission } = row;
  const { organizationId, projectId, content } = unpackAdmission(admission);
  const gatewayRequestId = row.gatewayRequestId ?? key;
  const change = { state: toStored(state), admissionJson: admission, costNanoUsd: null, receivedAtMs: null, emits };
  log.changeRequest(key, change, (created) => {
    const eventId = eventIdOf(key, { kind: 'settled' });
    const dataJson = settledData({ eventId, gatewayRequestId, organizationId, projectId }, content, created);
    return { id: eventId, type: 'gateway.request.settled', dataJson };
  });
  return true;
}

/** The row of a request, if the project has it. */
export function findRequest(log: LogTables, claim: Claim): RequestRow | undefined {
  return locate(log, claim).row;
}

/** The request where the project has it; else the first key that is free for it. */
function locate(log: LogTables, { projectId, projectNumber, gatewayRequestId }: Claim): Place {
  let free: Place | null = null;
  let index = 0;
  for (const key of allRequestKeys(gatewayRequestId, projectId)) {
    const row = log.findRequest(key);
    // Another request may have for its own id what this one would get for its key.
    if (row?.projectNumber === projectNumber && (row.gatewayRequestId ?? key) === gatewayRequestId) {
      return { key, index, row };
    }
    if (row === undefined) free ??= { key, index, row };
    // An earlier key may have become free since: the request is looked for as far as any was ever kept.
    if (free !== null && index >= log.lastKeyIndex) return free;
    index += 1;
  }
  if (free === null) throw new Error('every key of a request is taken');
  return free;
}

type Insertion = { readonly key: string; readonly transition: RequestTransition };

function insertNew(log: LogTables, statement: RequestStatement, { key, transition }: Insertion): boolean {
  const { projectNumber, gatewayRequestId, receivedAtMs } = statement;
  const { state, emits } = transition;
  const cost = statement.cost ?? statement.price;
  const row: NewRequest = {
    state: toStored(state),
    admissionJson: emits === null ? packAdmission(admissionOf(statement)) : null,
    costNanoUsd: emits === null ? null : (cost?.nanoUsd ?? null),
    receivedAtMs,
    projectNumber,
    gatewayRequestId: key === gatewayRequestId ? null : gatewayRequestId,
  };
  const name: EventName = { kind: 'completed' };
  const event = emits === null ? null : outcomeEvent(statement, { key, name, content: statement.content, cost });
  return log.insertRequest(key, row, event);
}

function admissionOf({ organizationId, projectId, content, cost }: RequestStatement): Admission {
  return { organizationId, projectId, content: content(), cost };
}

function continueOwn(
  log: LogTables,
  statement: RequestStatement,
  { key, row }: { readonly key: string; readonly row: RequestRow },
): RequestResult {
  const { state, emits, result } = nextRequestState(row.state, statement.news);
  if (emits === null) return result;
  const known = row.admission === null ? null : unpackAdmission(row.admission);
  const cost = statement.cost ?? known?.cost ?? statement.price;
  const content = () => (known === null ? statement.content() : completeContent(statement.content(), known.content));
  const name: EventName = emits === 'correction' ? { kind: emits, number: row.corrections + 1 } : { kind: emits };
  const event = outcomeEvent(statement, { key, name, content, cost });
  if (isToldAnew(statement) && !hasNews(log, row, { key, event })) return 'duplicate';
  const change = {
    state: toStored(state),
    admissionJson: mayBeCorrected(state) ? row.admission : null,
    costNanoUsd: cost?.nanoUsd ?? null,
    receivedAtMs: statement.receivedAtMs,
    emits,
  };
  log.changeRequest(key, change, event);
  return result;
}

function isToldAnew({ news }: RequestStatement): boolean {
  return 'source' in news && news.source === 'resent_span';
}

/** Whether a span that is sent again says anything but what the newest event of its request does. */
function hasNews(
  log: LogTables,
  { corrections }: RequestRow,
  { key, event }: { readonly key: string; readonly event: MakeEvent },
): boolean {
  if (corrections >= CORRECTIONS_MAX) return false;
  const emitted = log.findEmitted(key);
  return emitted !== undefined && !isSame(emitted, factsInData(event(ANY_INSTANT).dataJson));
}

function isSame(one: ToldFacts, other: ToldFacts): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether another outcome may follow, which takes what it leaves out from the admission as well. */
function mayBeCorrected(state: RequestState): boolean {
  return 'source' in state && (state.source === 'span' || state.status === 'error');
}

type Outcome = {
  readonly key: string;
  readonly name: EventName;
  readonly content: () => RequestContent;
  readonly cost: RequestCost | null;
};

function outcomeEvent(statement: RequestStatement, { key, name, content, cost }: Outcome): MakeEvent {
  const { organizationId, projectId, gatewayRequestId, news } = statement;
  return () => {
    if (news.status === 'admitted') throw new Error('an admission is no outcome');
    const eventId = eventIdOf(key, name);
    const whose = { eventId, gatewayRequestId, organizationId, projectId };
    const dataJson = completedData(whose, { status: news.status, content: content(), cost });
    return { id: eventId, type: 'gateway.request.completed', dataJson };
  };
}

function toStored(state: RequestState): StoredRequestState {
  if (state.status === 'none') throw new Error('a request without a state is stored');
  return state;
}
