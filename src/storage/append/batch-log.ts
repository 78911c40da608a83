/** The log's part of the tables of a batch: jobs, and the requests and events of organizations; see batch-telemetry.ts. */

import { AHEAD_MAX_MS } from '../../domain/clock.ts';
import type { Backlog, JobCount } from '../../domain/evaluations/backlog.ts';
import type { EvaluationJob, JobKey } from '../../domain/evaluations/jobs.ts';
import type {
  LogTables,
  OrganizationLog,
  RequestChange,
  RequestRow,
  TraceKey,
} from '../../domain/events/append-tables.ts';
import type { NewEvent } from '../../domain/events/event.ts';
import { readEmitted } from '../../domain/events/request-data.ts';
import { envelope, eventIdOf } from '../../domain/events/request-event.ts';
import type { NewRow } from '../queries.ts';
import { eventTypes, packRequestState, unpackRequestState } from '../rows/codes.ts';
import {
  type BudgetCache,
  createBatchBudgets,
  createBatchLeases,
  type WrittenBuckets,
  type WrittenLeases,
} from './batch-budgets.ts';
import { partKey, toPartKey } from './batch-rows.ts';
import type { BatchTracesDeps } from './batch-traces.ts';
import type { Found } from './reader.ts';

/** The end of an organization's log. */
type LogHead = {
  readonly organizationNumber: number;
  seq: number;
  readonly createdAtMs: number;
  /** The instant as envelopes hold it. */
  readonly created: string;
  /** The largest index, from 0, of the keys under which any request of the organization was ever stored. */
  lastKeyIndex: number;
  readonly resets: number;
};

/** How a store begins a batch at the end of a log. */
export type LogHeads = {
  /** The head from which a batch continues; `stored` is undefined if the log has none. */
  readonly beginLog: (organizationNumber: number, stored: Found<'findLogHead'> | undefined) => LogHead;
};

/**
 * The creation instant of the next events of a log that ends at `endsAtMs`. It decreases only where a clock that was wrong
 * has left the end far ahead: otherwise all events until then would have the same instant.
 */
export function nextCreation(endsAtMs: number, nowMs: number) {
  const isReset = endsAtMs > nowMs + AHEAD_MAX_MS;
  return { createdAtMs: isReset ? nowMs : Math.max(nowMs, endsAtMs), isReset };
}

type StoredRequest = Found<'findRequest'>;
/** Without the sequence, which SQLite draws when it stores the row. */
type NewRequestRow = Omit<NewRow<'Request'>, 'sequence'>;
export type RequestEntry = {
  readonly row: NewRequestRow & { readonly changedAtMs: number };
  /** The row before the batch; null for a new request. */
  readonly stored: StoredRequest | null;
  /** The event that the request emitted. */
  readonly event: EventRow | null;
};
export type EventRow = NewRow<'Event'> & { readonly envelope: string };

/** Written after the telemetry of the batch, in the same transaction. */
export type WrittenLog = {
  /** Traces whose jobs are removed before other writes. */
  readonly erased: readonly TraceKey[];
  /** By key; null: removed. */
  readonly jobs: ReadonlyMap<string, { readonly job: EvaluationJob | null; readonly key: JobKey }>;
  /** New jobs, by project. */
  readonly jobCounts: ReadonlyMap<number, JobCount>;
  /** By organization number. */
  readonly organizations: ReadonlyMap<number, { readonly written: WrittenOrganization }>;
  readonly leases: WrittenLeases;
};

/** The writes to the log of an organization. */
export type WrittenOrganization = {
  readonly head: LogHead;
  readonly knownKeyIndex: number;
  /** By request key. */
  readonly requests: ReadonlyMap<string, RequestEntry>;
  readonly events: readonly EventRow[];
  /** The events that belong to no request, by id. */
  readonly governance: ReadonlyMap<string, EventRow>;
  readonly buckets: WrittenBuckets;
};

