/** The range of a list, as the address holds it and as instants. */

import { boundsOf, readTraceListSearch, type TraceListSearch } from './search.ts';

export type RangeSearch = Pick<TraceListSearch, 'range' | 'from' | 'to'>;

export type Range = { readonly [K in keyof RangeSearch]?: RangeSearch[K] | undefined };

/** Milliseconds since the epoch. An open range ends when it is read. */
export type Bounds = { readonly fromMs: number; readonly toMs: number; readonly isOpen: boolean };

export function readRange(raw: Record<string, unknown>): RangeSearch {
  return writeRange(readTraceListSearch(raw));
}

/** Leaves out undefined members. */
export function writeRange({ range, from, to }: Range): RangeSearch {
  return { ...(range && { range }), ...(from && { from }), ...(to && { to }) };
}

export function readBounds(range: Range): Bounds {
  const nowMs = Date.now();
  const { fromMs, toMs } = boundsOf(writeRange(range), nowMs);
  return { fromMs, toMs: Math.max(fromMs, toMs ?? nowMs), isOpen: toMs === null };
}
