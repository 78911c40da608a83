/** What a search answers of what it found. */

import { type SearchPlace, type SearchTotal, TOTAL_MAX } from '../../domain/trace-search-store.ts';

export function totalOf(count: number, isExact: boolean): SearchTotal {
  return { count: Math.min(count, TOTAL_MAX), isExact: isExact && count <= TOTAL_MAX };
}

export function placeOf({ key, traceId }: SearchPlace): SearchPlace {
  return { key, traceId };
}
