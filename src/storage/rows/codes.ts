/**
 * Stored forms of enum values and of texts with common beginnings. A code never changes its meaning; new values get new
 * codes.
 */

import type { AttemptOutcome, DeadReason, DeliveryStatus, ReplayStatus } from '../../domain/delivery/delivery.ts';
import type { AnyEventType } from '../../domain/events/event-type.ts';
import type { RequestSource, StoredRequestState } from '../../domain/events/request-state.ts';
import type { SpanType } from '../../domain/traces/trace.ts';

/** Maps enum values to codes and back. */
export type Codes<Value extends string> = { code(value: Value): number; value(code: number): Value };

// SQLite stores 0 and 1 without a byte of their own, so the most frequent values have them.
export const spanTypes: Codes<SpanType> = createCodes({
  span: 0,
  llm: 1,
  chain: 2,
  tool: 3,
  agent: 4,
  rag: 5,
  guardrail: 6,
  evaluation: 7,
  workflow: 8,
  component: 9,
  module: 10,
  server: 11,
  client: 12,
  producer: 13,
  consumer: 14,
  task: 15,
  unknown: 16,
});

export const requestStatuses: Codes<StoredRequestState['status']> = createCodes({
  success: 0,
  error: 1,
  admitted: 2,
  settled: 3,
});

export const requestSources: Codes<RequestSource> = createCodes({ span: 0, report: 1 });

/** The code of requests without an outcome, which partial indexes name. */
export const ADMITTED = requestStatuses.code('admitted');

export const eventTypes: Codes<AnyEventType> = createCodes({
  'gateway.request.completed': 1,
  'gateway.request.settled': 2,
  'gateway.budget.threshold_crossed': 3,
  'gateway.budget.breached': 4,
  'gateway.virtual_key.created': 5,
  'gateway.virtual_key.rotated': 6,
  'gateway.virtual_key.disabled': 7,
  'gateway.virtual_key.enabled': 8,
  'gateway.virtual_key.revoked': 9,
  'alert.fired': 10,
  'alert.resolved': 11,
});

/** The stored form of the state of a request. */
export function packRequestState(state: StoredRequestState): {
  readonly state: number;
  readonly completedBy: number | null;
} {
  const completedBy = 'source' in state ? requestSources.code(state.source) : null;
  return { state: requestStatuses.code(state.status), completedBy };
}

export function unpackRequestState(status: number, source: number | null): StoredRequestState {
  const value = requestStatuses.value(status);
  if (value === 'admitted' || value === 'settled') return { status: value };
  if (source === null) throw new Error('a completed request does not say who completed it');
  return { status: value, source: requestSources.value(source) };
}

const costSources = createCodes({ registry: 0, unpriced: 1, explicit: 2, span_rates: 3, override: 4, result: 5 });

/** Sources of a cost are an open set: those without a code are stored as text. */
export function packCostSource(source: string | null): string | number | null {
  return source === null || !costSources.has(source) ? source : costSources.code(source);
}

export function unpackCostSource(stored: string | number | null): string | null {
  return typeof stored === 'number' ? costSources.value(stored) : stored;
}

function createCodes<Value extends string>(byValue: Readonly<Record<Value, number>>) {
  const codes = new Map<string, number>(Object.entries(byValue));
  const values = new Map(Object.entries<number>(byValue).map(([value, code]) => [code, value as Value]));
  return {
    has: (value: string): value is Value => codes.has(value),
    code: (value: Value): number => byValue[value],
    value: (code: number): Value => {
      const value = values.get(code);
      if (value === undefined) throw new Error(`a row holds the unknown code ${code}`);
      return value;
    },
  };
}

export const deliveryStatuses: Codes<DeliveryStatus> = createCodes({
  delivered: 0,
  queued: 1,
  sending: 2,
  retrying: 3,
  dead: 4,
  cancelled: 5,
});

export const attemptOutcomes: Codes<AttemptOutcome> = createCodes({
  success: 0,
  pending: 1,
  retryable: 2,
  terminal: 3,
});

export const deadReasons: Codes<DeadReason> = createCodes({
  exhausted: 0,
  receiver_gone: 1,
  too_large: 2,
  expired: 3,
});

/** How a delivery counts in the progress of its replay. */
export const replayCounts: Codes<'delivered' | 'dead'> = createCodes({ delivered: 0, dead: 1 });

export const replayStatuses: Codes<ReplayStatus> = createCodes({ running: 0, completed: 1, cancelled: 2 });

/**
 * Most inputs and outputs begin with the same JSON. One control character replaces it, with which no JSON text begins.
 */
const OPENING = '{"type":"';
const MIDDLE = '","value":';

// A mark never changes its meaning; new types get new marks. \u0006 is that of texts that lie elsewhere (moved-text.ts).
const MARKS: ReadonlyMap<string, string> = new Map([
  ['chat_messages', '\u0001'],
  ['text', '\u0002'],
  ['json', '\u0003'],
  ['list', '\u0004'],
  ['raw', '\u0005'],
]);
const TYPES: ReadonlyMap<string, string> = new Map([...MARKS].map(([type, mark]) => [mark, type]));

/** The stored form of the compact JSON text of {"type","value"}; other texts stay as they are. */
export function packTyped(json: string | null): string | null {
  if (json === null || !json.startsWith(OPENING)) return json;
  const typeEnd = json.indexOf('"', OPENING.length);
  const mark = MARKS.get(json.slice(OPENING.length, typeEnd));
  if (mark === undefined || !json.startsWith(MIDDLE, typeEnd)) return json;
  return mark + json.slice(typeEnd + MIDDLE.length, -1);
}

export function unpackTyped(stored: string | null): string | null {
  if (stored === null) return null;
  const start = unpackTypedStart(stored);
  return start === stored ? stored : `${start}}`;
}

/** The same for the beginning of a stored text; where the text ends, its last brace may be missing. */
export function unpackTypedStart(stored: string): string {
  const type = TYPES.get(stored.charAt(0));
  return type === undefined ? stored : `${OPENING}${type}${MIDDLE}${stored.slice(1)}`;
}
