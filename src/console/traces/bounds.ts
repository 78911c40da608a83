/** The instants that a range means at the moment it is asked about. */

import { boundsOf, type TraceListSearch } from './search.ts';

export type Range = { readonly [K in 'range' | 'from' | 'to']?: TraceListSearch[K] | undefined };

/** Milliseconds since the epoch; the end is where the range ended as it was asked about. */
export type Bounds = { readonly fromMs: number; readonly toMs: number; readonly isOpen: boolean };

export function readBounds({ range, from, to }: Range): Bounds {
  const nowMs = Date.now();
  const { fromMs, toMs } = boundsOf({ ...(range && { range }), ...(from && { from }), ...(to && { to }) }, nowMs);
  return { fromMs, toMs: Math.max(fromMs, toMs ?? nowMs), isOpen: toMs === null };
}
