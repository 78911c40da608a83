/** Requests and the log of one organization on SQLite. */

import { envelope } from '../../domain/request-event.ts';
import type { LogTables, NewEvent } from '../append/tables.ts';
import { eventTypes, requestSources, requestStatuses, unpackRequestState } from '../rows/codes.ts';
import { packRequestKey, type StoredId } from './compact-ids.ts';
import type { Database } from './connection.ts';
import type { LogHead } from './log-heads.ts';

/** Answers a function that shows the log behind a head; what it appends moves the head on. */
export function prepareLogTables(db: Database): (head: LogHead) => LogTables {
  const statements = prepareStatements(db);

  function appendEvent(head: LogHead, { id, type, dataJson }: NewEvent): void {
    const { organizationNumber, createdAtMs } = head;
    const created = new Date(createdAtMs).toISOString();
    head.seq += 1;
    statements.insertEvent.run(organizationNumber, head.seq, envelope({ id, type, created, dataJson }));
    statements.insertTime.run(organizationNumber, createdAtMs, id, eventTypes.code(type), head.seq);
  }

  return (head) => ({
    get lastKeyIndex() {
      return head.lastKeyIndex;
    },
    set lastKeyIndex(index) {
      head.lastKeyIndex = index;
    },
    findRequest(key) {
      const row = statements.find.get(head.organizationNumber, packRequestKey(key));
      if (row === undefined) return undefined;
      const { state, completedBy, ...rest } = row;
      return { ...rest, state: unpackRequestState(state, completedBy) };
    },
    insertRequest(key, { projectNumber, gatewayRequestId, state, receivedAtMs, costNanoUsd }, event) {
      const inserted = statements.insert.run(
        head.organizationNumber,
        packRequestKey(key),
        projectNumber,
        gatewayRequestId,
        requestStatuses.code(state.status),
        requestSources.code(state.source),
        head.seq + 1,
        receivedAtMs,
        costNanoUsd,
      );
      if (inserted.changes === 0) return false;
      appendEvent(head, event());
      return true;
    },
    completeRequest(key, { state, costNanoUsd }, event) {
      appendEvent(head, event());
      statements.complete.run(
        requestStatuses.code(state.status),
        requestSources.code(state.source),
        head.seq,
        costNanoUsd,
        head.organizationNumber,
        packRequestKey(key),
      );
    },
  });
}

type Row = {
  readonly projectNumber: number;
  readonly gatewayRequestId: string | null;
  readonly state: number;
  readonly completedBy: number | null;
};

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
