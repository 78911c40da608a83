/** Makes a block of events that follow each other in the log. */

import { SPEND_DIMENSIONS, type SpendDimension } from '../../domain/spend/spend-store.ts';
import {
  BLOCK_EVENTS,
  DIMENSION_PARTS,
  NUMBERS,
  NUMBERS_PART,
  type NumberName,
  packNumbers,
  packValues,
} from './block-format.ts';
import type { Spending } from './spending.ts';

export type BuiltBlock = {
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Of a block without any requests the end comes before the beginning. */
  readonly occurredFromMs: number;
  readonly occurredToMs: number;
  readonly createdToMs: number;
  readonly parts: readonly BlockPart[];
};

export type BlockPart = { readonly part: number; readonly content: Uint8Array };

export type BlockBuilder = {
  /** The places of a block follow each other; what is no outcome is null. */
  add(seq: number, spending: Spending | null): void;
  /** No further event fits: there are as many as fit, or what they are told apart by takes as much as it may. */
  isFull(): boolean;
  /** `createdToMs` is when the last event was created. */
  end(createdToMs: number): BuiltBlock;
};

/** Of all that events are told apart by. A block is read as a whole, and is at most by one event larger. */
const WORDS_MAX_BYTES = 4 * 1024 * 1024;

/** Places that the log does not have are empty. `firstSeq` is that of the first event. */
export function createBlockBuilder(firstSeq: number): BlockBuilder {
  const columns = Object.fromEntries(NUMBERS.map((name) => [name, [] as (number | null)[]])) as Record<
    NumberName,
    (number | null)[]
  >;
  const dictionaries = SPEND_DIMENSIONS.map((dimension) => createDictionary(dimension));
  let [from, to, count] = [Number.MAX_SAFE_INTEGER, 0, 0];

  function push(spending: Spending | null): void {
    for (const name of NUMBERS) columns[name].push(spending?.numbers[name] ?? null);
    for (const dictionary of dictionaries) dictionary.push(spending);
    count += 1;
  }

  return {
    add(seq, spending) {
      while (firstSeq + count < seq) push(null);
      push(spending);
      const occurredAtMs = spending?.numbers.occurredAtMs ?? null;
      if (occurredAtMs === null) return;
      from = Math.min(from, occurredAtMs);
      to = Math.max(to, occurredAtMs);
    },
    isFull: () => count >= BLOCK_EVENTS || dictionaries.reduce((sum, { bytes }) => sum + bytes(), 0) >= WORDS_MAX_BYTES,
    end: (createdToMs) => ({
      firstSeq,
      lastSeq: firstSeq + count - 1,
      occurredFromMs: from,
      occurredToMs: to,
      createdToMs,
      parts: [
        { part: NUMBERS_PART, content: packNumbers(columns) },
        ...dictionaries.map(({ part, pack }) => ({ part, content: pack() })),
      ],
    }),
  };
}

function createDictionary(dimension: SpendDimension) {
  const words = createNumbering();
  const lists: (readonly number[])[] = [];
  const knownLists = createNumbering();
  const places = new Uint16Array(BLOCK_EVENTS);
  let count = 0;
  let bytes = 0;

  function numberOf(value: string): number {
    const before = words.all.length;
    const number = words.numberOf(value);
    if (words.all.length > before) bytes += Buffer.byteLength(value);
    return number;
  }

  return {
    part: DIMENSION_PARTS[dimension],
    bytes: () => bytes,
    push(spending: Spending | null): void {
      const list = [...new Set(spending?.values[dimension])].map(numberOf);
      const place = knownLists.numberOf(list.join());
      lists[place] ??= list;
      places[count] = place;
      count += 1;
    },
    pack: () => packValues({ words: words.all, lists, places: places.slice(0, count) }),
  };
}

/** Numbers texts in the order in which they come, each once. */
function createNumbering() {
  const all: string[] = [];
  const known = new Map<string, number>();
  return {
    all,
    numberOf(text: string): number {
      const number = known.get(text) ?? all.length;
      if (number === all.length) {
        known.set(text, number);
        all.push(text);
      }
      return number;
    },
  };
}
