/** Emitted events as the log keeps them. */

export const REQUEST_EVENT_TYPES = ['gateway.request.completed', 'gateway.request.settled'] as const;
export type RequestEventType = (typeof REQUEST_EVENT_TYPES)[number];

export const SCHEMA_VERSION = '1';

/** One stored event. `envelope` holds the exact bytes that every reader and receiver sees. */
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
