/** The traces of a search, page by page. */

import { useMemo } from 'react';
import { SortDirection, type Trace, TraceService, TraceSort } from '../../../gen/spandrel/v1/traces_pb.js';
import { useRangePages } from './range-query.ts';
import type { TraceListSearch } from './search.ts';
import { toFilterInput, toRangeInput } from './search-input.ts';

const PAGE_SIZE = 100;

const SORTS = {
  started: TraceSort.STARTED_AT,
  cost: TraceSort.TOTAL_COST,
  duration: TraceSort.TOTAL_TIME_MS,
  'first-token': TraceSort.FIRST_TOKEN_MS,
};

type Reading = {
  readonly enabled?: boolean;
  /** Whether what was read before stays as it is, so that places in it do not move. */
  readonly isFrozen?: boolean;
};

const NO_TRACES: readonly Trace[] = [];

export function useTraces({ q, range, from, to, sort, dir, not }: TraceListSearch, reading: Reading = {}) {
  const filterInput = useMemo(() => toFilterInput({ q, not }), [q, not]);
  const found = useRangePages({
    method: TraceService.method.searchTraces,
    range: { range, from, to },
    input: {
      ...filterInput,
      sortBy: SORTS[sort ?? 'started'],
      sortDirection: dir === 'asc' ? SortDirection.ASC : SortDirection.DESC,
      pageSize: PAGE_SIZE,
    },
    toRangeInput,
    nextPageToken: ({ pagination }) => pagination?.nextPageToken,
    ...reading,
  });
  const { data } = found;
  const traces = useMemo(
    () =>
      data?.pages.flatMap(({ answer }) =>
        answer.traces.flatMap(({ view }) => (view.case === 'trace' ? [view.value] : [])),
      ) ?? NO_TRACES,
    [data],
  );
  return { found, traces, filterInput };
}
