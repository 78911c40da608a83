/** The requests and the logs of organizations as a working set shows them; see working-set.ts. */

import type { LogTables, RequestChange, RequestRow } from '../../domain/append-tables.ts';
import type { NewEvent } from '../../domain/event.ts';
import { factsInEnvelope } from '../../domain/request-data.ts';
import { envelope, eventIdOf } from '../../domain/request-event.ts';
import type { NewRow } from '../questions.ts';
import { eventTypes, packRequestState, unpackRequestState } from '../rows/codes.ts';
import type { Found, Reader } from './reader.ts';

/** Where the log of an organization ends. */
export type LogHead = {
  readonly organizationNumber: number;
  seq: number;
  readonly createdAtMs: number;
  /** The same in an envelope. */
  readonly created: string;
  /** The furthest of the keys, counted from 0, under which any request of the organization was ever kept. */
  lastKeyIndex: number;
};

/** What stores know of a log before anything is written. */
export type LogEnds = {
  /** The head from which a batch goes on; `stored` is undefined where nothing is known of one. */
  readonly beginLog: (organizationNumber: number, stored: Found<'findLogHead'> | undefined) => LogHead;
};

type StoredRequest = Found<'findRequest'>;
type NewRequestRow = NewRow<'Request'>;
export type RequestEntry = {
  readonly row: NewRequestRow & { readonly keptAtMs: number };
  /** As it was before the batch; null when it is new. */
  readonly stored: StoredRequest | null;
  /** The event that came of it. */
  readonly event: EventRow | null;
};
export type EventRow = {
  readonly organizationNumber: number;
  readonly seq: number;
  readonly createdAtMs: number;
  readonly id: string;
  readonly type: number;
  readonly envelope: string;
};

/** What a run wrote into the log of an organization. */
export type WrittenLog = {
  readonly head: LogHead;
  readonly knownKeyIndex: number;
  /** By their keys. */
  readonly requests: ReadonlyMap<string, RequestEntry>;
  readonly events: readonly EventRow[];
  /** Those of them that are not of requests, by their ids. */
  readonly governance: ReadonlyMap<string, EventRow>;
};

export type WorkingLog = { readonly tables: LogTables; readonly written: WrittenLog };

export function createWorkingLog(organizationNumber: number, deps: LogEnds & { readonly read: Reader }): WorkingLog {
  const { read, beginLog } = deps;
  const head = beginLog(organizationNumber, read('findLogHead', { organizationNumber })[0]);
  const knownKeyIndex = head.lastKeyIndex;
  const requests = new Map<string, RequestEntry>();
  const events: EventRow[] = [];
  const governance = new Map<string, EventRow>();

  function findRow(key: string): NewRequestRow | undefined {
    return requests.get(key)?.row ?? read('findRequest', { organizationNumber, key })[0];
  }

  function appendEvent({ id, type, dataJson }: NewEvent): EventRow {
    head.seq += 1;
    const text = envelope({ id, type, created: head.created, dataJson });
    const { seq, createdAtMs } = head;
    const event = { organizationNumber, seq, createdAtMs, id, type: eventTypes.code(type), envelope: text };
    events.push(event);
    return event;
  }

  const tables: LogTables = {
    get lastKeyIndex() {
      return head.lastKeyIndex;
    },
    set lastKeyIndex(index) {
      head.lastKeyIndex = index;
    },
    findRequest(key) {
      const row = findRow(key);
      return row === undefined ? undefined : toRequest(row);
    },
    findEmitted(key) {
      const made = requests.get(key)?.event;
      if (made) return factsInEnvelope(made.envelope.replace(head.created, ''));
      const newest = newestOf(key, findRow(key));
      const [event] = newest === null ? [] : read('findEvent', { organizationNumber, ...newest });
      return event === undefined ? undefined : factsInEnvelope(event.envelope);
    },
    insertRequest(key, request, makeEvent) {
      if (findRow(key) !== undefined) return false;
      const event = makeEvent === null ? null : appendEvent(makeEvent(head.created));
      const { state, completedBy } = packRequestState(request.state);
      const row = {
        // Copied first: anywhere else it would take several times as long.
        ...request,
        organizationNumber,
        key,
        state,
        completedBy,
        completedEvent: event === null ? null : head.createdAtMs,
        keptAtMs: request.receivedAtMs,
      };
      requests.set(key, { row, stored: null, event });
      return true;
    },
    changeRequest(key, change, makeEvent) {
      const before = requests.get(key);
      const [stored = null] = before === undefined ? read('findRequest', { organizationNumber, key }) : [before.stored];
      const known = before?.row ?? stored;
      if (known === null) throw new Error('a request is changed that was not found');
      const event = appendEvent(makeEvent(head.created));
      requests.set(key, { row: toChanged(known, change, head.createdAtMs), stored, event });
    },
    insertGovernanceEvent(event) {
      const { id } = event;
      if (governance.has(id) || read('findGovernanceEvent', { organizationNumber, id }).length > 0) return false;
      governance.set(id, appendEvent(event));
      return true;
    },
  };
  return { tables, written: { head, knownKeyIndex, requests, events, governance } };
}

function toRequest(row: NewRequestRow): RequestRow {
  const { projectNumber, gatewayRequestId = null, admissionJson: admission = null, completedBy = null } = row;
  const state = unpackRequestState(row.state, completedBy);
  return { projectNumber, gatewayRequestId, state, admission, corrections: countCorrections(row) };
}

const EVENTS = { completed: 'completedEvent', settled: 'settledEvent', correction: 'correctionEvent' } as const;

function toChanged(known: NewRequestRow, change: RequestChange, event: number): RequestEntry['row'] {
  const { costNanoUsd, admissionJson, emits, receivedAtMs } = change;
  const { correctionEvent = null } = known;
  // The last correction takes the place of the one before, which joins the earlier ones.
  const earlier = emits === 'correction' && correctionEvent !== null ? [...earlierOf(known), correctionEvent] : null;
  return {
    ...known,
    ...packRequestState(change.state),
    costNanoUsd,
    admissionJson,
    keptAtMs: Math.max(known.receivedAtMs, receivedAtMs ?? 0),
    ...(earlier === null ? {} : { earlierCorrections: JSON.stringify(earlier) }),
    [EVENTS[emits]]: event,
  };
}

function earlierOf({ earlierCorrections = null }: NewRequestRow): readonly number[] {
  return earlierCorrections === null ? [] : JSON.parse(earlierCorrections);
}

function countCorrections(row: NewRequestRow): number {
  return (row.correctionEvent ?? null) === null ? 0 : earlierOf(row).length + 1;
}

/** The newest event that tells of an outcome. */
function newestOf(key: string, row: NewRequestRow | undefined): { createdAtMs: number; id: string } | null {
  if (row === undefined) return null;
  const { correctionEvent = null, completedEvent = null } = row;
  if (correctionEvent !== null) {
    return { createdAtMs: correctionEvent, id: eventIdOf(key, { kind: 'correction', number: countCorrections(row) }) };
  }
  return completedEvent === null ? null : { createdAtMs: completedEvent, id: eventIdOf(key, { kind: 'completed' }) };
}
