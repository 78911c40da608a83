/** The registry of event types, and the selectors with which endpoints choose among them. */

export const EVENT_TYPES = [
  {
    type: 'gateway.request.completed',
    description: 'A request came to its outcome: a success or an error of the provider.',
  },
  {
    type: 'gateway.request.settled',
    description: 'No outcome of an admitted request arrived in time: its cost is unknown, which is not zero.',
  },
  { type: 'gateway.budget.threshold_crossed', description: 'A budget has spent 80 % of its limit in this period.' },
  { type: 'gateway.budget.breached', description: 'A budget has spent its whole limit in this period.' },
  { type: 'gateway.virtual_key.created', description: 'A virtual key came into being.' },
  { type: 'gateway.virtual_key.rotated', description: 'A virtual key was given a new secret.' },
  { type: 'gateway.virtual_key.disabled', description: 'A virtual key was stopped; it can be enabled again.' },
  { type: 'gateway.virtual_key.enabled', description: 'A stopped virtual key works again.' },
  { type: 'gateway.virtual_key.revoked', description: 'A virtual key was ended for good.' },
] as const;

/** Events of triggers: delivered to the endpoints that name them, never in the log, and in no other family. */
const ALERT_EVENT_TYPES = ['alert.fired', 'alert.resolved'] as const;

export type AlertEventType = (typeof ALERT_EVENT_TYPES)[number];
/** All but those of triggers: the types that every organization knows. */
export type EventType = (typeof EVENT_TYPES)[number]['type'];
export type AnyEventType = EventType | AlertEventType;
export type RequestEventType = Extract<EventType, `gateway.request.${string}`>;
/** Events of a gateway's own keys and budgets: delivered, never in the log. */
export type GovernanceEventType = Exclude<EventType, RequestEventType>;

/** Shown in the log. */
export const REQUEST_EVENT_TYPES = EVENT_TYPES.map(({ type }) => type).filter(isRequestEvent);
export const GOVERNANCE_EVENT_TYPES = EVENT_TYPES.map(({ type }) => type).filter(isGovernanceEvent);

export const ALL_TYPES: readonly AnyEventType[] = [...EVENT_TYPES.map(({ type }) => type), ...ALERT_EVENT_TYPES];

/** A set of types: bit n is entry n of ALL_TYPES. */
export type EventMask = number;

export const NO_EVENTS: EventMask = 0;

const FAMILIES = ['gateway.', 'gateway.request.', 'gateway.budget.', 'gateway.virtual_key.', 'alert.'] as const;
const ALERTS = 'alert.';

const MASKS: ReadonlyMap<string, EventMask> = new Map([
  ...ALL_TYPES.map((type, index): [string, EventMask] => [type, 1 << index]),
  ...FAMILIES.map((family): [string, EventMask] => [`${family}*`, maskOfTypes((type) => type.startsWith(family))]),
  // Alerts came later: endpoints that ask for everything get what they got before.
  ['*', maskOfTypes((type) => !type.startsWith(ALERTS))],
]);

export const ALL_EVENTS: EventMask = maskOfTypes(() => true);

/** What a selector must be, in messages. */
export const SELECTOR_EXPECTED =
  'a type of event, as GET /api/webhooks/v1/event-types lists them, or a selector such as gateway.request.* or alert.*';

/** The types of a selector; null for an invalid one. */
export function maskOfSelector(selector: string): EventMask | null {
  return MASKS.get(selector) ?? null;
}

/** The types of all selectors; invalid selectors add none. */
export function maskOfSelectors(selectors: readonly string[]): EventMask {
  return selectors.reduce((mask, selector) => mask | (MASKS.get(selector) ?? NO_EVENTS), NO_EVENTS);
}

/** Whether a type is in the set; false for unknown types. */
export function includesType(mask: EventMask, type: string): boolean {
  return (mask & (MASKS.get(type) ?? NO_EVENTS)) !== 0;
}

function maskOfTypes(isIncluded: (type: AnyEventType) => boolean): EventMask {
  return ALL_TYPES.reduce((mask, type, index) => (isIncluded(type) ? mask | (1 << index) : mask), NO_EVENTS);
}

function isRequestEvent(type: EventType): type is RequestEventType {
  return type.startsWith('gateway.request.');
}

export function isBudgetEvent(type: EventType): boolean {
  return type.startsWith('gateway.budget.');
}

function isGovernanceEvent(type: EventType): type is GovernanceEventType {
  return !isRequestEvent(type);
}
