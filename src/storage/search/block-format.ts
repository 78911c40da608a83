/** The stored format of an index block: sets of its traces, columns of numbers, and slices of text triples. */

import { hash } from 'node:crypto';
import { TRIPLE_NUMBERS } from '../../domain/traces/search/text-signature.ts';

/** Traces of a block at most; a multiple of 32. */
export const BLOCK_TRACES_MAX = 1024;

/** One bit per trace of a block. */
export type Bits = Uint32Array;

export const newBits = (): Bits => new Uint32Array(BLOCK_TRACES_MAX / 32);

export function hasBit(bits: Bits, index: number): boolean {
  return (((bits[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1;
}

export function setBit(bits: Bits, index: number): void {
  bits[index >>> 5] = (bits[index >>> 5] ?? 0) | (1 << (index & 31));
}

export function countBits(bits: Bits): number {
  let count = 0;
  for (let word of bits) {
    word -= (word >>> 1) & 0x5555_5555;
    word = (word & 0x3333_3333) + ((word >>> 2) & 0x3333_3333);
    count += Math.imul((word + (word >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
  }
  return count;
}

/** The number of the lowest bit that is set in a word; the word is not 0. */
export const lowestBit = (word: number): number => 31 - Math.clz32(word & -word);

/** The bytes of one bit per trace. */
export const bitBytes = (traces: number): number => Math.ceil(traces / 8);

/** Packs a set of traces as a list of indexes or as bits, whichever is shorter. */
export function packSet(indexes: readonly number[], traces: number): Buffer {
  if (indexes.length * 2 < bitBytes(traces)) return Buffer.from(Uint16Array.from(indexes).buffer);
  const bits = newBits();
  for (const index of indexes) setBit(bits, index);
  return packBits(bits, traces);
}

export function addSet(into: Bits, packed: Uint8Array, traces: number): void {
  if (packed.length === bitBytes(traces)) {
    const bits = unpackBits(packed);
    for (const [index, word] of bits.entries()) into[index] = (into[index] ?? 0) | word;
    return;
  }
  for (let at = 0; at < packed.length; at += 2) setBit(into, (packed[at] ?? 0) | ((packed[at + 1] ?? 0) << 8));
}

export function packBits(bits: Bits, traces: number): Buffer {
  return Buffer.from(bits.buffer, bits.byteOffset, bitBytes(traces));
}

export function unpackBits(packed: Uint8Array): Bits {
  const bits = newBits();
  new Uint8Array(bits.buffer).set(packed);
  return bits;
}

// Smaller numbers are reserved for the index itself.
const FACET_MIN = 1024;
const FACET_BYTES = 6;

/** The number of a facet: a hash, so long that a collision within a project is less likely than a disk error. */
export function facetNumber(name: string): number {
  return FACET_MIN + hash('sha1', name, 'buffer').readUIntBE(0, FACET_BYTES);
}

/** The columns of a block, with the part that stores each. */
export const COLUMNS = {
  sequence: 0,
  startedAtMs: 1,
  updatedAtMs: 2,
  insertedAtMs: 3,
  totalCostNanoUsd: 4,
  totalTimeMs: 5,
  firstTokenMs: 6,
  idOrder: 7,
} as const;
export type Column = keyof typeof COLUMNS;

/** The set of crowded traces: those with too many facets. */
export const CROWDED_PART = 8;
const FIRST_SLICES_PART = 16;
export const SLICES_PER_PART = 8;

export const slicesPart = (slice: number): number => FIRST_SLICES_PART + Math.floor(slice / SLICES_PER_PART);

/** The slice of a triple of text, among `slices`. */
export const sliceOf = (triple: number, slices: number): number => triple & (slices - 1);

const SLICES_MIN = 256;
// On average a trace sets at most one slice in five, so that several triples rarely match by chance.
const SLICES_PER_TRIPLE = 5;

/** The number of slices for texts with this many triples each; a power of two. */
export function chooseSlices(triplesPerTrace: number): number {
  let slices = SLICES_MIN;
  while (slices < TRIPLE_NUMBERS && slices < triplesPerTrace * SLICES_PER_TRIPLE) slices *= 2;
  return slices;
}

const HEAD_BYTES = 8;
const NARROW_NULL = 0xffff_ffff;

/**
 * Packs a whole number or null per trace. Numbers within a range of 32 bits take four bytes each, after the least one;
 * others take eight bytes each, after a NaN.
 */
export function packColumn(values: readonly (number | null)[]): Buffer {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value === null) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (most - least >= NARROW_NULL) {
    return Buffer.from(Float64Array.from([Number.NaN, ...values.map((value) => value ?? Number.NaN)]).buffer);
  }
  const base = Number.isFinite(least) ? least : 0;
  const packed = Buffer.alloc(HEAD_BYTES + 4 * values.length);
  packed.writeDoubleLE(base);
  for (const [index, value] of values.entries()) {
    packed.writeUInt32LE(value === null ? NARROW_NULL : value - base, HEAD_BYTES + 4 * index);
  }
  return packed;
}

/** NaN stands for null. */
export function unpackColumn(packed: Uint8Array): Float64Array {
  // Copied, because typed arrays need aligned bytes.
  const bytes = Uint8Array.from(packed).buffer;
  const [base = 0] = new Float64Array(bytes, 0, 1);
  if (Number.isNaN(base)) return new Float64Array(bytes, HEAD_BYTES);
  const narrow = new Uint32Array(bytes, HEAD_BYTES);
  const values = new Float64Array(narrow.length);
  // Runs once per trace of a project: an iterator would take several times as long.
  for (let index = 0; index < narrow.length; index += 1) {
    const value = narrow[index] ?? NARROW_NULL;
    values[index] = value === NARROW_NULL ? Number.NaN : base + value;
  }
  return values;
}

const ORDER_BYTES = 6;

/** The first bytes of an id as a number, which sorts like the ids. */
export function idOrderOf(traceId: string): number {
  const bytes = Buffer.alloc(ORDER_BYTES);
  bytes.write(traceId.slice(0, ORDER_BYTES));
  return bytes.readUIntBE(0, ORDER_BYTES);
}
