/** Sums up the requests of one block. */

import { SPEND_DIMENSIONS, type SpendDimension, type SpendQuery } from '../../domain/spend/spend-store.ts';
import { AT, addValue, type Sums } from '../../domain/spend/sums.ts';
import type { SpendTally } from '../../domain/spend/tally.ts';
import {
  DIMENSION_PARTS,
  type Gone,
  isGone,
  NUMBERS_PART,
  type Numbers,
  unpackNumbers,
  unpackValues,
  type Values,
} from './block-format.ts';

export type ReadBlock = { readonly gone: Gone; readonly partOf: (part: number) => Uint8Array };

/** For each event, by its index in the block: an entry of `each`. */
type ByPlace<T> = { readonly places: Uint16Array; readonly each: readonly T[] };

export function sumBlock({ gone, partOf }: ReadBlock, query: SpendQuery, tally: SpendTally): void {
  const { fromMs, toMs, goneBeforeMs, groupBy, filters } = query;
  const numbers = unpackNumbers(partOf(NUMBERS_PART));
  const read = (dimension: SpendDimension) => unpackValues(partOf(DIMENSION_PARTS[dimension]));
  const wanted = filtersOf(filters).map(([dimension, value]) => matchValue(read(dimension), value));
  const groups = groupBy === null ? null : groupsOf(read(groupBy), tally);
  const all = groupBy === null ? sumsOfUnnamed(tally) : NO_SUMS;
  const total = tally.total();
  const { occurredAtMs, createdAtMs } = numbers;
  for (let place = 0; place < occurredAtMs.length; place += 1) {
    const atMs = occurredAtMs[place] ?? Number.NaN;
    // Both comparisons fail for events without a request, whose numbers are NaN.
    if (!(atMs >= fromMs && atMs <= toMs) || (createdAtMs[place] ?? 0) < goneBeforeMs || isGone(gone, place)) continue;
    if (!wanted.every(({ places, each }) => each[places[place] ?? 0])) continue;
    if (total !== null) addEvent(total, numbers, place);
    const into = groups === null ? all : (groups.each[groups.places[place] ?? 0] ?? NO_SUMS);
    for (const sums of into) addEvent(sums, numbers, place);
  }
}

const NO_SUMS: readonly Sums[] = [];

export function filtersOf(filters: SpendQuery['filters']): readonly (readonly [SpendDimension, string])[] {
  return SPEND_DIMENSIONS.flatMap((dimension) => {
    const value = filters[dimension];
    return value === undefined ? [] : [[dimension, value] as const];
  });
}

/** An empty value selects events without one. */
function matchValue({ words, lists, places }: Values, value: string): ByPlace<boolean> {
  if (value === '') return { places, each: lists.map((list) => list.length === 0) };
  const wanted = words.indexOf(value);
  return { places, each: lists.map((list) => list.includes(wanted)) };
}

/** A request with several values counts in each group. */
function groupsOf({ words, lists, places }: Values, tally: SpendTally): ByPlace<readonly Sums[]> {
  const sums = words.map((word) => tally.sumsOf(word));
  const none = lists.some((list) => list.length === 0) ? sumsOfUnnamed(tally) : NO_SUMS;
  const each = lists.map((list) =>
    list.length === 0 ? none : list.map((at) => sums[at] ?? null).filter((some) => some !== null),
  );
  return { places, each };
}

function sumsOfUnnamed(tally: SpendTally): readonly Sums[] {
  const sums = tally.sumsOf(null);
  return sums === null ? NO_SUMS : [sums];
}

const ADDED = [
  'inputTokens',
  'outputTokens',
  'cacheReadInputTokens',
  'cacheCreationInputTokens',
  'reasoningTokens',
] as const;

function addEvent(sums: Sums, numbers: Numbers, place: number): void {
  addValue(sums, AT.requests, 1);
  addValue(sums, AT.errors, numbers.error[place] ?? 0);
  const cost = numbers.costNanoUsd[place] ?? Number.NaN;
  if (Number.isNaN(cost)) addValue(sums, AT.unpriced, 1);
  else addValue(sums, AT.costNanoUsd, cost);
  for (const name of ADDED) addValue(sums, AT[name], numbers[name][place] ?? 0);
}
