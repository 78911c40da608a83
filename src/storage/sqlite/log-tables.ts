/** Requests and the log of one organization on SQLite. */

import type { NewEvent } from '../../domain/event.ts';
import { factsInEnvelope } from '../../domain/request-data.ts';
import { type EventKind, envelope } from '../../domain/request-event.ts';
import type { LogTables, MakeEvent } from '../append/tables.ts';
import { eventTypes, requestSources, requestStatuses, unpackRequestState } from '../rows/codes.ts';
import { packRequestKey, type StoredId } from './compact-ids.ts';
import type { Database } from './connection.ts';
import type { LogHead } from './log-heads.ts';

/** Answers a function that shows the log behind a head; what it appends moves the head on. */
export function prepareLogTables(db: Database): (head: LogHead) => LogTables {
  const statements = prepareStatements(db);

  /** The envelope alone: it is emitted, and in no log. */
  function appendEvent(head: LogHead, { id, type, dataJson }: NewEvent, created: string): void {
    head.seq += 1;
    statements.insertEvent.run(head.organizationNumber, head.seq, envelope({ id, type, created, dataJson }));
  }

  function appendLogged(head: LogHead, event: MakeEvent): void {
    const { organizationNumber, createdAtMs } = head;
    const created = new Date(createdAtMs).toISOString();
    const made = event(created);
    appendEvent(head, made, created);
    statements.insertTime.run(organizationNumber, createdAtMs, made.id, eventTypes.code(made.type), head.seq);
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
    findTold(key) {
      const told = statements.newest.get(head.organizationNumber, packRequestKey(key));
      return told === undefined ? undefined : factsInEnvelope(told);
    },
    insertRequest(key, { projectNumber, gatewayRequestId, state, receivedAtMs, costNanoUsd, admission }, event) {
      const place = [head.organizationNumber, packRequestKey(key), projectNumber, gatewayRequestId] as const;
      const status = requestStatuses.code(state.status);
      if (event === null) return statements.admit.run(...place, status, receivedAtMs, admission).changes === 1;
      const source = 'source' in state ? requestSources.code(state.source) : null;
      const inserted = statements.insert.run(...place, status, source, head.seq + 1, receivedAtMs, costNanoUsd);
      if (inserted.changes === 0) return false;
      appendLogged(head, event);
      return true;
    },
    changeRequest(key, { state, costNanoUsd, admission, emits }, event) {
      appendLogged(head, event);
      statements.change[emits].run(
        requestStatuses.code(state.status),
        'source' in state ? requestSources.code(state.source) : null,
        head.seq,
        costNanoUsd,
        admission,
        head.organizationNumber,
        packRequestKey(key),
      );
    },
    insertGovernanceEvent(event) {
      const { organizationNumber, createdAtMs } = head;
      const inserted = statements.insertGovernance.run(organizationNumber, event.id, createdAtMs, head.seq + 1);
      if (inserted.changes === 0) return false;
      appendEvent(head, event, new Date(createdAtMs).toISOString());
      return true;
    },
  });
}

type Row = {
  readonly projectNumber: number;
  readonly gatewayRequestId: string | null;
  readonly state: number;
  readonly completedBy: number | null;
  readonly admission: string | null;
  readonly corrections: number;
};

type Place = [number, StoredId, number, string | null];

/** The last correction takes the place of the one before, which joins the earlier ones. */
const AND_KEEP_CORRECTION = `earlier_corrections = CASE WHEN correction_seq IS NOT NULL
  THEN json_insert(ifnull(earlier_corrections, '[]'), '$[#]', correction_seq) END,`;

function prepareStatements(db: Database) {
  const change = (event: EventKind, before = '') =>
    db.prepare<[number, number | null, number, number | null, string | null, number, StoredId]>(
      `UPDATE requests SET ${before} state = ?, completed_by = ?, ${event}_seq = ?, nano_usd = ?, admission = ?
       WHERE organization_number = ? AND request_key = ?`,
    );
  return {
    find: db.prepare<[number, StoredId], Row>(
      `SELECT project_number AS projectNumber, gateway_request_id AS gatewayRequestId, state,
         completed_by AS completedBy, admission,
         (correction_seq IS NOT NULL) + ifnull(json_array_length(earlier_corrections), 0) AS corrections
       FROM requests WHERE organization_number = ? AND request_key = ?`,
    ),
    insert: db.prepare<[...Place, number, number | null, number, number, number | null]>(
      `INSERT INTO requests (organization_number, request_key, project_number, gateway_request_id,
         state, completed_by, completed_seq, received_at, nano_usd)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (organization_number, request_key) DO NOTHING`,
    ),
    admit: db.prepare<[...Place, number, number, string | null]>(
      `INSERT INTO requests (organization_number, request_key, project_number, gateway_request_id,
         state, received_at, admission)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (organization_number, request_key) DO NOTHING`,
    ),
    newest: db
      .prepare<[number, StoredId], string>(
        `SELECT envelope FROM requests JOIN events ON events.organization_number = requests.organization_number
           AND events.seq = ifnull(correction_seq, completed_seq)
         WHERE requests.organization_number = ? AND request_key = ?`,
      )
      .pluck(),
    change: {
      completed: change('completed'),
      settled: change('settled'),
      correction: change('correction', AND_KEEP_CORRECTION),
    },
    insertEvent: db.prepare<[number, number, string]>(
      'INSERT INTO events (organization_number, seq, envelope) VALUES (?, ?, ?)',
    ),
    insertTime: db.prepare<[number, number, string, number, number]>(
      'INSERT INTO events_by_time (organization_number, created_at, id, type, seq) VALUES (?, ?, ?, ?, ?)',
    ),
    insertGovernance: db.prepare<[number, string, number, number]>(
      `INSERT INTO governance_events (organization_number, id, created_at, seq) VALUES (?, ?, ?, ?)
       ON CONFLICT (organization_number, id) DO NOTHING`,
    ),
  };
}
