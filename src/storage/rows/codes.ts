/** What enums are in rows. A code is never given a second meaning; new words get new numbers. */

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
