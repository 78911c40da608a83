/** Events, new and stored. */

import type { AnyEventType, RequestEventType } from './event-type.ts';

export const SCHEMA_VERSION = '1';

/** An event without its position and instant. */
export type NewEvent<T extends AnyEventType = AnyEventType> = {
  readonly id: string;
  readonly type: T;
  /** Compact JSON text of the data. */
  readonly dataJson: string;
};

/** One event of the log. `envelope` is the exact text that readers and receivers get. */
export type StoredEvent = {
  readonly id: string;
  readonly createdAtMs: number;
  readonly envelope: string;
};

/** One page of the log; the range includes both ends. */
export type EventRange = {
  readonly organization: { readonly id: string; readonly number: number };
  readonly fromMs: number;
  readonly toMs: number;
  readonly type: RequestEventType | null;
  /** The previous page's last event. */
  readonly after: { readonly createdAtMs: number; readonly id: string } | null;
  readonly limit: number;
};
