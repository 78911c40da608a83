/** Turns what spans say about requests into request rows and events, inside the transaction that stores the spans. */

import { allRequestKeys, completedData, type EventMetadata, envelope, eventIdOf } from '../../domain/request-event.ts';
import { nextRequestState, type RequestState } from '../../domain/request-state.ts';
import type { Span, SpanRequest, TraceAppend } from '../../domain/trace.ts';
import { eventTypes, requestSources, requestStatuses } from './codes.ts';
import { packRequestKey, type StoredId } from './compact-ids.ts';
import type { Database } from './connection.ts';
import type { LogHead } from './log-heads.ts';

/** What one span says, with all that its event tells. */
export type Outcome = {
  readonly append: TraceAppend;
  readonly request: SpanRequest;
  readonly span: Span;
  /** What events tell of the merged metadata of the trace. */
  readonly metadata: () => EventMetadata;
};

/** Whose request is meant. */
type Claim = {
  readonly append: Pick<TraceAppend, 'projectId' | 'projectNumber' | 'organizationNumber'>;
  readonly gatewayRequestId: string;
};

export type RequestWriter = {
  /** Emits at most one event, and none for a request that has its outcome. */
  complete(outcome: Outcome, head: LogHead): void;
  /** Whether the project has such a request, and it has its outcome. */
  hasOutcome(claim: Claim, head: LogHead): boolean;
};

type Row = {
  readonly projectNumber: number;
  /** Null: the key is the id. */
  readonly gatewayRequestId: string | null;
  readonly state: number;
  readonly completedBy: number | null;
};

/** Where a request is kept, or could be when there is no row. */
type Place =
  | { readonly key: string; readonly index: number; readonly row: Row }
  | { readonly key: string; readonly index: number; readonly row: undefined };

const EVENT_TYPE = 'gateway.request.completed';

export function prepareRequestWriter(db: Database): RequestWriter {
  const statements = prepareStatements(db);

  function complete(outcome: Outcome, head: LogHead): void {
    const { append, request } = outcome;
    const { gatewayRequestId } = request;
    // Almost every request is new and nobody else's: then its id is its key, and one insert settles it.
    if (head.lastKeyIndex === 0 && insertNew(outcome, gatewayRequestId, head)) return;
    const place = locate({ append, gatewayRequestId }, head);
    if (place.row !== undefined) continueOwn(outcome, place, head);
    else if (insertNew(outcome, place.key, head)) head.lastKeyIndex = Math.max(head.lastKeyIndex, place.index);
  }

  function hasOutcome(claim: Claim, head: LogHead): boolean {
    const { row } = locate(claim, head);
    return row !== undefined && 'source' in readState(row);
  }

  /** The request where the project has it; else the first key that is free for it. */
  function locate({ append, gatewayRequestId }: Claim, head: LogHead): Place {
    let free: Place | null = null;
    let index = 0;
    for (const key of allRequestKeys(gatewayRequestId, append.projectId)) {
      const row = statements.find.get(append.organizationNumber, packRequestKey(key));
      // Another request may have for its own id what this one would get for its key.
      if (row?.projectNumber === append.projectNumber && (row.gatewayRequestId ?? key) === gatewayRequestId) {
        return { key, index, row };
      }
      if (row === undefined) free ??= { key, index, row };
      // An earlier key may have become free since: the request is looked for as far as any was ever kept.
      if (free !== null && index >= head.lastKeyIndex) return free;
      index += 1;
    }
    if (free === null) throw new Error('every key of a request is taken');
    return free;
  }

  function insertNew(outcome: Outcome, key: string, head: LogHead): boolean {
    const { append, request, span } = outcome;
    const inserted = statements.insert.run(
      append.organizationNumber,
      packRequestKey(key),
      append.projectNumber,
      key === request.gatewayRequestId ? null : request.gatewayRequestId,
      requestStatuses.code(statusOf(span)),
      requestSources.code('span'),
      head.seq + 1,
      append.receivedAtMs,
      span.costNanoUsd,
    );
    if (inserted.changes === 0) return false;
    appendEvent(outcome, key, head);
    return true;
  }

  function continueOwn(outcome: Outcome, stored: { readonly key: string; readonly row: Row }, head: LogHead): void {
    const { append, span } = outcome;
    const next = nextRequestState(readState(stored.row), { status: statusOf(span), source: 'span' });
    if (next.emits === null) return;
    appendEvent(outcome, stored.key, head);
    const key = packRequestKey(stored.key);
    statements.complete.run(
      requestStatuses.code(statusOf(span)),
      requestSources.code('span'),
      head.seq,
      span.costNanoUsd,
      append.organizationNumber,
      key,
    );
  }

  function appendEvent({ append, request, span, metadata }: Outcome, key: string, head: LogHead): void {
    const eventId = eventIdOf(key, 'completed');
    const dataJson = completedData({ eventId, request, span, append, metadata: metadata() });
    head.seq += 1;
    statements.insertEvent.run(
      head.organizationNumber,
      head.seq,
      envelope({ id: eventId, type: EVENT_TYPE, createdAtMs: head.createdAtMs, dataJson }),
    );
    statements.insertTime.run(
      head.organizationNumber,
      head.createdAtMs,
      eventId,
      eventTypes.code(EVENT_TYPE),
      head.seq,
    );
  }

  return { complete, hasOutcome };
}

function statusOf(span: Span): 'success' | 'error' {
  return span.errorJson === null ? 'success' : 'error';
}

function readState(row: Row): RequestState {
  const status = requestStatuses.word(row.state);
  if (status === 'admitted' || status === 'settled') return { status };
  if (row.completedBy === null) throw new Error('a completed request does not say who completed it');
  return { status, source: requestSources.word(row.completedBy) };
}

function prepareStatements(db: Database) {
  return {
    find: db.prepare<[number, StoredId], Row>(
      `SELECT project_number AS projectNumber, gateway_request_id AS gatewayRequestId, state, completed_by AS completedBy
       FROM requests WHERE organization_number = ? AND request_key = ?`,
    ),
    insert: db.prepare<[number, StoredId, number, string | null, number, number, number, number, number | null]>(
      `INSERT INTO requests (organization_number, request_key, project_number, gateway_request_id,
         state, completed_by, completed_seq, received_at, nano_usd)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (organization_number, request_key) DO NOTHING`,
    ),
    complete: db.prepare<[number, number, number, number | null, number, StoredId]>(
      `UPDATE requests SET state = ?, completed_by = ?, completed_seq = ?, nano_usd = ?
       WHERE organization_number = ? AND request_key = ?`,
    ),
    insertEvent: db.prepare<[number, number, string]>(
      'INSERT INTO events (organization_number, seq, envelope) VALUES (?, ?, ?)',
    ),
    insertTime: db.prepare<[number, number, string, number, number]>(
      'INSERT INTO events_by_time (organization_number, created_at, id, type, seq) VALUES (?, ?, ?, ?, ?)',
    ),
  };
}
