/** The requests and the log of organizations as a working set shows them; see working-set.ts. */

import type { NewEvent } from '../../domain/event.ts';
import type { EventType } from '../../domain/event-type.ts';
import { factsInData, type ToldFacts } from '../../domain/request-data.ts';
import { envelope } from '../../domain/request-event.ts';
import type { LogTables, OverdueRequest, RequestChange, RequestRow } from '../append/tables.ts';

/** Stands in an envelope for the instant of its commit, which only the database knows. JSON text never holds it. */
export const CREATED_MARK = '\u0001';

/** As the instant of an event: the moment of the commit. */
const NOW = 0;

export type KnownRequest = Omit<RequestRow, 'corrections'> & {
  readonly costNanoUsd: number | null;
  readonly receivedAtMs: number;
  readonly completedAtMs: number | null;
  readonly settledAtMs: number | null;
  /** Of the last correction. */
  readonly correctionAtMs: number | null;
  readonly earlierCorrectionsAtMs: readonly number[];
};

/** What has been read, null for what is known not to exist. */
export type KnownLogs = {
  readonly requests: Map<string, KnownRequest | null>;
  /** By requests, what the newest completed event of each tells. */
  readonly told: Map<string, ToldFacts | null>;
  readonly keyIndexes: Map<number, number>;
  /** Whether there is such an event outside of the log. */
  readonly governance: Map<string, boolean>;
};

/** What must be read before the run can count. */
export type MissingLogs = {
  readonly requests: Map<string, OverdueRequest>;
  readonly told: Map<string, OverdueRequest>;
  readonly keyIndexes: Set<number>;
  readonly governance: Map<string, GovernanceId>;
};

export type GovernanceId = { readonly organizationNumber: number; readonly id: string };

export type RequestEntry = {
  readonly organizationNumber: number;
  readonly key: string;
  row: KnownRequest;
  /** The data of the event that came of it. */
  readonly dataJson: string | null;
  keptAtMs: number;
  readonly isNew: boolean;
};
export type EventEntry = {
  readonly organizationNumber: number;
  /** 1 for the first of the organization in this batch. */
  readonly place: number;
  readonly id: string;
  readonly type: EventType;
  readonly envelopeTemplate: string;
};
export type GovernanceEntry = GovernanceId & {
  /** Of its event. */
  readonly place: number;
};
export type HeadEntry = {
  readonly organizationNumber: number;
  readonly knownKeyIndex: number;
  lastKeyIndex: number;
  events: number;
  /** Whether it must be taken: for events, and for requests that have none. */
  isTaken: boolean;
};

/** What a run wrote. */
export type WrittenLogs = {
  readonly requests: ReadonlyMap<string, RequestEntry>;
  readonly events: readonly EventEntry[];
  readonly governance: ReadonlyMap<string, GovernanceEntry>;
  readonly heads: ReadonlyMap<number, HeadEntry>;
};

export type WorkingLogs = { log(organizationNumber: number): LogTables; readonly written: WrittenLogs };

/** Of a request by its key, or of an event outside of the log by its id. */
export function logName(organizationNumber: number, id: string): string {
  return `${organizationNumber} ${id}`;
}

