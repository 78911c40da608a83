/** What enums, and texts that begin alike, are in rows. A code is never given a second meaning; new words get new numbers. */

import type { AttemptOutcome, DeadReason, DeliveryStatus, ReplayStatus } from '../../domain/delivery.ts';
import type { EventType } from '../../domain/event-type.ts';
import type { RequestSource, StoredRequestState } from '../../domain/request-state.ts';
import type { SpanType } from '../../domain/trace.ts';

/** A table of codes, readable both ways. */
export type Codes<Word extends string> = { code(word: Word): number; word(code: number): Word };

// 0 and 1 take no room in a row: the most frequent words have them.
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

/** The state of requests that wait for their outcome, as indexes name it. */
export const ADMITTED = requestStatuses.code('admitted');

export const eventTypes: Codes<EventType> = createCodes({
  'gateway.request.completed': 1,
  'gateway.request.settled': 2,
  'gateway.budget.threshold_crossed': 3,
  'gateway.budget.breached': 4,
  'gateway.virtual_key.created': 5,
  'gateway.virtual_key.rotated': 6,
  'gateway.virtual_key.disabled': 7,
  'gateway.virtual_key.enabled': 8,
  'gateway.virtual_key.revoked': 9,
});

/** The state of a request, as its row has it. */
export function packRequestState(state: StoredRequestState): {
  readonly state: number;
  readonly completedBy: number | null;
} {
  const completedBy = 'source' in state ? requestSources.code(state.source) : null;
  return { state: requestStatuses.code(state.status), completedBy };
}

export function unpackRequestState(status: number, source: number | null): StoredRequestState {
  const word = requestStatuses.word(status);
  if (word === 'admitted' || word === 'settled') return { status: word };
  if (source === null) throw new Error('a completed request does not say who completed it');
  return { status: word, source: requestSources.word(source) };
}

const costSources = createCodes({ registry: 0, unpriced: 1, explicit: 2, span_rates: 3, override: 4, result: 5 });

/** Sources of a cost are an open set: those without a code stay words. */
export function packCostSource(source: string | null): string | number | null {
  return source === null || !costSources.has(source) ? source : costSources.code(source);
}

export function unpackCostSource(stored: string | number | null): string | null {
  return typeof stored === 'number' ? costSources.word(stored) : stored;
}

export function createCodes<Word extends string>(byWord: Readonly<Record<Word, number>>) {
  const codes = new Map<string, number>(Object.entries(byWord));
  const words = new Map(Object.entries<number>(byWord).map(([word, code]) => [code, word as Word]));
  return {
    has: (word: string): word is Word => codes.has(word),
    code: (word: Word): number => byWord[word],
    word: (code: number): Word => {
      const word = words.get(code);
      if (word === undefined) throw new Error(`a row holds the unknown code ${code}`);
      return word;
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

/** What the events of a delivery count as in the progress of its replay. */
export const replayCounts: Codes<'delivered' | 'dead'> = createCodes({ delivered: 0, dead: 1 });

export const replayStatuses: Codes<ReplayStatus> = createCodes({ running: 0, completed: 1, cancelled: 2 });

/**
 * Inputs and outputs nearly all begin with the same words. Those are kept as one control character, which compact
 * JSON text never begins with.
 */
const OPENING = '{"type":"';
const MIDDLE = '","value":';

// Marks are forever: a mark is never given a second meaning, new types get new marks.
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
  const type = TYPES.get(stored.charAt(0));
  return type === undefined ? stored : `${OPENING}${type}${MIDDLE}${stored.slice(1)}}`;
}
