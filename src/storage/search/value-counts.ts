/** The values of filters in some traces, and how many of these traces have each. */

import { hasMoreCharactersThan } from '../../domain/text-limits.ts';
import { foldText } from '../../domain/traces/search/fold-text.ts';
import { listedOf, type SearchDocument, valuesOf } from '../../domain/traces/search/trace-filter.ts';
import { VALUE_CHARACTERS_MAX } from '../../domain/traces/search/trace-search-query.ts';
import type { ValuesQuery } from '../../domain/traces/search/trace-search-store.ts';
import type { LosslessObject } from '../../json/lossless-json.ts';

/** How many traces have a value. */
type Counted = {
  count: number;
  /** How many of them are pending. */
  pending: number;
  isListed: boolean;
};

export type FrequentValue = Readonly<Omit<Counted, 'isListed'>> & { readonly value: string };

type ReadTrace = {
  readonly document: SearchDocument;
  readonly metadata: LosslessObject;
  readonly isPending: boolean;
};

export type ValueCounts = ReturnType<typeof createValueCounts>;

/** Of all values together. Beyond it no other values are collected. */
const CHARACTERS_MAX = 4_000_000;
/** What each value takes beside its characters. */
const OVERHEAD_CHARACTERS = 64;

export function createValueCounts({ facets, prefix, limit }: ValuesQuery) {
  const counts = facets.map((facet) => ({ facet, values: new Map<string, Counted>() }));
  let heldCharacters = 0;
  let isFull = false;

  function add(values: Map<string, Counted>, value: string): Counted | null {
    if (hasMoreCharactersThan(value, VALUE_CHARACTERS_MAX) || !foldText(value).startsWith(prefix)) return null;
    heldCharacters += value.length + OVERHEAD_CHARACTERS;
    isFull ||= heldCharacters > CHARACTERS_MAX;
    if (isFull) return null;
    const counted = { count: 0, pending: 0, isListed: false };
    values.set(value, counted);
    return counted;
  }

  return {
    /** Whether there was no room for all values. */
    isFull: () => isFull,

    addTrace({ document, metadata, isPending }: ReadTrace): void {
      for (const { facet, values } of counts) {
        const listed = listedOf(facet, metadata);
        for (const value of valuesOf(facet, document, metadata)) {
          const counted = values.get(value) ?? add(values, value);
          if (counted === null) continue;
          counted.count += 1;
          counted.isListed ||= listed === null || listed.includes(value);
          if (isPending) counted.pending += 1;
        }
      }
    },

    /** The most frequent values of each facet. */
    mostFrequent: (): readonly (readonly FrequentValue[])[] =>
      counts.map(({ values }) =>
        [...values]
          .filter(([, { isListed }]) => isListed)
          .map(([value, { count, pending }]) => ({ value, count, pending }))
          .sort(compareCounts)
          .slice(0, limit),
      ),
  };
}

/** The highest count first, then by code units. */
function compareCounts(one: FrequentValue, other: FrequentValue): number {
  return other.count - one.count || (one.value < other.value ? -1 : 1);
}
