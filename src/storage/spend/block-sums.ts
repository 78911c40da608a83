/** Sums up the requests of one block. */

import { SPEND_DIMENSIONS, type SpendDimension, type SpendQuestion } from '../../domain/spend/spend-store.ts';
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
} from './block-format.ts';

export type ReadBlock = { readonly gone: Gone; readonly partOf: (part: number) => Uint8Array };

/** For each event of a block, by its place: something that follows from its values. */
type ByPlace<T> = { readonly places: Uint16Array; readonly each: readonly T[] };

export function sumBlock({ gone, partOf }: ReadBlock, question: SpendQuestion, tally: SpendTally): void {
  const { fromMs, toMs, goneBeforeMs, groupBy, filters } = question;
  const numbers = unpackNumbers(partOf(NUMBERS_PART));
  const read = <T>(dimension: SpendDimension, of: (values: readonly string[]) => T): ByPlace<T> => {
    const { dictionary, places } = unpackValues(partOf(DIMENSION_PARTS[dimension]));
    return { places, each: dictionary.map(of) };
  };
  const wanted = filtersOf(filters).map(([dimension, value]) => read(dimension, (values) => isWanted(values, value)));
  const groups = groupBy === null ? null : read(groupBy, (values) => groupsOf(values, tally));
  const all = groupBy === null ? groupsOf([], tally) : NO_SUMS;
  const total = tally.total();
  const { occurredAtMs, createdAtMs } = numbers;
  for (let place = 0; place < occurredAtMs.length; place += 1) {
    const atMs = occurredAtMs[place] ?? Number.NaN;
    // Neither holds for what tells of no request.
    if (!(atMs >= fromMs && atMs <= toMs) || (createdAtMs[place] ?? 0) < goneBeforeMs || isGone(gone, place)) continue;
    if (!wanted.every(({ places, each }) => each[places[place] ?? 0])) continue;
    if (total !== null) addEvent(total, numbers, place);
    const into = groups === null ? all : (groups.each[groups.places[place] ?? 0] ?? NO_SUMS);
    for (const sums of into) addEvent(sums, numbers, place);
  }
}

const NO_SUMS: readonly Sums[] = [];

export function filtersOf(filters: SpendQuestion['filters']): readonly (readonly [SpendDimension, string])[] {
  return SPEND_DIMENSIONS.flatMap((dimension) => {
    const value = filters[dimension];
    return value === undefined ? [] : [[dimension, value] as const];
  });
}

function isWanted(values: readonly string[], value: string): boolean {
  return values.includes(value) || (value === '' && values.length === 0);
}

/** A request with several values counts once for each. */
function groupsOf(values: readonly string[], tally: SpendTally): readonly Sums[] {
  const names = values.length === 0 ? [null] : new Set(values);
  return [...names].map((name) => tally.sumsOf(name)).filter((sums) => sums !== null);
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
