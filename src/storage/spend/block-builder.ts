/** Builds a block of consecutive events of the log. */

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
import type { Spending } from './event-spending.ts';

export type BuiltBlock = {
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** In a block without requests `occurredFromMs` is greater than `occurredToMs`. */
  readonly occurredFromMs: number;
  readonly occurredToMs: number;
  readonly createdToMs: number;
  readonly parts: readonly BlockPart[];
};

type BlockPart = { readonly part: number; readonly content: Uint8Array };

type BlockBuilder = {
  /** Adds an event by ascending position; null: the event is no outcome of a request. */
  add(seq: number, spending: Spending | null): void;
  /** Whether the block has reached its number of events, or its bytes of dimension values. */
  isFull(): boolean;
  /** `createdToMs` is the creation of the last event. */
  end(createdToMs: number): BuiltBlock;
};

/** Bytes of dimension values per block, which is read as a whole. The last event may exceed the limit. */
const VALUES_MAX_BYTES = 4 * 1024 * 1024;

/** `firstSeq` is the position of the first event. Positions that are missing in the log stay empty. */
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
    isFull: () =>
      count >= BLOCK_EVENTS || dictionaries.reduce((sum, { bytes }) => sum + bytes(), 0) >= VALUES_MAX_BYTES,
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
  const values = createNumbering();
  const lists: (readonly number[])[] = [];
  const knownLists = createNumbering();
  const listIndexes = new Uint16Array(BLOCK_EVENTS);
  let count = 0;
  let bytes = 0;

  function numberOf(value: string): number {
    const before = values.all.length;
    const number = values.numberOf(value);
    if (values.all.length > before) bytes += Buffer.byteLength(value);
    return number;
  }

  return {
    part: DIMENSION_PARTS[dimension],
    bytes: () => bytes,
    push(spending: Spending | null): void {
      const list = [...new Set(spending?.values[dimension])].map(numberOf);
      const listIndex = knownLists.numberOf(list.join());
      lists[listIndex] ??= list;
      listIndexes[count] = listIndex;
      count += 1;
    },
    pack: () => packValues({ distinct: values.all, lists, listIndexes: listIndexes.slice(0, count) }),
  };
}

/** Numbers distinct texts in the order of their first occurrence. */
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
