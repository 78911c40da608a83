/** The list of traces: what is looked for stands in the address. */

import { useInfiniteQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { SortDirection, type Trace, TraceService, TraceSort } from '../../../gen/spandrel/v1/traces_pb.js';
import { Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCount } from '../design/format.ts';
import { ColumnPicker } from './column-picker.tsx';
import { FilterBar } from './filter-bar.tsx';
import { findingOf } from './finding.ts';
import { RangePicker } from './range-picker.tsx';
import { RANGE_DEFAULT, type TraceListSearch } from './search.ts';
import styles from './trace-list-page.module.css';
import { TraceTable } from './trace-table.tsx';

const route = getRouteApi('/$slug/traces');
const FirstTrace = lazy(async () => ({ default: (await import('./first-trace.tsx')).FirstTrace }));

const PAGE_SIZE = 100;
const LIVE_MS = 2_000;
const LIVE_PAGES_MAX = 3;

const SORTS = {
  started: TraceSort.STARTED_AT,
  cost: TraceSort.TOTAL_COST,
  duration: TraceSort.TOTAL_TIME_MS,
  'first-token': TraceSort.FIRST_TOKEN_MS,
};

type Change = Partial<Record<keyof TraceListSearch, string | boolean | undefined>>;

export function TraceListPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: Change) =>
    void navigate({ search: (now: TraceListSearch) => ({ ...now, ...part }) as TraceListSearch, replace: true });
  const found = useTraces(search);
  const traces = useMemo(
    () =>
      found.data?.pages.flatMap((page) =>
        page.traces.flatMap(({ view }) => (view.case === 'trace' ? [view.value] : [])),
      ) ?? [],
    [found.data],
  );
  const isEverything = search.q === undefined && (search.range === undefined || search.range === RANGE_DEFAULT);
  if (found.isSuccess && !found.isPlaceholderData && traces.length === 0 && !found.hasNextPage && isEverything)
    return (
      <Suspense fallback={<Loading />}>
        <FirstTrace />
      </Suspense>
    );
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h1>Traces</h1>
        <div className={styles.tools}>
          <label className={styles.live}>
            <input
              type="checkbox"
              checked={search.live === true}
              onChange={(event) => change({ live: event.target.checked || undefined })}
            />
            Live
          </label>
          <RangePicker search={search} onChange={change} />
          <ColumnPicker value={search.columns} onChange={(columns) => change({ columns })} />
        </div>
      </div>
      <FilterBar search={search} onChange={change} />
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.isPending && <Loading />}
      {found.data && (
        <TraceTable
          traces={traces}
          search={search}
          onSort={(sort, dir) => change({ sort, dir })}
          more={found.hasNextPage && !found.isFetchingNextPage ? () => void found.fetchNextPage() : null}
        />
      )}
      <p className={styles.count} role="status">
        {found.data && <Count traces={traces} total={found.data.pages[0]?.pagination} />}
      </p>
    </div>
  );
}

type CountProps = {
  readonly traces: readonly Trace[];
  readonly total: { readonly totalHits: bigint; readonly totalHitsRelation: string } | undefined;
};

function Count({ traces, total }: CountProps) {
  const hits = `${formatCount(total?.totalHits)}${total?.totalHitsRelation === 'gte' ? ' or more' : ''}`;
  return <>{traces.length === 0 ? 'No trace fits.' : `${formatCount(traces.length)} of ${hits} shown`}</>;
}

function useTraces(search: TraceListSearch) {
  const { q = '', range, from, to, sort, dir, not, live } = search;
  const input = useMemo(() => {
    return {
      ...findingOf({ q, range, from, to, not }, Date.now()),
      sortBy: SORTS[sort ?? 'started'],
      sortDirection: dir === 'asc' ? SortDirection.ASC : SortDirection.DESC,
      pageSize: PAGE_SIZE,
      pageToken: '',
    };
  }, [q, range, from, to, sort, dir, not]);
  return useInfiniteQuery(TraceService.method.searchTraces, input, {
    pageParamKey: 'pageToken',
    getNextPageParam: (last) => last.pagination?.nextPageToken,
    placeholderData: keepPreviousData,
    // All pages that are shown are asked for again, so many would be asked for without end.
    refetchInterval: ({ state }) => (live && (state.data?.pages.length ?? 0) <= LIVE_PAGES_MAX ? LIVE_MS : false),
  });
}
