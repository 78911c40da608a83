/** How a block of the log keeps what it knows of its events: numbers of each, and the values that they are told apart by. */

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SpendDimension } from '../../domain/spend/spend-store.ts';
import { packColumn, unpackColumn } from '../search/block-format.ts';

/** Events of a block. */
export const BLOCK_EVENTS = 4096;

/** The numbers of an event. All of them are null where it is not summed up. */
export const NUMBERS = [
  'createdAtMs',
  'occurredAtMs',
  'error',
  'costNanoUsd',
  'inputTokens',
  'outputTokens',
  'cacheReadInputTokens',
  'cacheCreationInputTokens',
  'reasoningTokens',
] as const;
export type NumberName = (typeof NUMBERS)[number];

export const NUMBERS_PART = 0;
export const DIMENSION_PARTS: Readonly<Record<SpendDimension, number>> = {
  project: 1,
  model: 2,
  virtual_key: 3,
  principal: 4,
  end_user: 5,
  label: 6,
};

/** The fastest: what is left after it is a fraction, for most of it is the same again and again. */
const LEVEL = { level: 1 };
const LENGTH_BYTES = 4;

/** NaN stands for null. */
export type Numbers = Readonly<Record<NumberName, Float64Array>>;

export function packNumbers(columns: Readonly<Record<NumberName, readonly (number | null)[]>>): Buffer {
  const parts = NUMBERS.flatMap((name) => {
    const column = packColumn(columns[name]);
    return [lengthOf(column), column];
  });
  return deflateRawSync(Buffer.concat(parts), LEVEL);
}

export function unpackNumbers(content: Uint8Array): Numbers {
  const bytes = inflateRawSync(content);
  let at = 0;
  const columns = NUMBERS.map((name) => {
    const start = at + LENGTH_BYTES;
    at = start + bytes.readUInt32LE(at);
    return [name, unpackColumn(bytes.subarray(start, at))] as const;
  });
  return Object.fromEntries(columns) as Record<NumberName, Float64Array>;
}

/** What events are told apart by. */
export type Values = {
  /** Each once. */
  readonly words: readonly string[];
  /** The words of an event, by their places; empty where it has none. */
  readonly lists: readonly (readonly number[])[];
  /** For each event the place of its list. */
  readonly places: Uint16Array;
};

export function packValues({ words, lists, places }: Values): Buffer {
  const named = Buffer.from(JSON.stringify([words, lists]));
  return deflateRawSync(Buffer.concat([lengthOf(named), named, Buffer.from(places.buffer)]), LEVEL);
}

export function unpackValues(content: Uint8Array): Values {
  const bytes = inflateRawSync(content);
  const end = LENGTH_BYTES + bytes.readUInt32LE();
  const [words, lists]: [Values['words'], Values['lists']] = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, end));
  return {
    words,
    lists,
    // Copied, because numbers have to be aligned.
    places: new Uint16Array(Uint8Array.from(bytes.subarray(end)).buffer),
  };
}

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(bytes.length);
  return length;
}

/** A bit for each event of a block; nothing as long as none is set. */
export type Gone = Uint8Array;

export const NONE_GONE: Gone = new Uint8Array(0);

export function isGone(gone: Gone, place: number): boolean {
  return (((gone[place >>> 3] ?? 0) >>> (place & 7)) & 1) === 1;
}

export function withGone(gone: Gone, places: Iterable<number>): Gone {
  let changed: Gone | null = null;
  for (const place of places) {
    if (changed === null) {
      changed = new Uint8Array(BLOCK_EVENTS / 8);
      changed.set(gone);
    }
    changed[place >>> 3] = (changed[place >>> 3] ?? 0) | (1 << (place & 7));
  }
  return changed ?? gone;
}
