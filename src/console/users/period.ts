/** The range that the address of a page about users says. */

import { boundsOf, readTraceListSearch, type TraceListSearch } from '../traces/search.ts';

export type RangeSearch = Pick<TraceListSearch, 'range' | 'from' | 'to'>;

export function readRange(raw: Record<string, unknown>): RangeSearch {
  const { range, from, to } = readTraceListSearch(raw);
  return writeRange({ range, from, to });
}

/** Leaves out what is not set. */
export function writeRange({
  range,
  from,
  to,
}: { readonly [K in keyof RangeSearch]: RangeSearch[K] | undefined }): RangeSearch {
  return { ...(range && { range }), ...(from && { from }), ...(to && { to }) };
}

export type Period = { readonly fromMs: number; readonly toMs: number };

export function periodOf(search: RangeSearch, nowMs: number): Period {
  const { fromMs, toMs } = boundsOf(search, nowMs);
  return { fromMs, toMs: Math.max(fromMs, toMs ?? nowMs) };
}
