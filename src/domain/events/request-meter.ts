/** Counts requests and their events for the metrics of the server. */

import type { EventType } from './event-type.ts';
import type { RequestResult } from './request-report.ts';
import type { RequestSource } from './request-state.ts';

export type RequestMeter = {
  /** Counts a span or record and its result. */
  reported(request: {
    readonly source: RequestSource;
    /** `unknown`: the record is unreadable. */
    readonly status: 'admitted' | 'success' | 'error' | 'unknown';
    readonly result: RequestResult;
  }): void;
  /** Counts events in the log, and governance events, which are only delivered. */
  appended(type: EventType, events: number): void;
  settled(requests: number): void;
  /** From the call of an append until it is on disk. */
  observeAppend(seconds: number): void;
  retentionDeleted(events: number): void;
  retentionErased(traces: number): void;
  /** Counts log records that no span had when they were removed. */
  logRecordsDropped(reason: 'room' | 'age', records: number): void;
};
