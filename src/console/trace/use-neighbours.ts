/** The place of a trace in the search that one came from, and the traces before and after it. */

import { useEffect } from 'react';
import { useTraces } from '../traces/use-traces.ts';
import type { TraceSearch } from './search.ts';

export type Neighbours = {
  /** From 1 on. */
  readonly place: number;
  /** The number of traces that the search finds, such as "4,445" or "10,000 or more" has. */
  readonly total: number;
  readonly isLowerBound: boolean;
  /** Ids; null at the ends. */
  readonly previous: string | null;
  readonly next: string | null;
};

/** Pages before the end of those that were read are read in advance, so that keys need not wait. */
const AHEAD = 5;
/** A trace that is not among these is no longer where it was. */
const PAGES_MAX = 20;

/** Null if one came from no search, or the search finds the trace no longer. */
export function useNeighbours(traceId: string, search: TraceSearch): Neighbours | null {
  const isFrom = search.at !== undefined;
  const { found, traces } = useTraces(search, { enabled: isFrom, isFrozen: true });
  const index = isFrom ? traces.findIndex((trace) => trace.traceId === traceId) : -1;
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = found;
  const pages = data?.pages.length ?? 0;
  const isNeeded = index < 0 ? pages < PAGES_MAX : index >= traces.length - AHEAD;
  useEffect(() => {
    if (isFrom && pages > 0 && isNeeded && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isFrom, pages, isNeeded, hasNextPage, isFetching, isError, fetchNextPage]);
  if (index < 0) return null;
  const pagination = data?.pages[0]?.answer.pagination;
  return {
    place: index + 1,
    total: Math.max(Number(pagination?.totalHits ?? 0n), traces.length),
    isLowerBound: pagination?.totalHitsRelation === 'gte',
    previous: traces[index - 1]?.traceId ?? null,
    next: traces[index + 1]?.traceId ?? null,
  };
}