export type BatchLogDeps = LogHeads &
  Pick<LogTables, 'activeMonitorsOf' | 'jobQueue'> &
  Pick<BatchTracesDeps, 'read' | 'noteReplaced'> & {
    readonly backlog: Pick<Backlog, 'isFull'>;
    readonly budgets: BudgetCache;
  };

/** `isNewTrace`: whether the batch itself has made the trace, so that nothing of it is stored. */
export function createBatchLog(deps: BatchLogDeps, isNewTrace: (traceKey: TraceKey) => boolean) {
  const { read, activeMonitorsOf, jobQueue, backlog } = deps;
  const erased: TraceKey[] = [];
  const jobs = new Map<string, { readonly job: EvaluationJob | null; readonly key: JobKey }>();
  const jobCounts = new Map<number, JobCount>();
  const organizations = new Map<number, BatchOrganization>();
  const leases = createBatchLeases(read);

  const tables: LogTables = {
    activeMonitorsOf,
    jobQueue,
    hasRoomForJob(projectNumber) {
      const isFull = backlog.isFull(projectNumber);
      const count = jobCounts.get(projectNumber) ?? { made: 0, refused: 0 };
      jobCounts.set(projectNumber, count);
      count[isFull ? 'refused' : 'made'] += 1;
      return !isFull;
    },
    findJob(traceKey, sourceId) {
      const known = jobs.get(partKey(traceKey, sourceId));
      if (known !== undefined) return known.job ?? undefined;
      return traceKey.traceId !== '' && isNewTrace(traceKey)
        ? undefined
        : read('findJob', { ...toPartKey(traceKey), sourceId })[0];
    },
    storeJob(job) {
      jobs.set(jobKey(job), { job, key: job });
    },
    removeJob(key) {
      jobs.set(jobKey(key), { job: null, key });
    },
    overdueRequests: (admittedByMs, countMax) => read('listOverdue', { admittedByMs, countMax }),
    findOwner: (projectNumber) => read('findOwner', { projectNumber })[0],
    ...leases.tables,
    log(organizationNumber) {
      const known = organizations.get(organizationNumber) ?? createOrganization(organizationNumber, deps);
      organizations.set(organizationNumber, known);
      return known.tables;
    },
  };
  return {
    tables,
    erase(traceKey: TraceKey): void {
      erased.push(traceKey);
      for (const [id, { key }] of jobs) if (key.traceSequence === traceKey.sequence) jobs.delete(id);
    },
    written: { erased, jobs, jobCounts, organizations, leases: leases.written } satisfies WrittenLog,
  };
}

function jobKey({ projectNumber, traceSequence, sourceId }: JobKey): string {
  return `${projectNumber} ${traceSequence} ${sourceId}`;
}

type BatchOrganization = { readonly tables: OrganizationLog; readonly written: WrittenOrganization };

