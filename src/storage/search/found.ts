/** What a search answers of what it found. */

import type { SearchPlace, SearchTotal } from '../../domain/trace-search-store.ts';

/** Null where nothing is counted. */
export function totalOf(count: number, isExact: boolean, countMax: number | null): SearchTotal | null {
  if (countMax === null) return null;
  return { count: Math.min(count, countMax), isExact: isExact && count <= countMax };
}

export function placeOf({ key, traceId }: SearchPlace): SearchPlace {
  return { key, traceId };
}
