/** Emitted events as they are kept. */

export const REQUEST_EVENT_TYPES = ['gateway.request.completed', 'gateway.request.settled'] as const;
export type RequestEventType = (typeof REQUEST_EVENT_TYPES)[number];

export const BUDGET_EVENT_TYPES = ['gateway.budget.threshold_crossed', 'gateway.budget.breached'] as const;
export type BudgetEventType = (typeof BUDGET_EVENT_TYPES)[number];

export const VIRTUAL_KEY_EVENT_TYPES = [
  'gateway.virtual_key.created',
  'gateway.virtual_key.rotated',
  'gateway.virtual_key.disabled',
  'gateway.virtual_key.enabled',
  'gateway.virtual_key.revoked',
] as const;
export type VirtualKeyEventType = (typeof VIRTUAL_KEY_EVENT_TYPES)[number];

/** What a gateway tells of its own keys and budgets: pushed, and never in the log. */
export type GovernanceEventType = BudgetEventType | VirtualKeyEventType;
export type EventType = RequestEventType | GovernanceEventType;

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
