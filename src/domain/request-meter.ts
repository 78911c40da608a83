/** What is counted about requests and their events; see the metrics of the server. */

import type { EventType } from './event-type.ts';
import type { RequestResult } from './request-report.ts';
import type { RequestSource } from './request-state.ts';

export type RequestMeter = {
  /** Somebody told of a request, and what came of it is stored. */
  told(request: {
    readonly source: RequestSource;
    /** `unknown`: what was told could not be read. */
    readonly status: 'admitted' | 'success' | 'error' | 'unknown';
    readonly result: RequestResult;
  }): void;
  /** Events are in the log or, where their family is kept out of that, with those who deliver. */
  appended(type: EventType, events: number): void;
  settled(requests: number): void;
  /** From the moment an append is asked for until it is on disk. */
  appendTook(seconds: number): void;
  retentionDeleted(events: number): void;
};
