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
  /** `createdToMs` is when the last event was created. */
  end(createdToMs: number): BuiltBlock;
};

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
  const dictionary: (readonly string[])[] = [];
  const known = new Map<string, number>();
  const places = new Uint16Array(BLOCK_EVENTS);
  let count = 0;

  return {
    part: DIMENSION_PARTS[dimension],
    push(spending: Spending | null): void {
      const values = spending?.values[dimension] ?? [];
      const [only = ''] = values;
      const name = values.length === 1 ? `=${only}` : JSON.stringify(values);
      let place = known.get(name);
      if (place === undefined) {
        place = dictionary.length;
        known.set(name, place);
        dictionary.push(values);
      }
      places[count] = place;
      count += 1;
    },
    pack: () => packValues({ dictionary, places: places.slice(0, count) }),
  };
}