export function createWorkingLogs(known: KnownLogs | null, missing: MissingLogs): WorkingLogs {
  const heads = new Map<number, HeadEntry>();
  const requests = new Map<string, RequestEntry>();
  const events: EventEntry[] = [];
  const governance = new Map<string, GovernanceEntry>();

  function takeHead(organizationNumber: number): HeadEntry {
    const taken = heads.get(organizationNumber);
    if (taken !== undefined) return taken;
    const knownKeyIndex = known === null ? 0 : known.keyIndexes.get(organizationNumber);
    if (knownKeyIndex === undefined) missing.keyIndexes.add(organizationNumber);
    const head = {
      organizationNumber,
      knownKeyIndex: knownKeyIndex ?? 0,
      lastKeyIndex: knownKeyIndex ?? 0,
      events: 0,
      isTaken: false,
    };
    heads.set(organizationNumber, head);
    return head;
  }

  function findRequest(organizationNumber: number, key: string): KnownRequest | undefined {
    const name = logName(organizationNumber, key);
    const entry = requests.get(name);
    if (entry !== undefined) return entry.row;
    if (known === null) return undefined;
    const stored = known.requests.get(name);
    if (stored === undefined) missing.requests.set(name, { organizationNumber, key });
    return stored ?? undefined;
  }

  function hasGovernance(organizationNumber: number, id: string): boolean {
    const name = logName(organizationNumber, id);
    if (governance.has(name)) return true;
    if (known === null) return false;
    const stored = known.governance.get(name);
    if (stored === undefined) missing.governance.set(name, { organizationNumber, id });
    return stored ?? false;
  }

  function findTold(organizationNumber: number, key: string): ToldFacts | undefined {
    const name = logName(organizationNumber, key);
    const told = requests.get(name)?.dataJson;
    if (typeof told === 'string') return factsInData(told);
    if (known === null) return undefined;
    const stored = known.told.get(name);
    if (stored === undefined) missing.told.set(name, { organizationNumber, key });
    return stored ?? undefined;
  }

  function appendEvent(head: HeadEntry, { id, type, dataJson }: NewEvent): void {
    head.events += 1;
    head.isTaken = true;
    events.push({
      organizationNumber: head.organizationNumber,
      place: head.events,
      id,
      type,
      envelopeTemplate: envelope({ id, type, created: CREATED_MARK, dataJson }),
    });
  }

  function log(organizationNumber: number): LogTables {
    const head = takeHead(organizationNumber);
    const put = (key: string, entry: Omit<RequestEntry, 'organizationNumber' | 'key'>) => {
      head.isTaken = true;
      requests.set(logName(organizationNumber, key), { organizationNumber, key, ...entry });
    };
    return {
      get lastKeyIndex() {
        return head.lastKeyIndex;
      },
      set lastKeyIndex(index) {
        head.lastKeyIndex = index;
      },
      findRequest(key) {
        const row = findRequest(organizationNumber, key);
        return row === undefined ? undefined : { ...row, corrections: countCorrections(row) };
      },
      findTold: (key) => findTold(organizationNumber, key),
      insertRequest(key, request, event) {
        if (findRequest(organizationNumber, key) !== undefined) return false;
        const completedAtMs = event === null ? null : NOW;
        const { admissionJson: admission, ...facts } = request;
        const row = {
          ...facts,
          admission,
          completedAtMs,
          settledAtMs: null,
          correctionAtMs: null,
          earlierCorrectionsAtMs: [],
        };
        const made = event === null ? null : event(CREATED_MARK);
        put(key, { row, isNew: true, keptAtMs: request.receivedAtMs, dataJson: made?.dataJson ?? null });
        if (made !== null) appendEvent(head, made);
        return true;
      },
      changeRequest(key, change, event) {
        const stored = findRequest(organizationNumber, key);
        if (stored === undefined) throw new Error('a request is changed that was not found');
        const isNew = requests.get(logName(organizationNumber, key))?.isNew === true;
        const keptAtMs = Math.max(stored.receivedAtMs, change.receivedAtMs ?? 0);
        const made = event(CREATED_MARK);
        put(key, { row: toChanged(stored, change), isNew, keptAtMs, dataJson: made.dataJson });
        appendEvent(head, made);
      },
      insertGovernanceEvent(event) {
        if (hasGovernance(organizationNumber, event.id)) return false;
        appendEvent(head, event);
        const name = logName(organizationNumber, event.id);
        governance.set(name, { organizationNumber, id: event.id, place: head.events });
        return true;
      },
    };
  }

  return { log, written: { requests, events, governance, heads } };
}

function toChanged(
  stored: KnownRequest,
  { state, costNanoUsd, admissionJson: admission, emits }: RequestChange,
): KnownRequest {
  const { correctionAtMs, earlierCorrectionsAtMs } = stored;
  const isAgain = emits === 'correction' && correctionAtMs !== null;
  return {
    ...stored,
    state,
    costNanoUsd,
    admission,
    earlierCorrectionsAtMs: isAgain ? [...earlierCorrectionsAtMs, correctionAtMs] : earlierCorrectionsAtMs,
    [INSTANTS[emits]]: NOW,
  };
}

function countCorrections({ correctionAtMs, earlierCorrectionsAtMs }: KnownRequest): number {
  return correctionAtMs === null ? 0 : earlierCorrectionsAtMs.length + 1;
}

const INSTANTS = { completed: 'completedAtMs', settled: 'settledAtMs', correction: 'correctionAtMs' } as const;