function createOrganization(organizationNumber: number, deps: BatchLogDeps): BatchOrganization {
  const { read, beginLog, noteReplaced } = deps;
  const head = beginLog(organizationNumber, read('findLogHead', { organizationNumber })[0]);
  const knownKeyIndex = head.lastKeyIndex;
  const requests = new Map<string, RequestEntry>();
  const events: EventRow[] = [];
  const governance = new Map<string, EventRow>();
  const budgets = createBatchBudgets(deps, organizationNumber);

  const found = new Map<string, StoredRequest | undefined>();

  /** Read once: an outcome looks for its request several times. */
  function findStored(key: string): StoredRequest | undefined {
    if (!found.has(key)) found.set(key, read('findRequest', { organizationNumber, key })[0]);
    return found.get(key);
  }

  function findRow(key: string): NewRequestRow | undefined {
    return requests.get(key)?.row ?? findStored(key);
  }

  /** A request that was found before. */
  function known(key: string): Omit<RequestEntry, 'row'> & { readonly row: NewRequestRow } {
    const entry = requests.get(key);
    if (entry !== undefined) return entry;
    const stored = findStored(key);
    if (stored === undefined) throw new Error('a request is changed that was not found');
    return { row: stored, stored, event: null };
  }

  function appendEvent({ id, type, dataJson }: NewEvent): EventRow {
    head.seq += 1;
    const text = envelope({ id, type, created: head.created, dataJson });
    noteReplaced(text.length);
    const { seq, createdAtMs } = head;
    const event = { organizationNumber, seq, createdAtMs, id, type: eventTypes.code(type), envelope: text };
    events.push(event);
    return event;
  }

  const tables: OrganizationLog = {
    budgets: budgets.tables,
    created: head.created,
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
      if (made) return readEmitted(made.envelope.replace(head.created, ''));
      const newest = newestOf(key, findRow(key));
      const [event] = newest === null ? [] : read('findEvent', { organizationNumber, ...newest });
      return event === undefined ? undefined : readEmitted(event.envelope);
    },
    insertRequest(key, request, makeEvent) {
      if (findRow(key) !== undefined) return false;
      const event = makeEvent === null ? null : appendEvent(makeEvent(head.created));
      const { state, completedBy } = packRequestState(request.state);
      const row = {
        // First in the literal: a spread elsewhere takes several times as long.
        ...request,
        organizationNumber,
        key,
        state,
        completedBy,
        completedEvent: event === null ? null : head.createdAtMs,
        changedAtMs: request.receivedAtMs,
      };
      requests.set(key, { row, stored: null, event });
      return true;
    },
    changeRequest(key, change, makeEvent) {
      const { row, stored } = known(key);
      const event = appendEvent(makeEvent(head.created));
      requests.set(key, { row: toChanged(row, change, head.createdAtMs), stored, event });
    },
    changeCost(key, change) {
      const { row, stored, event } = known(key);
      requests.set(key, { row: { ...row, ...change, changedAtMs: row.receivedAtMs }, stored, event });
    },
    renewRequest(key, receivedAtMs) {
      const { row, stored, event } = known(key);
      requests.set(key, { row: { ...row, receivedAtMs, changedAtMs: receivedAtMs }, stored, event });
    },
    insertGovernanceEvent(event) {
      const { id } = event;
      if (governance.has(id) || read('findGovernanceEvent', { organizationNumber, id }).length > 0) return false;
      governance.set(id, appendEvent(event));
      return true;
    },
  };
  return { tables, written: { head, knownKeyIndex, requests, events, governance, buckets: budgets.written } };
}

function toRequest(row: NewRequestRow): RequestRow {
  const { projectNumber, gatewayRequestId = null, admissionJson: admission = null, completedBy = null } = row;
  const state = unpackRequestState(row.state, completedBy);
  const { costNanoUsd = null, chargesJson: charges = null, receivedAtMs } = row;
  const corrections = countCorrections(row);
  return { projectNumber, gatewayRequestId, state, admission, corrections, costNanoUsd, receivedAtMs, charges };
}

const EVENTS = { completed: 'completedEvent', settled: 'settledEvent', correction: 'correctionEvent' } as const;

function toChanged(known: NewRequestRow, change: RequestChange, event: number): RequestEntry['row'] {
  const { costNanoUsd, admissionJson, chargesJson, emits, receivedAtMs } = change;
  const { correctionEvent = null } = known;
  // A new correction moves the previous one to the earlier ones.
  const earlier = emits === 'correction' && correctionEvent !== null ? [...earlierOf(known), correctionEvent] : null;
  return {
    ...known,
    ...packRequestState(change.state),
    costNanoUsd,
    admissionJson,
    chargesJson,
    changedAtMs: Math.max(known.receivedAtMs, receivedAtMs ?? 0),
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

/** The newest event with an outcome. */
function newestOf(key: string, row: NewRequestRow | undefined): { createdAtMs: number; id: string } | null {
  if (row === undefined) return null;
  const { correctionEvent = null, completedEvent = null } = row;
  const number = countCorrections(row);
  if (number > 0) return { createdAtMs: correctionEvent ?? 0, id: eventIdOf(key, { kind: 'correction', number }) };
  return completedEvent === null ? null : { createdAtMs: completedEvent, id: eventIdOf(key, { kind: 'completed' }) };
}
