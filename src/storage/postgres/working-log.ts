/** The requests and the log of organizations as a working set shows them; see working-set.ts. */

import { envelope } from '../../domain/request-event.ts';
import type { LogTables, NewEvent, RequestOutcome, RequestRow } from '../append/tables.ts';

/** Stands in an envelope for the instant of its commit, which only the database knows. JSON text never holds it. */
export const CREATED_MARK = '\u0001';

/** As the instant of an event: the moment of the commit. */
const NOW = 0;

export type KnownRequest = RequestRow & {
  readonly costNanoUsd: number | null;
  readonly receivedAtMs: number;
  readonly completedAtMs: number | null;
  readonly settledAtMs: number | null;
  readonly correctionAtMs: number | null;
};

/** What has been read, null for what is known not to exist. */
export type KnownLogs = {
  readonly requests: Map<string, KnownRequest | null>;
  readonly keyIndexes: Map<number, number>;
};

/** What must be read before the run can count. */
export type MissingLogs = {
  readonly requests: Map<string, { readonly organizationNumber: number; readonly key: string }>;
  readonly keyIndexes: Set<number>;
};

export type RequestEntry = {
  readonly organizationNumber: number;
  readonly key: string;
  row: KnownRequest;
  keptAtMs: number;
  readonly isNew: boolean;
};
export type EventEntry = {
  readonly organizationNumber: number;
  /** 1 for the first of the organization in this batch. */
  readonly place: number;
  readonly id: string;
  readonly type: NewEvent['type'];
  readonly envelopeTemplate: string;
};
export type HeadEntry = {
  readonly organizationNumber: number;
  readonly knownKeyIndex: number;
  lastKeyIndex: number;
  events: number;
};

/** What a run wrote. */
export type WrittenLogs = {
  readonly requests: ReadonlyMap<string, RequestEntry>;
  readonly events: readonly EventEntry[];
  readonly heads: ReadonlyMap<number, HeadEntry>;
};

export type WorkingLogs = { log(organizationNumber: number): LogTables; readonly written: WrittenLogs };

export function requestKey(organizationNumber: number, key: string): string {
  return `${organizationNumber} ${key}`;
}

export function createWorkingLogs(known: KnownLogs | null, missing: MissingLogs): WorkingLogs {
  const heads = new Map<number, HeadEntry>();
  const requests = new Map<string, RequestEntry>();
  const events: EventEntry[] = [];

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
    };
    heads.set(organizationNumber, head);
    return head;
  }

  function findRequest(organizationNumber: number, key: string): KnownRequest | undefined {
    const name = requestKey(organizationNumber, key);
    const entry = requests.get(name);
    if (entry !== undefined) return entry.row;
    if (known === null) return undefined;
    const stored = known.requests.get(name);
    if (stored === undefined) missing.requests.set(name, { organizationNumber, key });
    return stored ?? undefined;
  }

  function appendEvent(head: HeadEntry, { id, type, dataJson }: NewEvent): void {
    head.events += 1;
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
    const put = (key: string, row: KnownRequest, { isNew, keptAtMs }: Pick<RequestEntry, 'isNew' | 'keptAtMs'>) =>
      requests.set(requestKey(organizationNumber, key), { organizationNumber, key, row, keptAtMs, isNew });
    return {
      get lastKeyIndex() {
        return head.lastKeyIndex;
      },
      set lastKeyIndex(index) {
        head.lastKeyIndex = index;
      },
      findRequest: (key) => findRequest(organizationNumber, key),
      insertRequest(key, request, event) {
        if (findRequest(organizationNumber, key) !== undefined) return false;
        const row = { ...request, completedAtMs: NOW, settledAtMs: null, correctionAtMs: null };
        put(key, row, { isNew: true, keptAtMs: request.receivedAtMs });
        appendEvent(head, event());
        return true;
      },
      completeRequest(key, outcome, event) {
        const stored = findRequest(organizationNumber, key);
        if (stored === undefined) throw new Error('a request is completed that was not found');
        const isNew = requests.get(requestKey(organizationNumber, key))?.isNew === true;
        put(key, toCompleted(stored, outcome), {
          isNew,
          keptAtMs: Math.max(stored.receivedAtMs, outcome.receivedAtMs),
        });
        appendEvent(head, event());
      },
    };
  }

  return { log, written: { requests, events, heads } };
}

function toCompleted(stored: KnownRequest, { state, costNanoUsd }: RequestOutcome): KnownRequest {
  return { ...stored, state, costNanoUsd, completedAtMs: NOW };
}
