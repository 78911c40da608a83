/** Emitted events as they are kept. */

import type { EventType, RequestEventType } from './event-type.ts';

export const SCHEMA_VERSION = '1';

/** An event before it has its place and its instant. */
export type NewEvent<T extends EventType = EventType> = {
  readonly id: string;
  readonly type: T;
  /** Compact JSON text of the data. */
  readonly dataJson: string;
};

/** One event of the log. `envelope` holds the exact bytes that every reader and receiver sees. */
export type StoredEvent = {
  readonly id: string;
  readonly createdAtMs: number;
  readonly envelope: string;
};

/** A page question to the log; both ends of the range count. */
export type EventRange = {
  readonly organization: { readonly id: string; readonly number: number };
  readonly fromMs: number;
  readonly toMs: number;
  readonly type: RequestEventType | null;
  /** The last event of the page before. */
  readonly after: { readonly createdAtMs: number; readonly id: string } | null;
  readonly limit: number;
};
