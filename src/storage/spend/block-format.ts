/**
 * A spend block: consecutive events of the log, stored as columns of numbers and dictionaries of dimension values. The
 * builder takes the events one by one.
 */

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { NUMBERS, type NumberName, type Spending, type SpendValues } from '../../domain/spend/event-spending.ts';
import { packColumn, unpackColumn } from './block-columns.ts';

/** Events per block. */
export const BLOCK_EVENTS = 4096;

export const NUMBERS_PART = 0;
export const VALUE_PARTS: Readonly<Record<SpendValues, number>> = {
  project: 1,
  model: 2,
  virtual_key: 3,
  principal: 4,
  end_user: 5,
  label: 6,
  prompt_id: 7,
  prompt_version: 8,
  prompt_name: 9,
};
const VALUES = Object.keys(VALUE_PARTS) as readonly SpendValues[];

/** Parts that a block has only where it has such values; blocks were built before there were any. */
const OPTIONAL_PARTS: ReadonlySet<number> = new Set([
  ...[VALUE_PARTS.prompt_id, VALUE_PARTS.prompt_version, VALUE_PARTS.prompt_name],
]);

export function isOptional(part: number): boolean {
  return OPTIONAL_PARTS.has(part);
}

/** The fastest compression, which is enough for repetitive columns. */
const LEVEL = { level: 1 };
const LENGTH_BYTES = 4;

/** NaN stands for null. */
export type Numbers = Readonly<Record<NumberName, Float64Array>>;

function packNumbers(columns: Readonly<Record<NumberName, readonly (number | null)[]>>): Buffer {
  const parts = NUMBERS.flatMap((name) => {
    const column = packColumn(columns[name]);
    return [lengthOf(column), column];
  });
  return deflateRawSync(Buffer.concat(parts), LEVEL);
}

/** Its arrays are used again: they hold the numbers of one block until those of the next are read. */
export function createNumbersReader(): (content: Uint8Array) => Numbers {
  const room = NUMBERS.map(() => new Float64Array(BLOCK_EVENTS));
  const aligned = new Uint8Array((BLOCK_EVENTS + 1) * Float64Array.BYTES_PER_ELEMENT);
  return (content) => {
    const bytes = inflateRawSync(content);
    let at = 0;
    const columns = NUMBERS.map((name, index) => {
      const start = at + LENGTH_BYTES;
      at = start + bytes.readUInt32LE(at);
      return [name, unpackColumn(bytes.subarray(start, at), room[index] ?? new Float64Array(0), aligned)] as const;
    });
    return Object.fromEntries(columns) as Record<NumberName, Float64Array>;
  };
}

/** The values of one dimension. */
export type Values = {
  readonly distinct: readonly string[];
  /** Distinct lists of values, as indexes of `distinct`; an empty list: no value. */
  readonly lists: readonly (readonly number[])[];
  /** For each event, the index of its list; 0 where it is left out. */
  readonly listIndexes: Uint16Array;
};

function packValues({ distinct, lists, listIndexes }: Values): Buffer {
  const named = Buffer.from(JSON.stringify([distinct, lists]));
  return deflateRawSync(Buffer.concat([lengthOf(named), named, Buffer.from(listIndexes.buffer)]), LEVEL);
}

const NO_VALUES: Values = { distinct: [], lists: [[]], listIndexes: new Uint16Array(0) };

/** Of an optional part that the block does not have, the content is empty. */
export function unpackValues(content: Uint8Array): Values {
  if (content.length === 0) return NO_VALUES;
  const bytes = inflateRawSync(content);
  const end = LENGTH_BYTES + bytes.readUInt32LE();
  const [distinct, lists]: [Values['distinct'], Values['lists']] = JSON.parse(
    bytes.toString('utf8', LENGTH_BYTES, end),
  );
  return {
    distinct,
    lists,
    // Copied, because typed arrays need aligned bytes.
    listIndexes: new Uint16Array(new Uint8Array(bytes.subarray(end)).buffer),
  };
}

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(bytes.length);
  return length;
}

/** One bit per event that a later event corrects; empty while no bit is set. */
export type EventBits = Uint8Array;

export const NO_BITS: EventBits = new Uint8Array(0);

export function isSuperseded(bits: EventBits, index: number): boolean {
  return (((bits[index >>> 3] ?? 0) >>> (index & 7)) & 1) === 1;
}

export function withBits(bits: EventBits, indexes: Iterable<number>): EventBits {
  let changed: EventBits | null = null;
  for (const index of indexes) {
    if (changed === null) {
      changed = new Uint8Array(BLOCK_EVENTS / 8);
      changed.set(bits);
    }
    changed[index >>> 3] = (changed[index >>> 3] ?? 0) | (1 << (index & 7));
  }
  return changed ?? bits;
}

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

/** Bytes of dimension values per block, which is read as a whole. The last event may exceed the limit. */
const VALUES_MAX_BYTES = 4 * 1024 * 1024;

/** `firstSeq` is the position of the first event. Positions that are missing in the log stay empty. */
export function createBlockBuilder(firstSeq: number) {
  const columns = Object.fromEntries(NUMBERS.map((name) => [name, [] as (number | null)[]])) as Record<
    NumberName,
    (number | null)[]
  >;
  const dictionaries = VALUES.map((name) => createDictionary(name));
  let [from, to, createdTo, count] = [Number.MAX_SAFE_INTEGER, 0, 0, 0];

  function push(spending: Spending | null): void {
    for (const name of NUMBERS) columns[name].push(spending?.numbers[name] ?? null);
    for (const dictionary of dictionaries) dictionary.push(spending);
    count += 1;
  }

  return {
    /** Adds an event by ascending position; null: the event is not an outcome of a request. */
    add(seq: number, spending: Spending | null): void {
      while (firstSeq + count < seq) push(null);
      push(spending);
      createdTo = Math.max(createdTo, spending?.numbers.createdAtMs ?? 0);
      const occurredAtMs = spending?.numbers.occurredAtMs ?? null;
      if (occurredAtMs === null) return;
      from = Math.min(from, occurredAtMs);
      to = Math.max(to, occurredAtMs);
    },
    /** Whether the block has reached its number of events, or its bytes of dimension values. */
    isFull: (): boolean =>
      count >= BLOCK_EVENTS || dictionaries.reduce((sum, { bytes }) => sum + bytes(), 0) >= VALUES_MAX_BYTES,
    /** `lastCreatedAtMs` is the creation of the last event. An earlier one is newer where the clock was set back. */
    end: (lastCreatedAtMs: number): BuiltBlock => ({
      firstSeq,
      lastSeq: firstSeq + count - 1,
      occurredFromMs: from,
      occurredToMs: to,
      createdToMs: Math.max(createdTo, lastCreatedAtMs),
      parts: [
        { part: NUMBERS_PART, content: packNumbers(columns) },
        ...dictionaries
          .filter(({ part, isEmpty }) => !isOptional(part) || !isEmpty())
          .map(({ part, pack }) => ({ part, content: pack() })),
      ],
    }),
  };
}

function createDictionary(name: SpendValues) {
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
    part: VALUE_PARTS[name],
    bytes: () => bytes,
    isEmpty: () => values.all.length === 0,
    push(spending: Spending | null): void {
      const list = [...new Set(spending?.values[name])].map(numberOf);
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
