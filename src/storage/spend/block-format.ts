/** The stored format of a spend block: columns of numbers, and dictionaries of dimension values. */

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SpendDimension } from '../../domain/spend/spend-store.ts';
import { packColumn, unpackColumn } from '../search/block-format.ts';

/** Events per block. */
export const BLOCK_EVENTS = 4096;

/** Numbers that are 0 where a request does not say. */
export const ADDED = [
  'inputTokens',
  'outputTokens',
  'cacheReadInputTokens',
  'cacheCreationInputTokens',
  'reasoningTokens',
] as const;

/** The numbers of an event; all are null for an event that is not summed. */
export const NUMBERS = ['createdAtMs', 'occurredAtMs', 'error', 'costNanoUsd', ...ADDED] as const;
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

/** The fastest compression, which is enough for repetitive columns. */
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

/** The values of one dimension. */
export type Values = {
  readonly distinct: readonly string[];
  /** Distinct lists of values, as indexes of `distinct`; an empty list: no value. */
  readonly lists: readonly (readonly number[])[];
  /** For each event, the index of its list. */
  readonly listIndexes: Uint16Array;
};

export function packValues({ distinct, lists, listIndexes }: Values): Buffer {
  const named = Buffer.from(JSON.stringify([distinct, lists]));
  return deflateRawSync(Buffer.concat([lengthOf(named), named, Buffer.from(listIndexes.buffer)]), LEVEL);
}

export function unpackValues(content: Uint8Array): Values {
  const bytes = inflateRawSync(content);
  const end = LENGTH_BYTES + bytes.readUInt32LE();
  const [distinct, lists]: [Values['distinct'], Values['lists']] = JSON.parse(
    bytes.toString('utf8', LENGTH_BYTES, end),
  );
  return {
    distinct,
    lists,
    // Copied, because typed arrays need aligned bytes.
    listIndexes: new Uint16Array(Uint8Array.from(bytes.subarray(end)).buffer),
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
